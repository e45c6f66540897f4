"""The page of a model: what it computes, where that is written, and its source, with the selected layer's lines."""

from __future__ import annotations

import html
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSize, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QTextDocument
from PySide6.QtWidgets import QFrame, QHBoxLayout, QStackedLayout, QTextBrowser, QToolButton, QVBoxLayout, QWidget

from explorer.declare.card import ModelInfo
from explorer.declare.states.model_name import named_as_shown, split_name
from explorer.state.catalogue import Catalogue
from widgets.base.frame_view import StateView
from widgets.base.look import theme
from widgets.base.text.excerpts import TRY, layer_as_html, source_as_html
from widgets.base.text.groups import written
from widgets.base.text.indices import with_indices
from widgets.base.text.words import WITHHELD
from widgets.base.view import ViewSpec
from widgets.views.choosing.cards import Loading

# fonts with mathematics that the common systems carry, the best first
MATH = ("STIX Two Math", "STIX Two Text", "Cambria Math", "Latin Modern Math", "DejaVu Math TeX Gyre", "DejaVu Serif")


class EquationView(StateView):
    """Title, summary, equations, reference, notes and source of the model (and of the one beside it)."""

    FOLLOWS = ("model", "compare")
    requested = Signal(str)  # "symmetric": versions of the guilty layer

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._names: tuple[str, str] = ("", "")  # the model, and the one it is compared with
        self._second = False  # whether the page of the other one is open
        self._revealed: int | None = None  # where the page was turned to
        self._revealing = ""  # the layer that the page is to be turned to
        self._shown: object = None
        self.page = QTextBrowser(self)
        self.page.setOpenLinks(False)
        self.page.setFrameShape(QFrame.Shape.NoFrame)
        self.page.anchorClicked.connect(self._follow)
        self.page.document().setDocumentMargin(12)
        self.page.setAccessibleName("The model's page")
        self.tabs = (QToolButton(self), QToolButton(self))
        bar = QWidget(self)
        row = QHBoxLayout(bar)
        row.setContentsMargins(8, 4, 8, 0)
        row.setSpacing(4)
        for k, tab in enumerate(self.tabs):
            tab.setCheckable(True)
            tab.setAutoExclusive(True)
            tab.clicked.connect(lambda _on=False, k=k: self._choose(bool(k)))
            row.addWidget(tab)
        row.addStretch(1)
        self._bar = bar
        bar.setProperty("chrome", True)
        self.loading = Loading("The equations come with the models.", self)
        pages = QWidget(self)
        self._pages = QStackedLayout(pages)
        self._pages.addWidget(self.loading)
        self._pages.addWidget(self.page)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(bar)
        column.addWidget(pages, 1)
        self.refresh()

    def _follow(self, url: QUrl) -> None:
        if url.toString() == TRY:
            self.requested.emit("symmetric")
        elif url.scheme() in ("http", "https"):
            QDesktopServices.openUrl(url)

    def show_catalogue(self, catalogue: Catalogue) -> None:
        super().show_catalogue(catalogue)
        self.refresh()

    def _choose(self, second: bool) -> None:
        self._second = second
        self.refresh()

    @property
    def _infos(self) -> dict[str, ModelInfo]:
        return {info.name: info for info in self.catalogue.models} if self.catalogue is not None else {}

    @property
    def name(self) -> str:
        return self._names[1] if self._second and self._names[1] else self._names[0]

    @property
    def info(self) -> ModelInfo | None:
        """The model whose page is open, when the catalogue knows it; other weights leave it what it is."""
        return self._infos.get(self.name) or self._infos.get(split_name(self.name)[0])

    def refresh(self) -> None:
        """Turn to the page of the state's model."""
        names = (self.state.model, next(iter(self.state.compared), "")) if self.known else ("", "")
        if names != self._names:
            self._names, self._second = names, False
        loaded = self.catalogue is not None
        for k, tab in enumerate(self.tabs):
            info = self._infos.get(self._names[k])
            tab.setText(self.fontMetrics().elidedText(
                info.title if info is not None else _of_own(self._names[k]), Qt.TextElideMode.ElideRight, 118
            ))  # fmt: skip
            tab.setToolTip(self._names[k])
            tab.setChecked(bool(k) == self._second)
        self._bar.setVisible(bool(self._names[1]))
        self._pages.setCurrentWidget(self.page if loaded else self.loading)
        shown = (self.name, self.info, theme.current().name, loaded, self._layer(), self._quiet())
        if shown == self._shown:
            return  # a frame changes nothing here: the place read to stays
        same = isinstance(self._shown, tuple) and self._shown[:1] == shown[:1]
        place = self.page.verticalScrollBar().value() if same else 0
        self._shown = shown
        if self._revealed is not None and (self._revealed != place or self.state.layer != self._revealing):
            self._revealing, self._revealed = "", None
        self.page.setHtml(self.html())
        self.page.verticalScrollBar().setValue(place)
        self._scroll()

    def _layer(self) -> str:
        """Return the selected layer's own lines of source, with its error."""
        square = next((s for s in self.squares if s.model == self.name), None)
        return "" if square is None else layer_as_html(square, self.font().pointSizeF())

    def _quiet(self) -> bool:
        """Say whether a lesson asks which layer of the model is to blame."""
        return any(s.model == self.name and s.verdict == WITHHELD for s in self.squares)

    def reveal(self, layer: str) -> None:
        """Turn to the lines of a layer, which may still be on their way."""
        self._revealing, self._revealed = layer, None
        self._scroll()

    def _scroll(self) -> None:
        """Keep to the revealed layer while its page fills, until somebody scrolls or another layer is selected."""
        if self._revealing and any(s.layer.name == self._revealing for s in self.squares):
            self.page.scrollToAnchor("layer")
            self._revealed = self.page.verticalScrollBar().value()

    def html(self) -> str:
        """Return the page."""
        t, info = theme.current(), self.info
        if self.catalogue is None:
            return ""
        if info is None:
            if not self.name:
                return f'<p style="color:{t.muted}">No model is chosen.</p>'
            return (
                f"<h3>{html.escape(self.name.replace(chr(92), '/').rpartition('/')[2])}</h3>{self._layer()}"
                f'<p style="color:{t.muted}">This model does not come with Equiscope: there is no card, and so no '
                "equation, for it.</p>"
            )
        size = self.font().pointSizeF()
        parts = [
            f'<h2 style="font-size:{1.35 * size:.1f}pt; margin-bottom:2px">{html.escape(info.title)}</h2>',
            f'<p style="color:{t.muted}; margin-top:0">{html.escape(_facts(info))}</p>',
        ]
        if info.summary:
            parts.append(f"<p>{_with_code(info.summary)}</p>")
        if lines := [line for line in info.equation.splitlines() if line.strip()]:
            families = ", ".join(f"'{family}'" for family in (*MATH, "serif"))
            # a line too long for the dock goes on under itself, to the right of where equations begin
            style = f"font-family:{families}; font-size:{1.2 * size:.1f}pt; margin:5px 0 5px 30px; text-indent:-18px"
            parts += [f'<p style="{style}">{with_indices(html.escape(line))}</p>' for line in lines]
        if info.reference:
            parts.append(f'<p style="color:{t.muted}">{_linked(info.reference, t.accent)}</p>')
        if quiet := self._quiet():
            parts.append(f'<p style="color:{t.muted}">Notes and source name the layer: they are behind Reveal.</p>')
        elif info.notes:
            if self.name not in self._infos:
                file = split_name(self.name)[1].replace(chr(92), "/").rpartition("/")[2]
                told = f"Shown with {file}; the notes are of the weights that come with it."
                parts.append(f'<p style="color:{t.muted}">{html.escape(told)}</p>')
            notes = "".join(f"<li>{_with_code(note)}</li>" for note in info.notes)
            parts.append(f'<ul style="margin-left:-18px">{notes}</ul>')
        parts.append(self._layer())
        if info.source.strip() and not quiet:
            parts.append(source_as_html(info.source.strip("\n"), size))
        return "".join(parts)

    # exports --------------------------------------------------------------------------------------------------
    def figure_size(self) -> QSize:
        """Return the size of the whole page, for exported figures."""
        document = QTextDocument()
        document.setDocumentMargin(self.page.document().documentMargin())
        document.setDefaultFont(self.page.font())
        document.setHtml(self.html())
        document.setTextWidth(max(self.width(), 640) - 4)
        wide = max(document.idealWidth(), max(self.width(), 640))
        return QSize(int(wide) + 4, int(document.size().height()) + 12)

    def numbers(self) -> dict[str, NDArray[Any]]:
        info = self.info
        if info is None:
            return {}
        texts = {"model": info.name, "reference": info.reference, "equation": info.equation, "source": info.source}
        return {key: np.array([text], dtype=np.str_) for key, text in texts.items()}

    def caption(self) -> str:
        return f"{self.info.title}. {self.info.reference}" if self.info is not None else ""

    def apply_theme(self) -> None:
        self.refresh()
        self.loading.update()


def _of_own(name: str) -> str:
    """Return what tells a person's own network from others in few letters: its weights' file, else its own name."""
    weights = split_name(name)[1]
    return re.split(r"[/\\]", weights)[-1] if weights else named_as_shown(name)


def _facts(info: ModelInfo) -> str:
    shape = " × ".join("any" if n is None else str(n) for n in info.input_shape)
    claims = f"claims {', '.join(map(written, info.groups))}" if info.groups else "claims no symmetry"
    trained = "trained" if info.trained else "not trained"
    words = [info.name, " ".join(info.rows), claims, f"input {shape}" if shape else "", trained]
    return " · ".join(filter(None, words))


def _with_code(text: str) -> str:
    """Return prose as HTML: `names` of layers as code, *panels* and **choices** set off as in lessons."""
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
    text = re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", text)
    return re.sub(r"(?<![\w*])\*([A-Z][^*]*)\*", r"<i>\1</i>", text)  # a product is no panel


def _linked(text: str, colour: str) -> str:
    """Return text with web addresses as links."""
    words = []
    for word in text.split(" "):
        safe = html.escape(word)
        if word.startswith(("http://", "https://")):
            safe = f'<a style="color:{colour}" href="{safe}">{safe}</a>'
        words.append(safe)
    return " ".join(words)


VIEW = ViewSpec("equation", "Equation", EquationView, "right", 1, "The model's equations, reference and source.")

if __name__ == "__main__":
    from types import SimpleNamespace

    from widgets.base.preview import preview

    def fill(view: EquationView, samples: SimpleNamespace) -> None:
        view.show_catalogue(samples.make_catalogue())
        view.set_frame(samples.make_frame(compare=True))

    preview(EquationView, fill)
