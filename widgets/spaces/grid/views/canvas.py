"""The token canvas: a picture that is made code by code, the distribution of the next one, the words it attends to."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QSplitter, QVBoxLayout, QWidget

from explorer.declare.telling.numerals import with_minus
from explorer.spaces.grid.drawing.tokens import CanvasPart
from explorer.square.frame import Square
from widgets.base.controls.row import ControlRow
from widgets.base.frame_view import FrameView, Pages
from widgets.base.look.theme import current
from widgets.base.text.words import percent, subject
from widgets.base.view import ViewSpec, Wish
from widgets.spaces.grid.tokens.tiles import Tile, TileBoard

NOTHING = "Open a network that makes pictures from captions to see one made code by code."
NONE = "This network makes no pictures code by code."
MOST_CODES = 18  # of the distribution, the likeliest first
MADE = "made"  # the parameter of the card that says how many codes there are


class CanvasView(FrameView[tuple[Square, CanvasPart]]):
    """The picture so far with its grid, the likeliest next codes, the words, and the candidates with their scores.

    A click on a place asks for the distribution that its code was drawn from; the buttons take a code away or add one.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._place: int | None = None  # None follows the next code
        self.words, self.line = QLabel(), QLabel()
        self.words.setTextFormat(Qt.TextFormat.RichText)
        self.words.setWordWrap(True)
        self.line.setWordWrap(True)
        self.layer = QComboBox()
        self.fewer, self.more, self.all = (
            QPushButton("◀ one code less"),
            QPushButton("one code more ▶"),
            QPushButton("all"),
        )
        makers = (self.fewer, self.more, self.all)
        self.bar = ControlRow(*makers, "Attention of", self.layer, margins=(0, 0, 0, 0))
        self.picture, self.codes, self.candidates = TileBoard(), TileBoard(), TileBoard()
        both = QSplitter()
        for board in (self.picture, self.codes, self.candidates):
            both.addWidget(board)
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(8, 4, 8, 4)
        column.addWidget(self.bar)
        column.addWidget(self.words)
        column.addWidget(self.line)
        column.addWidget(both, 1)
        self.pages = Pages(self, content, NOTHING)
        self.picture.picked.connect(self._pick)
        self.picture.pointed.connect(self._point)
        self.layer.activated.connect(self.refresh)
        self.fewer.clicked.connect(lambda: self._make(-1))
        self.more.clicked.connect(lambda: self._make(1))
        self.all.clicked.connect(lambda: self._make(None))
        self.apply_theme()

    def parts(self) -> list[tuple[Square, CanvasPart]]:
        return self.with_part(CanvasPart)[:1]

    def reason(self, parts: list[tuple[Square, CanvasPart]]) -> str:
        return "" if parts else NONE if self.squares else NOTHING

    def show_empty(self, sentence: str) -> None:
        self.pages.say(sentence)
        for board in (self.picture, self.codes, self.candidates):
            board.show_tiles(())

    def draw(self, parts: list[tuple[Square, CanvasPart]]) -> None:
        self.pages.say("")
        square, part = parts[0]
        names = ["mean of all layers", *part.attention]
        if [self.layer.itemText(k) for k in range(self.layer.count())] != names:
            self.layer.clear()
            self.layer.addItems(names)
        count, columns = part.codes.size, part.codes.shape[1]
        place = min(part.done, count - 1) if self._place is None else min(self._place, count - 1)
        hidden = (np.arange(count) >= part.done).reshape(part.codes.shape)
        size = (int(part.codes.shape[0]), int(columns))
        marked = (place // columns, place % columns)
        given = np.arange(count).reshape(size) < part.given
        self.picture.show_tiles(
            [
                Tile("given of x", square.x, None, 0.0, size, None, ~given, role="muted"),
                Tile("picture so far", part.picture, None, 0.0, size, marked, hidden),
            ]
        )
        shares = part.next[place]
        chosen = int(part.codes.flat[place]) if place < part.done else None
        best = np.argsort(-shares, kind="stable")[:MOST_CODES]
        self.codes.show_tiles(
            [
                Tile(
                    str(k), part.entries[k], None, 0.0, (1, 1), (0, 0) if k == chosen else None,
                    note=percent(float(shares[k])), role="bad" if k == chosen else "text",
                )
                for k in best
            ]
        )  # fmt: skip
        self.candidates.setVisible(bool(part.candidates))
        self.candidates.show_tiles(
            [
                Tile(f"{k + 1}.", c.picture, None, 0.0, (0, 0), note=with_minus(f"score {c.score:.2f}"))
                for k, c in enumerate(part.candidates)
            ]
        )
        used = shares[shares > 0].astype(np.float64)
        entropy = float(-(used * np.log(used)).sum())
        kept = "given" if place < part.given else "drawn" if place < part.done else "the next one"
        self.line.setText(
            f"{part.given} codes given, {part.done - part.given} made, {count - part.done} to come. The code in row "
            f"{marked[0]}, column {marked[1]} is {kept}; its distribution given all before it, perplexity "
            f"{np.exp(entropy):.2f}. Words are shaded by how much this place attends to them."
        )
        self._shade(part, place)
        self.fewer.setEnabled(part.done > part.given)
        self.more.setEnabled(part.done < count)
        self.all.setEnabled(part.done < count)

    def attention(self, part: CanvasPart, place: int) -> NDArray[np.float64]:
        """Return how much a place attends to each word, the mean over heads, of the chosen layer or of all."""
        chosen = part.attention.get(self.layer.currentText())
        layers = list(part.attention.values()) if chosen is None else [chosen]
        return np.mean([np.asarray(a, np.float64)[:, place].mean(0) for a in layers], 0)

    def _shade(self, part: CanvasPart, place: int) -> None:
        shares = self.attention(part, place)
        high = float(shares.max()) or 1.0
        t = current()
        spans = []
        for word, share in zip(part.words, shares, strict=True):
            r, g, b = (
                round(int(t.panel[i : i + 2], 16) * (1 - share / high) + c * share / high)
                for i, c in ((1, 255), (3, 160), (5, 60))
            )
            ink = "#1b1f24" if (r + g + b) / 3 > 120 else "#ffffff"
            spans.append(
                f'<span style="background:rgb({r},{g},{b}); color:{ink}; font-size:16px;">'
                f"&nbsp;{escape(word)}&nbsp;</span>"
                f'<span style="color:{t.muted}; font-size:11px;">&nbsp;{100 * share:.0f} %&nbsp;&nbsp;</span>'
            )
        self.words.setText("".join(spans))

    def _make(self, more: int | None) -> None:
        parts = self.parts()
        if not parts:
            return
        part = parts[0][1]
        made = part.codes.size if more is None else min(max(part.done + more, part.given), part.codes.size)
        self._place = None
        others = tuple((name, value) for name, value in self.state.params if name != MADE)
        self.wished.emit(Wish(changes={"params": (*others, (MADE, float(made)))}, tag="canvas", done=True))

    def _pick(self, tile: int, row: int, column: int) -> None:
        parts = self.parts()
        if tile == 1 and parts:
            place = row * parts[0][1].codes.shape[1] + column
            self._place = None if self._place == place else place
            self.refresh()

    def _point(self, place: tuple[int, int, int] | None) -> None:
        parts = self.parts()
        if place is None or not parts or not place[0]:
            self.hovered.emit("")
            return
        part = parts[0][1]
        number = place[1] * part.codes.shape[1] + place[2]
        code = f"code {int(part.codes.flat[number])}" if number < part.done else "not there yet"
        self.hovered.emit(f"place {number}, row {place[1]}, column {place[2]}: {code}")

    def apply_theme(self) -> None:
        self.bar.apply_theme()
        self.pages.apply_theme()
        for board in (self.picture, self.codes, self.candidates):
            board.update()
        if self.parts():
            self.refresh()  # the words bear colours

    def numbers(self) -> dict[str, NDArray[Any]]:
        found: dict[str, NDArray[Any]] = {}
        for square, part in self.parts():
            found[f"{square.model}: codes"] = part.codes
            found[f"{square.model}: distribution of each code"] = part.next
            found |= {f"{square.model}: {name} to words": a for name, a in part.attention.items()}
            if part.candidates:
                found[f"{square.model}: scores"] = np.array([c.score for c in part.candidates])
        return found

    def caption(self) -> str:
        if not self.parts():
            return ""
        _, part = self.parts()[0]
        said = f"{' '.join(part.words)!r}: {self.line.text()}"
        return said if self.frame is None else f"{said} {subject(self.frame)}."


VIEW = ViewSpec(
    "canvas",
    "Token canvas",
    CanvasView,
    "center",
    3,
    "A picture made code by code from a caption.",
    domains=("grid",),
    fits=lambda square: square.of(CanvasPart) is not None,
)
