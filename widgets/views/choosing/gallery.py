"""Offer what there is to choose from: models by domain and row, and samples as thumbnails, with one search for both."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QModelIndex, QPoint, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListView,
    QListWidgetItem,
    QMenu,
    QStackedLayout,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from explorer.declare.card import ModelInfo
from explorer.declare.space import kinds
from explorer.declare.states.model_name import several, split_name
from explorer.state.catalogue import Catalogue, SampleInfo
from widgets.base.frame_view import StateView
from widgets.base.look import theme
from widgets.base.look.pixels import rgb_image
from widgets.base.text.groups import written
from widgets.base.text.kinds_of_data import FAMILIES, place_of, title_of
from widgets.base.view import ViewSpec, Wish
from widgets.views.choosing.cards import (
    COUNT,
    DOMAIN,
    IMAGE,
    INFO,
    Cards,
    Loading,
    ThumbnailDelegate,
)
from widgets.views.choosing.filters import Favourites, Filters, is_own
from widgets.views.choosing.model_card import CardDelegate
from widgets.views.choosing.own_networks import own_models

Info = TypeVar("Info", ModelInfo, SampleInfo)


class GalleryView(StateView):
    """Models and data; a click asks for one, "compare" puts a second model beside the first."""

    FOLLOWS = ("model", "compare", "sample")

    open_asked = Signal(str)  # a network of the person's own, which is asked about before it runs
    beside_asked = Signal(str)  # the same, to be shown beside the first

    def show_stale(self, text: str) -> bool:
        return True  # nothing in it belongs to an element

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tabs, self.search = QTabBar(self), QLineEdit(self)
        for name in ("Models", "Data"):
            self.tabs.addTab(name)
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        self.search.setPlaceholderText("Search")
        self.search.setClearButtonEnabled(True)
        self.search.setAccessibleName("Search models and data")
        self.models, self.data = Cards(self), Cards(self)
        self.favourites = Favourites()
        self._own: list[ModelInfo] = []
        self._listed: dict[Cards, list[QListWidgetItem]] = {}  # with headings, in the order they have without a search
        self.filters = Filters(self.favourites, self)
        self.models.setItemDelegate(CardDelegate(self.models, self.favourites))
        self.models.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.data.setItemDelegate(ThumbnailDelegate(self.data))
        # tiles in rows; a heading is as wide as the list and so has a row of its own
        self.data.setFlow(QListView.Flow.LeftToRight)
        self.data.setWrapping(True)
        self.data.setResizeMode(QListView.ResizeMode.Adjust)
        self.data.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.loading = Loading("Loading the models. They arrive in a few seconds, when torch is there.", self)
        self.nothing = QLabel(self)
        self.nothing.setWordWrap(True)
        self.nothing.setMargin(16)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        pages = QWidget(self)
        self.nothing.linkActivated.connect(lambda link: self.show_all())
        self._pages = QStackedLayout(pages)
        for page in (self.loading, self.models, self.data, self.nothing):
            self._pages.addWidget(page)
        head = QHBoxLayout()
        head.setContentsMargins(8, 2, 8, 2)
        head.addWidget(self.search)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.tabs)
        column.addLayout(head)
        column.addWidget(self.filters)
        column.addWidget(pages, 1)
        for one, two in pairwise([self.tabs, self.search, *self.filters.controls, self.models, self.data]):
            self.setTabOrder(one, two)  # from above to below, and not as they were made
        self.tabs.currentChanged.connect(self._search)
        self.search.textChanged.connect(self._search)
        self.search.textEdited.connect(self._show_first)
        self.models.chosen.connect(self._choose_model)
        self.models.compared.connect(self._compare)
        self.models.starred.connect(self._star)
        self.filters.changed.connect(self._search)
        self.filters.changed.connect(self._show_from_there)
        self.models.customContextMenuRequested.connect(self._show_menu)
        self.data.chosen.connect(lambda name: self.wished.emit(Wish(changes={"sample": name})))
        for cards in (self.models, self.data):
            cards.itemEntered.connect(lambda item: self.hovered.emit(_sentence(item.data(INFO))))
            cards.left.connect(lambda: self.hovered.emit(""))
        self._search()
        self.apply_theme()

    # what comes in --------------------------------------------------------------------------------------------
    def show_catalogue(self, catalogue: Catalogue) -> None:
        super().show_catalogue(catalogue)
        self._list_models(catalogue)
        with QSignalBlocker(self.data):
            self.data.clear()
            # the samples of a file stay together in their order
            for sample in self._with_headings(self.data, sorted(catalogue.samples, key=lambda s: place_of(s.domain))):
                self._add(self.data, sample).setData(IMAGE, rgb_image(sample.thumbnail))
        self._listed[self.data] = _items(self.data)
        self.refresh()
        self._search()
        for cards in (self.models, self.data):
            cards.bring_into_sight()

    def _list_models(self, catalogue: Catalogue) -> None:
        """List the models of the catalogue, and the person's own."""
        self._own = own_models(catalogue)
        models = [*catalogue.models, *self._own]
        self.filters.show_models(models)
        with QSignalBlocker(self.models):
            self.models.clear()
            for model in self._with_headings(self.models, sorted(models, key=_place)):
                self._add(self.models, model)
        self._listed[self.models] = _items(self.models)

    def _with_headings(self, cards: Cards, infos: Sequence[Info]) -> Iterator[Info]:
        """Yield the infos, with a heading in the list where another domain begins."""
        for domain, some in groupby(infos, key=lambda info: info.domain):
            heading = QListWidgetItem(title_of(domain) if domain else "Your own", cards)
            heading.setFlags(Qt.ItemFlag.NoItemFlags)
            heading.setData(DOMAIN, domain)
            yield from some

    def _add(self, cards: Cards, info: ModelInfo | SampleInfo) -> QListWidgetItem:
        item = QListWidgetItem(info.title, cards)
        item.setData(INFO, info)
        rows = [f"{row}: {FAMILIES[row]}" for row in getattr(info, "rows", ()) if row in FAMILIES]
        told = "<br>".join(map(_escaped, [_sentence(info), *rows]))
        item.setToolTip(f"<b>{_escaped(info.title)}</b><br>{told}")
        item.setData(Qt.ItemDataRole.AccessibleTextRole, info.title)
        return item

    def refresh(self) -> None:
        """Mark the model, the one beside it, and the sample."""
        if not self.known:
            return
        state = self.state
        if self.catalogue is not None and [m.name for m in own_models(self.catalogue)] != [m.name for m in self._own]:
            self._list_models(self.catalogue)  # one more was opened
            self._search()
        infos = self.catalogue.models if self.catalogue is not None else ()
        shown = self._shown  # asked once: where weights are not the card's own, the whole list is looked through
        info = next((info for info in infos if info.name == shown), None)
        self.models.mark(shown, state.compare)
        self.data.suit(info.domain if info is not None else "")
        self.data.mark(state.sample or (info.sample if info is not None else ""), "")

    @property
    def _shown(self) -> str:
        """Return the name of the card of the model in use, also with other weights than its own, as while it learns."""
        name = self.state.model
        return name if self.models.named(name) is not None else split_name(name)[0]

    # searching ------------------------------------------------------------------------------------------------
    def _search(self) -> None:
        """Show the list of the tab, with what the search leaves of it."""
        cards = self.data if self.tabs.currentIndex() else self.models
        if self.catalogue is None:
            self._pages.setCurrentWidget(self.loading)
            return
        words = self.search.text().casefold().split()
        self.filters.setVisible(cards is self.models)
        for each in (self.models, self.data):
            self._arrange(each, words)
        found = {id(c): self._filter(c, words) for c in (self.models, self.data)}
        for i, (name, c) in enumerate((("Models", self.models), ("Data", self.data))):
            few = words or (c is self.models and self.filters.active)
            self.tabs.setTabText(i, f"{name} {found[id(c)]}" if few else name)
        if found[id(cards)]:
            self._pages.setCurrentWidget(cards)
            return
        other = "data" if cards is self.models else "models"
        elsewhere = self.data if cards is self.models else self.models
        hint = f" There are matches among the {other}." if words and found[id(elsewhere)] else ""
        kind = "models" if cards is self.models else "data"
        text, narrowed = _escaped(self.search.text().strip()), cards is self.models and self.filters.active
        wanted = f" match “{text}”" if text else " are like that" if narrowed else ""
        said = f"No {kind}{wanted}.{hint}" if wanted else f"There are no {kind} here."
        advice = self.filters.advice([i for i in map(self.models.info, _items(self.models)) if i]) if narrowed else ""
        link = f"<p><a href='all' style='color: {theme.current().accent}'>Show all</a></p>" if wanted else ""
        self.nothing.setText(f"{advice or said}{link}")
        self._pages.setCurrentWidget(self.nothing)

    def choice_row(self, field: str, name: str, told: str) -> QModelIndex | None:
        cards = {"model": self.models, "models": self.models, "compare": self.models, "sample": self.data}.get(field)
        found = None if cards is None else next((i for i in _items(cards) if _is(cards.info(i), name, told)), None)
        return None if cards is None or found is None else cards.indexFromItem(found)

    def bring_row(self, index: QModelIndex) -> None:
        cards = self.data if index.model() is self.data.model() else self.models
        self.tabs.setCurrentIndex(int(cards is self.data))
        if cards.isRowHidden(index.row()):
            self.show_all()
        cards.scrollTo(index, Cards.ScrollHint.PositionAtCenter)

    def show_all(self) -> None:
        """List everything again: no word is searched for, and nothing is left out."""
        self.search.clear()
        self.filters.clear()

    def _show_from_there(self) -> None:
        """Show the model in use, or the list from its beginning where it is left out."""
        if not self.models.bring_into_sight():
            self.models.scrollToTop()

    def _show_first(self) -> None:
        """Show what is found from its beginning: the best of it must not be above what is seen."""
        for cards in (self.models, self.data):
            cards.scrollToTop()

    def _arrange(self, cards: Cards, words: list[str]) -> None:
        """Put what is called so before that of which it is only told, and their headings before others."""
        sections: list[list[QListWidgetItem]] = []
        for item in self._listed.get(cards, ()):
            if cards.info(item) is None or not sections:
                sections.append([])
            sections[-1].append(item)

        def told(item: QListWidgetItem) -> bool:
            info = cards.info(item)
            fits = info is not None and (cards is self.data or self.filters.fits(info))
            return not (fits and info is not None and all(word in _called(info) for word in words))

        sections = [[head, *sorted(under, key=told)] for head, *under in sections]
        sections.sort(key=lambda section: all(map(told, section[1:])))  # both sorts keep the order of equals
        wanted = [item for section in sections for item in section]
        if wanted == _items(cards):
            return
        with QSignalBlocker(cards):
            while cards.count():
                cards.takeItem(0)
            for item in wanted:
                cards.addItem(item)

    def _filter(self, cards: Cards, words: list[str]) -> int:
        """Hide what does not hold every word, and headings with nothing under them; return how many are left."""
        found, heading, under = 0, None, 0
        for row in range(cards.count() + 1):
            item = cards.item(row) if row < cards.count() else None
            info = cards.info(item)
            if info is None:
                if heading is not None:
                    heading.setHidden(not under)
                    heading.setData(COUNT, under)
                heading, under = item, 0
            elif item is not None:
                text = _searchable(info)
                fits = all(word in text for word in words) and (cards is self.data or self.filters.fits(info))
                item.setHidden(not fits)
                found, under = found + fits, under + fits
        return found

    # what goes out --------------------------------------------------------------------------------------------
    def _star(self, name: str) -> None:
        """Make a model a favourite, or one no more."""
        self.favourites.toggle(name)
        self._search()
        self.models.viewport().update()

    def _choose_model(self, name: str) -> None:
        if (info := self.models.named(name)) is not None and is_own(info):
            self.open_asked.emit(name)
            return
        changes: dict[str, Any] = {"model": name, "params": (), "layer": ""}
        if self.known and name in self.state.compared:
            # a model beside itself shows nothing
            changes["compare"] = ",".join(n for n in self.state.compared if n != name)
        self.wished.emit(Wish(changes=changes))

    def _compare(self, name: str) -> None:
        """Put a model beside the first, or away again; on graphs a third finds room too."""
        beside = [n for n in (self.state.compared if self.known else ()) if n != name]
        added = not self.known or name not in self.state.compared
        if added and (info := self.models.named(name)) is not None and is_own(info):
            self.beside_asked.emit(name)
            return
        shown = self.models.named(self._shown) if self.known else None
        alone = shown is None or shown.domain not in kinds() or kinds()[shown.domain].beside < 2
        names = ([] if alone else beside[-1:]) + [name] if added else beside
        self.wished.emit(Wish(changes={"compare": ",".join(names)}))

    def menu_for(self, item: QListWidgetItem | None) -> QMenu | None:
        """Return the menu of a model's card, None where there is no model."""
        info = self.models.info(item)
        if not isinstance(info, ModelInfo):
            return None
        menu = QMenu(self)
        show = QAction(f"Show {info.title}", menu)
        show.triggered.connect(lambda: self._choose_model(info.name))
        compare = QAction("Compare with the model shown", menu)
        compare.setEnabled(self.models.can_compare(info) and info.name not in several(self.models.second))
        compare.triggered.connect(lambda: self._compare(info.name))
        liked = info.name in self.favourites
        star = QAction("No favourite any more" if liked else "Make it a favourite", menu)
        star.triggered.connect(lambda: self._star(info.name))
        stop = QAction("Stop comparing", menu)
        stop.setEnabled(bool(self.models.second))
        stop.triggered.connect(lambda: self.wished.emit(Wish(changes={"compare": ""})))
        menu.addActions([action for action in (show, compare, stop, star) if action.isEnabled()])
        return menu

    def _show_menu(self, at: QPoint) -> None:
        if (menu := self.menu_for(self.models.itemAt(at))) is not None:
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(self.models.viewport().mapToGlobal(at))

    # exports --------------------------------------------------------------------------------------------------
    def figure_size(self) -> QSize:
        """Return the size at which the whole list is seen, for exported figures."""
        cards = self.data if self.tabs.currentIndex() else self.models
        if cards is self.data:
            return QSize(max(self.width(), 640), max(self.height(), 400))
        rows = sum(cards.sizeHintForRow(r) for r in range(cards.count()) if not cards.item(r).isHidden())
        return QSize(max(self.width(), 320), max(160, rows + 48))

    def numbers(self) -> dict[str, NDArray[Any]]:
        if self.catalogue is None:
            return {}
        models, samples = self.catalogue.models, self.catalogue.samples
        return {
            "model": np.array([m.name for m in models], dtype=np.str_),
            "rows": np.array([" ".join(m.rows) for m in models], dtype=np.str_),
            "groups": np.array([" ".join(m.groups) for m in models], dtype=np.str_),
            "trained": np.array([m.trained for m in models], dtype=bool),
            "sample": np.array([s.name for s in samples], dtype=np.str_),
        }

    def caption(self) -> str:
        if self.catalogue is None:
            return ""
        return f"{len(self.catalogue.models)} models and {len(self.catalogue.samples)} samples."

    def apply_theme(self) -> None:
        t = theme.current()
        self.filters.apply_theme()
        self.nothing.setStyleSheet(f"color: {t.muted}; background: {t.panel};")
        for widget in (self.models.viewport(), self.data.viewport(), self.loading):
            widget.update()


def _place(info: ModelInfo) -> tuple[Any, ...]:
    """Sort by domain (grids first), then by row, numbers as numbers."""
    row = info.rows[0] if info.rows else "~"
    number = re.search(r"\d+", row)
    return (*place_of(info.domain), re.sub(r"\d+", "", row), int(number[0]) if number else 0, info.title)


def _items(cards: Cards) -> list[QListWidgetItem]:
    return [cards.item(row) for row in range(cards.count())]


def _is(info: Any, name: str, told: str) -> bool:
    return info is not None and info.name == name and info.title in told


def _called(info: ModelInfo | SampleInfo) -> str:
    """Return the names of a model or of data, as they are searched for."""
    return f"{info.title} {info.name}".casefold()


def _searchable(info: ModelInfo | SampleInfo) -> str:
    words = [info.name, info.title, info.domain, title_of(info.domain), info.summary]
    if isinstance(info, ModelInfo):
        words += [
            *info.rows,
            *(FAMILIES.get(row, "") for row in info.rows),
            *info.groups,
            *map(written, info.groups),
            info.reference,
            "trained" if info.trained else "",
        ]
    return " ".join(words).casefold()


def _sentence(info: ModelInfo | SampleInfo | None) -> str:
    if info is None:
        return ""
    claimed = f" Claims {', '.join(map(written, info.groups))}." if isinstance(info, ModelInfo) and info.groups else ""
    return re.sub(r"[`*]", "", f"{info.summary or info.name}{claimed}")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


VIEW = ViewSpec("gallery", "Gallery", GalleryView, "left", 0, "Models and data to choose from.")

if __name__ == "__main__":
    import sys
    from types import SimpleNamespace

    from widgets.base.preview import preview

    def fill(view: GalleryView, samples: SimpleNamespace) -> None:
        if "empty" not in sys.argv:
            view.show_catalogue(samples.make_catalogue(7, 12))
        view.set_frame(samples.make_frame(compare=True))
        view.tabs.setCurrentIndex("data" in sys.argv)

    preview(GalleryView, fill)
