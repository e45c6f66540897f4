"""The panels round the stage: where they stand at first, how they are found again, what their titles show."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence

from PySide6.QtCore import QByteArray, QObject, QPoint, QSize, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDockWidget,
    QHBoxLayout,
    QLabel,
    QMainWindow,
    QMenu,
    QTabBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from explorer.square.frame import Square
from widgets.base.controls.flow import UNBOUNDED
from widgets.base.look import theme
from widgets.base.look.icons import icon
from widgets.window.room.panes import Seat
from widgets.window.room.pulled import Panel, PulledTabs, dragged, float_out, let_go

AREAS = {
    "left": Qt.DockWidgetArea.LeftDockWidgetArea,
    "right": Qt.DockWidgetArea.RightDockWidgetArea,
    "bottom": Qt.DockWidgetArea.BottomDockWidgetArea,
}
SMALLEST = QSize(200, 90)  # of a panel
DIGEST = 8  # bytes before a saved layout, which follow from it
CONTROLS = 260  # pixels of width that the right side keeps: its buttons and boxes are as narrow as they go
BARS = 130  # pixels of height of menus, tabs, strips and the status bar
ROOMY = 1700  # pixels of width from which the bottom panels stand in two groups side by side


class Docks(QObject):
    """Makes a dock of every view that is not in the centre, and lays them out."""

    def __init__(self, window: QMainWindow, seats: Sequence[Seat]) -> None:
        super().__init__(window)
        self._window = window
        self._specs = sorted((seat.spec for seat in seats), key=lambda s: (s.order, s.name))
        self._domains = {spec.name: spec.domains for spec in self._specs}
        self.docks: dict[str, QDockWidget] = {}
        self._domain = ""
        # say nothing of what is shown, though its kind is theirs
        self._unfit = {spec.name for spec in self._specs if not spec.tells(None)}
        self._guests: list[QDockWidget] = []
        self._away: set[str] = set()  # put away because they say nothing of the data at hand, not by the person
        options = QMainWindow.DockOption
        # neither grouped dragging nor animations, which crash: `pulled` says how
        window.setDockOptions(options.AllowNestedDocks | options.AllowTabbedDocks)
        window.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, window.tabPosition(AREAS["left"]).North)
        window.setDocumentMode(True)
        self._pulled = PulledTabs(self, self._unfolded)
        self._mend = QTimer(self, singleShot=True, interval=0)
        self._mend.timeout.connect(self.mend_titles)
        for seat in seats:
            spec = seat.spec
            dock = Panel(spec.title, window)
            dock.setObjectName(spec.name)
            dock.setWidget(_Place(seat))
            dock.setWhatsThis(spec.summary)
            dock.setTitleBarWidget(_TitleBar(dock))
            # A panel behind another tab is moved out of sight but stays "visible": hidden, it waits with drawing.
            dock.visibilityChanged.connect(seat.setVisible)
            for signal in (dock.visibilityChanged, dock.topLevelChanged, dock.dockLocationChanged):
                signal.connect(self._mend.start)
            self.docks[spec.name] = dock

    def take_below(self, widget: QWidget, beside: QDockWidget) -> bool:
        """Put a widget below the panel that is seen in the place of another; say whether there is one."""
        area = self._window.dockWidgetArea(beside)
        near = [d for d in self._window.tabifiedDockWidgets(beside) if d is not beside] or [
            d for d in self.docks.values() if not d.isFloating() and self._window.dockWidgetArea(d) == area
        ]
        place = next((p for d in near if isinstance(p := d.widget(), _Place) and p.seen), None)
        column = None if place is None else place.layout()
        if column is None:
            return False
        if widget.parentWidget() is not place:
            column.addWidget(widget)
        return True

    def below(self) -> list[str]:
        """Return the names of the panels whose place is below the stage."""
        return [spec.name for spec in self._specs if spec.area == "bottom"]

    def reset(self) -> None:
        """Put every panel where it stands at first, for the size that the window has now."""
        let_go()
        window = self._window
        for dock in self.docks.values():
            dock.setFloating(False)
            window.removeDockWidget(dock)
        groups: dict[str, list[QDockWidget]] = {area: [] for area in AREAS}
        for spec in self._specs:
            groups[spec.area if spec.area in AREAS else "right"].append(self.docks[spec.name])
        bottom = groups.pop("bottom")
        # side by side, the panels that come first still both come first
        columns = [bottom[0::2], bottom[1::2]] if window.width() >= ROOMY and len(bottom) > 1 else [bottom]
        for area, docks in (*groups.items(), *(("bottom", column) for column in columns)):
            for dock in docks[:1]:
                window.addDockWidget(AREAS[area], dock, Qt.Orientation.Horizontal)
        for docks in (
            *groups.values(),
            *columns,
        ):  # only now: beside a group of tabs, nothing can be split off
            for dock in docks[1:]:
                window.tabifyDockWidget(docks[0], dock)
            for dock in docks:
                dock.show()
            for dock in docks[:1]:
                dock.raise_()
        self._away.clear()
        self._put_away()
        self._share({area: docks[0] for area, docks in groups.items() if docks}, [c[0] for c in columns if c])
        self.mend_titles()

    def _share(self, firsts: dict[str, QDockWidget], columns: list[QDockWidget]) -> None:
        """Give each area its share of the window."""
        width, height = self._window.width(), self._window.height()
        sides = {"left": max(230, min(width // 6, 380)), "right": max(284, min(width // 5, 430))}
        wide = [name for name in sides if name in firsts]
        self._window.resizeDocks([firsts[n] for n in wide], [sides[n] for n in wide], Qt.Orientation.Horizontal)
        if columns:
            tall = max(170, min(int((height - BARS) * 0.3), 420))
            self._window.resizeDocks(columns, [tall] * len(columns), Qt.Orientation.Vertical)
            self._window.resizeDocks(columns, [width // len(columns)] * len(columns), Qt.Orientation.Horizontal)

    @property
    def version(self) -> int:
        """A layout of other panels than these is not restored, nor one with floating groups of tabs."""
        return zlib.crc32(" ".join(("single", *sorted(self.docks))).encode()) & 0x7FFFFFFF

    def save(self) -> bytes:
        """Return the layout; panels that are only put away for now count as open."""
        self._window.setUpdatesEnabled(False)
        away = sorted(self._away)
        front = {bar.tabText(bar.currentIndex()) for bar in self._bars() if bar.count()}
        for name in away:
            self.docks[name].show()
        self._raise(front)  # one that comes back among tabs may take the front
        layout = bytes(self._window.saveState(self.version).data())
        for name in away:
            self.docks[name].hide()
        self._raise(front)
        self._window.setUpdatesEnabled(True)
        return _digest(layout) + layout

    def _raise(self, titles: set[str]) -> None:
        for dock in self.docks.values():
            if dock.windowTitle() in titles and not dock.isHidden():
                dock.raise_()

    def restore(self, layout: bytes) -> bool:
        """Go back to a saved layout; return whether that worked. Of one that was damaged Qt would crash."""
        let_go()
        digest, layout = layout[:DIGEST], layout[DIGEST:]
        whole = digest == _digest(layout)
        before = self._bars()
        done = whole and self._window.restoreState(QByteArray(layout), self.version)
        fresh = {bar.tabText(k) for bar in set(self._bars()) - set(before) for k in range(bar.count())}
        for bar in before:  # Qt makes others for a layout, and leaves these standing in the way of them
            if fresh.intersection(bar.tabText(k) for k in range(bar.count())):
                bar.hide()
        self._put_away()
        self.mend_titles()
        return done

    def follow(self, domain: str, square: Square | None = None) -> None:
        """Offer only the panels that have something to say of these data; what was closed stays closed."""
        unfit = {spec.name for spec in self._specs if not spec.tells(square)}
        if (domain, unfit) == (self._domain, self._unfit):
            return
        self._domain, self._unfit = domain, unfit
        on_top = self.in_front()
        back = [n for n in sorted(self._away) if self.fits(n)]
        for name in back:
            self.docks[name].show()
        self._away -= set(back)
        self._put_away()
        self.raise_again(on_top)
        self._mend.start()

    def in_front(self) -> tuple[str, ...]:
        """Return the names of the panels that are seen."""
        return tuple(name for name, d in self.docks.items() if d.isVisible() and not d.visibleRegion().isEmpty())

    def raise_again(self, names: Sequence[str]) -> None:
        """Bring panels to the front of their places; not closed ones, nor over a guest that is there now."""
        seen = {guest for guest in self._guests if not guest.visibleRegion().isEmpty()}
        for dock in map(self.docks.__getitem__, names):
            if not dock.isHidden() and seen.isdisjoint(self._window.tabifiedDockWidgets(dock)):
                dock.raise_()

    def _put_away(self) -> None:
        for name, dock in self.docks.items():
            if not dock.isHidden() and not self.fits(name):
                self._away.add(name)
                beside = [d for d in self._window.tabifiedDockWidgets(dock) if not d.isHidden()]
                on_top = self._in_front(dock)
                dock.hide()
                if on_top and beside:  # not the one that happens to be next
                    min(beside, key=list(self.docks.values()).index).raise_()

    def _in_front(self, dock: QDockWidget) -> bool:
        """Say whether a panel is, or will be once the window is shown, in front of those it shares its place with."""
        if self._window.isVisible():
            return not dock.visibleRegion().isEmpty()
        title = dock.windowTitle()
        # the newest bar of tabs: that of a former layout may still stand there
        held = (bar for bar in reversed(self._bars()) if title in map(bar.tabText, range(bar.count())))
        return next((bar.tabText(bar.currentIndex()) == title for bar in held), False)

    def fits(self, name: str) -> bool:
        """Say whether a panel has something to say of what is shown."""
        domains = self._domains[name]
        return name not in self._unfit and (not domains or self._domain in domains)

    def bring(self, name: str) -> None:
        """Show a panel, on top of those it shares its place with."""
        dock = self.docks[name]
        self._away.discard(name)
        dock.show()
        dock.raise_()

    def apply_theme(self) -> None:
        for dock in (*self.docks.values(), *self._guests):
            bar = dock.titleBarWidget()
            if isinstance(bar, _TitleBar):
                bar.apply_theme()

    def add_guest(self, dock: QDockWidget, area: str, width: int) -> None:
        """Take in a panel that comes and goes: on top of the others there, and no part of the layout's version."""
        dock.setTitleBarWidget(_TitleBar(dock))
        for signal in (dock.visibilityChanged, dock.topLevelChanged, dock.dockLocationChanged):
            signal.connect(self._mend.start)
        self._guests.append(dock)
        there = [d for d in self.docks.values() if self._window.dockWidgetArea(d) == AREAS[area] and not d.isHidden()]
        self._window.addDockWidget(AREAS[area], dock)
        if there:
            self._window.tabifyDockWidget(there[-1], dock)
        if dock.width() < width:
            self._window.resizeDocks([dock], [width], Qt.Orientation.Horizontal)

    def mend_titles(self) -> None:
        """Show a title only where no tab shows it already."""
        if QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton or dragged() is not None:
            self._mend.start(100)  # a title bar must not change while it is being dragged
            return
        for dock in (*self.docks.values(), *self._guests):
            tabbed = not dock.isFloating() and any(
                not other.isHidden() for other in self._window.tabifiedDockWidgets(dock)
            )
            bar = dock.titleBarWidget()
            if isinstance(bar, _TitleBar):
                bar.set_slim(tabbed)
        for tabs in self._bars():
            if tabs.contextMenuPolicy() != Qt.ContextMenuPolicy.CustomContextMenu:
                tabs.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
                tabs.customContextMenuRequested.connect(self._tab_menu)
                tabs.tabBarClicked.connect(self._tab_clicked)
                tabs.setDrawBase(False)
                tabs.setExpanding(False)
                tabs.setElideMode(Qt.TextElideMode.ElideNone)  # rather scrolled than cut to a letter
                tabs.setUsesScrollButtons(True)
                self._pulled.watch(tabs)

    def _bars(self) -> list[QTabBar]:
        """Return the bars of tabs between panels; some of them are spare, without any tab."""
        return self._window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)

    def _of_tab(self, tabs: QTabBar, index: int) -> QDockWidget | None:
        title = tabs.tabText(index)
        return next((d for d in (*self.docks.values(), *self._guests) if d.windowTitle() == title), None)

    def _unfolded(self, tabs: QTabBar, index: int) -> QDockWidget | None:
        """Return the panel of a tab, with the title that it is dragged by."""
        dock = self._of_tab(tabs, index)
        if dock is not None and isinstance(bar := dock.titleBarWidget(), _TitleBar):
            bar.set_slim(False)
        return dock

    def _tab_clicked(self, index: int) -> None:
        """Give the focus to the panel that was chosen: keys, F1 and the export mean what the person looks at."""
        tabs = self.sender()
        assert isinstance(tabs, QTabBar)
        dock = self._of_tab(tabs, index)
        if dock is not None and isinstance(place := dock.widget(), _Place):
            QTimer.singleShot(0, place, place.focus)  # Qt brings it to the front only now

    def _tab_menu(self, at: QPoint) -> None:
        tabs = self.sender()
        assert isinstance(tabs, QTabBar)
        dock = self._of_tab(tabs, tabs.tabAt(at))
        if dock is None:
            return
        menu = QMenu(self._window)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(icon("float"), "Float", lambda: float_out(dock))
        menu.addAction(icon("close"), "Close", dock.close)
        menu.popup(tabs.mapToGlobal(at))


def _digest(layout: bytes) -> bytes:
    return hashlib.blake2b(layout, digest_size=DIGEST).digest()


class _Place(QWidget):
    """Holds a seat and its room, so that the seat can be hidden without the panels being laid out anew."""

    def __init__(self, seat: Seat) -> None:
        super().__init__()
        policy = seat.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        seat.setSizePolicy(policy)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(seat)
        self._seat = seat
        self._least = QSize(CONTROLS, SMALLEST.height()) if seat.spec.area == "right" else SMALLEST

    def focus(self) -> None:
        """Give the focus to the view, or to its seat, which hands it on."""
        (self._seat.view or self._seat).setFocus(Qt.FocusReason.MouseFocusReason)

    def minimumSizeHint(self) -> QSize:
        """The same whatever the view shows: a longer number must not push the stage aside in a drag."""
        return self._least

    @property
    def seen(self) -> bool:
        """Say whether the panel is in front of those that it shares its place with."""
        return not self._seat.isHidden() and self.isVisible()


class _TitleBar(QWidget):
    """A slim title with two buttons; next to nothing while tabs show the title."""

    def __init__(self, dock: QDockWidget) -> None:
        super().__init__(dock)
        self._label = QLabel(dock.windowTitle())
        self._float = QToolButton(autoRaise=True)
        self._float.setToolTip("Float or dock this panel")
        self._float.clicked.connect(lambda: dock.setFloating(False) if dock.isFloating() else float_out(dock))
        self._close = QToolButton(autoRaise=True)
        self._close.setToolTip("Close this panel (the View menu brings it back)")
        self._close.clicked.connect(dock.close)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 3, 4, 3)
        row.setSpacing(2)
        row.addWidget(self._label, 1)
        for button in (self._float, self._close):
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            row.addWidget(button)
        self.apply_theme()

    def set_slim(self, slim: bool) -> None:
        for widget in (self._label, self._float, self._close):
            widget.setVisible(not slim)
        row = self.layout()
        assert row is not None
        row.setContentsMargins(*((0, 0, 0, 0) if slim else (10, 3, 4, 3)))
        self.setMaximumHeight(0 if slim else UNBOUNDED)

    def apply_theme(self) -> None:
        self._float.setIcon(icon("float"))
        self._close.setIcon(icon("close"))
        self._label.setStyleSheet(f"color: {theme.current().muted}; font-weight: 600;")
