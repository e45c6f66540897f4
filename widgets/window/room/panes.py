"""The views of a window: those of the centre as tabs, the others for the docks; each told in its turn.

A view is made when it is first seen. Until then a seat keeps its place, and what all views were told is told to it
when it is made.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QSize, QTimer, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QTabWidget, QVBoxLayout, QWidget

from explorer.square.frame import Frame, Square
from widgets.base.pace import Pace
from widgets.base.veil import Veil
from widgets.base.view import View, ViewSpec


class Seat(QWidget):
    """The place of a view, which takes it once it has been made."""

    seen = Signal()

    def __init__(self, spec: ViewSpec) -> None:
        super().__init__()
        self.spec = spec
        self.view: View | None = None
        self.broken = False  # whether it could not be made
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self.veil = Veil(self)

    def show_stale(self, text: str, domain: str = "") -> None:
        """Let the view say that what it shows is stale, or lie a veil over it.

        Of data that the view has nothing to say of, whose kind is `domain`, it shows a sentence, which is not true of
        what is awaited: that is covered.
        """
        done = self.view is not None and self.view.show_stale(text)
        known = not domain or not self.spec.domains or domain in self.spec.domains
        self.veil.say("" if done or self.view is None else text, cover=not known)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.veil.setGeometry(self.rect())

    def minimumSizeHint(self) -> QSize:
        """Nothing behind another tab: what is not seen must not keep the window wide."""
        return QSize(0, 0) if self.isHidden() else super().minimumSizeHint()

    def take(self, view: View) -> None:
        """Hold the view from here on."""
        self.view = view
        self._column.addWidget(view)
        view.show()
        if self.hasFocus():
            view.setFocus()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self.view is None and not self.broken:
            self.seen.emit()


class Panes(QTabWidget):
    """Makes the views that are seen, shows those of the centre as tabs, and hands frames to all.

    It knows no view by its class.
    """

    failed = Signal(str)  # a view broke, and how
    made = Signal(object)  # View, before it is told anything

    def __init__(self, specs: Sequence[ViewSpec], parent: QWidget | None = None) -> None:
        super().__init__(parent, documentMode=True)
        self.setTabBarAutoHide(True)
        self.seats = [Seat(spec) for spec in sorted(specs, key=lambda s: (s.order, s.name))]
        self._named = {seat.spec.name: seat for seat in self.seats}
        self._told: dict[str, Callable[[View], None]] = {}  # the last of each kind, in the order of the first ones
        self._frame: Frame | None = None
        self._stale = ""
        self._prepared: set[str] = set()
        self._offered: tuple[str, list[bool]] | None = None  # to which kind of data, and which tabs
        self._open = False
        self._waiting: list[Seat] = []
        # one in each turn of the event loop: a click is answered between two
        self._making = QTimer(self, singleShot=True, interval=0)
        self._making.timeout.connect(self._make_next)
        self._opening = QTimer(self, singleShot=True)
        self._opening.timeout.connect(self.open)
        for seat in self.seats:
            seat.seen.connect(lambda seat=seat: self._wait_for(seat))
            if seat.spec.area == "center":
                self.addTab(seat, seat.spec.title)
        self._pace = Pace(self._catch_up, self)

    @property
    def specs(self) -> list[ViewSpec]:
        """Return what all views say of themselves."""
        return [seat.spec for seat in self.seats]

    @property
    def views(self) -> list[tuple[ViewSpec, View]]:
        """Return all views, made if they were not yet."""
        return [(seat.spec, view) for seat in self.seats if (view := self._made(seat)) is not None]

    @property
    def docked(self) -> list[Seat]:
        """The places of the views for the docks."""
        return [seat for seat in self.seats if seat.spec.area != "center"]

    def named(self, name: str) -> View | None:
        """Return the view of that name, made if it was not yet."""
        return next((self._made(seat) for seat in self.seats if seat.spec.name == name), None)

    def front(self) -> View | None:
        """Return the view of the centre that can be seen, made if it was not yet."""
        current = self.currentWidget()
        return self._made(current) if isinstance(current, Seat) else None

    def in_front(self) -> str:
        """Return the name of the view of the centre whose tab is chosen, "" without one."""
        return self._spec(self.currentIndex()).name if self.currentIndex() >= 0 else ""

    def active(self) -> View | None:
        """Return the view that has the focus, else the one in front."""
        widget = QApplication.focusWidget()
        while widget is not None and not isinstance(widget, View):
            widget = widget.parentWidget()
        return widget if isinstance(widget, View) and widget.window() is self.window() else self.front()

    def prepare(self, domain: str) -> None:
        """Start what the views of a kind of data wait for: such data were chosen, and a frame of them is computed."""
        for spec in self.specs:
            if spec.prepare is not None and domain in spec.domains and spec.name not in self._prepared:
                self._prepared.add(spec.name)
                spec.prepare()

    # making -----------------------------------------------------------------------------------------------
    def open(self) -> None:
        """Make what is seen from here on: nothing but the view in front is made before there is something to show."""
        self._open = True
        self._making.start()

    def open_soon(self, milliseconds: int = 0) -> None:
        """Open after what is to be painted now has been painted, or after some time."""
        if not self._open and not 0 <= self._opening.remainingTime() <= milliseconds:
            self._opening.start(milliseconds)

    def complete(self, between: Callable[[], None] = lambda: None) -> None:
        """Make everything that is seen at once: a picture is about to be taken; `between` two panels it is asked."""
        self._open = True
        while self._waiting:
            between()
            self._make_next()

    def _wait_for(self, seat: Seat) -> None:
        if seat not in self._waiting:
            self._waiting.append(seat)
        if self._open:
            self._making.start()

    def _make_next(self) -> None:
        # a panel that went behind another one meanwhile waits until it is seen again
        self._waiting = [seat for seat in self._waiting if seat.view is None and seat.isVisible()]
        if self._waiting:
            self._made(self._waiting.pop(0))
            self._making.start()

    def _made(self, seat: Seat) -> View | None:
        """Return the view of a seat; one that cannot be made is said to have broken, and its place stays empty."""
        if seat.view is None and not seat.broken:
            try:
                view = _make(seat.spec)
            except Exception as error:
                seat.broken = True
                self._broke(seat.spec, error)
                return None
            seat.take(view)
            self.made.emit(view)
            for show in self._told.values():
                self.each(show, [view])
            if (frame := self._frame) is not None:
                self.each(lambda view: self._hand(view, frame, at_once=True), [view])
            seat.show_stale(self._stale, self._shown_kind())
        return seat.view

    # telling ----------------------------------------------------------------------------------------------
    def tell(self, what: str, show: Callable[[View], None]) -> None:
        """Tell something to every view, present and future; it replaces what was told under that name before."""
        self._told[what] = show
        self.each(show)

    def looks(self) -> dict[str, dict[str, Any]]:
        """Return what was chosen about the pictures of the views that there are, by their names."""
        found = {seat.spec.name: seat.view.looks() for seat in self.seats if seat.view is not None}
        return {name: looks for name, looks in found.items() if looks}

    def forget(self, what: str) -> None:
        """Tell views that come later nothing of what was told under that name."""
        self._told.pop(what, None)

    def each(self, show: Callable[[View], None], some: Sequence[View] | None = None) -> None:
        """Do something with every view there is, or `some`; one that breaks must not take the others with it."""
        for seat in self.seats:
            if seat.view is None or (some is not None and seat.view not in some):
                continue
            try:
                show(seat.view)
            except Exception as error:
                self._broke(seat.spec, error)

    def _broke(self, spec: ViewSpec, error: Exception) -> None:
        self.failed.emit(f"{spec.title}: {type(error).__name__}: {error}")
        sys.excepthook(type(error), error, error.__traceback__)

    def show_stale(self, text: str) -> None:
        """Dim what shows an older frame than that of what was asked for; "" ends it."""
        self._stale = text
        for seat in self.seats:
            # the answer is there, but a view whose turn has not come still shows the one before: it stays dimmed
            if text or seat.view is None or not (seat.isVisible() and seat.view.behind):
                seat.show_stale(text, self._shown_kind())

    def _shown_kind(self) -> str:
        """Return the kind of data of the frame that was told last, "" without one."""
        return self._frame.squares[0].domain if self._frame is not None and self._frame.squares else ""

    def _catch_up(self, view: View) -> None:
        self.each(View.catch_up, [view])
        for seat in self.seats:
            if seat.view is view:
                seat.show_stale(self._stale)

    def show_frame(self, frame: Frame) -> None:
        """Let the view in front show a frame at once and the others soon."""
        front = self.front()
        self._frame = frame
        self.each(lambda view: self._hand(view, frame, view is front))

    def awaits(self, frame: Frame) -> bool:
        """Return whether a view that is seen will draw more of a frame, which is still being computed."""
        return any(seat.view is not None and seat.isVisible() and seat.view.awaits(frame) for seat in self.seats)

    def _hand(self, view: View, frame: Frame, at_once: bool) -> None:
        if view.MOST <= View.MOST < len(frame.squares):
            frame = replace(frame, squares=frame.squares[: View.MOST])
        self._pace.give(view, frame, at_once)

    # tabs -------------------------------------------------------------------------------------------------
    def raise_tab(self, name: str) -> None:
        """Bring a view of the centre to the front, also one that is not offered for this kind of data."""
        seat = next(seat for seat in self.seats if seat.spec.name == name)
        self.setTabVisible(self.indexOf(seat), True)
        self.setCurrentWidget(seat)

    def offered(self, name: str) -> bool:
        """Say whether a view of the centre has a tab for the data at hand."""
        seat = self._named.get(name)
        return seat is not None and self.isTabVisible(self.indexOf(seat))

    def offer(self, domain: str, square: Square | None = None) -> None:
        """Offer the tabs that have something to say of a kind of data, and of the first square."""
        wanted = []
        for k in range(self.count()):
            spec = self._spec(k)
            # the kind of data first: a view of another one need not be imported to be asked
            wanted.append((not spec.domains or domain in spec.domains) and spec.tells(square))
        if (domain, wanted) == self._offered:
            return  # what a person has raised all the same stays
        self._offered, before = (domain, wanted), self.currentIndex()
        for k, shown in enumerate(wanted):
            self.setTabVisible(k, shown)
        # Qt keeps how far the bar was scrolled when there were more tabs, and looks again only where its buttons change
        self.setUsesScrollButtons(not self.usesScrollButtons())
        self.setUsesScrollButtons(not self.usesScrollButtons())
        if before >= 0 and not self.isTabVisible(before):
            self.show_home(domain)

    def at_home(self, domain: str) -> bool:
        """Say whether the view in front was made for a kind of data, or for all of them."""
        if self.currentIndex() < 0:
            return False
        spec = self._spec(self.currentIndex())
        return not spec.domains or domain in spec.domains[:1]

    def show_home(self, domain: str) -> None:
        """Bring the view of the centre to the front that was made for a kind of data."""
        if (name := self.home(domain)) is not None:
            self.raise_tab(name)

    def home(self, domain: str) -> str | None:
        """Return the view of the centre that was made for a kind of data, None where there is none."""
        specs = map(self._spec, range(self.count()))
        return next((spec.name for spec in specs if domain in spec.domains[:1]), None)

    def first(self, domain: str) -> str:
        """Return the view of the centre that is in front at the start for a kind of data."""
        return self.home(domain) or self._spec(0).name

    def _spec(self, index: int) -> ViewSpec:
        seat = self.widget(index)
        assert isinstance(seat, Seat)
        return seat.spec

    def close_all(self) -> None:
        """Close every view, wherever it is."""
        self._making.stop()
        self._opening.stop()
        for seat in self.seats:
            if seat.view is not None:
                seat.view.close()


def _make(spec: ViewSpec) -> View:
    view = spec.make()
    view.setObjectName(spec.name)
    view.setWhatsThis(spec.summary)
    view.setAccessibleName(spec.title)
    return view
