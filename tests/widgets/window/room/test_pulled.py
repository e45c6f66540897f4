"""A panel's tab is pulled out of its group, dragged on and dropped; groups never float, for that crashes Qt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QCursor
from PySide6.QtWidgets import QApplication, QDockWidget, QLabel, QMainWindow, QMenu, QTabBar, QWidget
from pytestqt.qtbot import QtBot

from tests.widgets.parts.driving import mouse
from widgets.base.look import theme
from widgets.base.view import View, ViewSpec
from widgets.window.room.docks import Docks
from widgets.window.room.panes import Seat
from widgets.window.room.pulled import let_go as end_drag

MOST_MS = 20_000


class Room(QMainWindow):
    """A window with nothing but a centre and ten panels, which are never filled."""

    def __init__(self) -> None:
        super().__init__()
        self.setCentralWidget(QLabel("centre"))
        self.resize(1000, 750)
        areas = ("left", "right", "bottom", "bottom")
        self.seats = [
            Seat(ViewSpec(f"v{k}", f"View {k}", make=View, area=areas[k % 4], order=k, summary="…")) for k in range(10)
        ]
        self.docks = Docks(self, self.seats)


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[Room]:
    room = Room()
    qtbot.addWidget(room)
    with qtbot.waitExposed(room):
        room.show()
    room.docks.reset()
    watched = Qt.ContextMenuPolicy.CustomContextMenu
    qtbot.waitUntil(lambda: any(b.isVisible() and b.contextMenuPolicy() == watched for b in room.findChildren(QTabBar)))
    yield room
    end_drag()  # of a test that failed: a window that goes in the middle of one crashes Qt


def group(window: Room) -> tuple[QTabBar, QDockWidget]:
    """Return the bar of the group with most tabs, and the panel of its second tab."""
    bars = [bar for bar in window.findChildren(QTabBar) if bar.parent() is window and bar.isVisible()]
    bar = max(bars, key=QTabBar.count)
    return bar, next(d for d in window.docks.docks.values() if d.windowTitle() == bar.tabText(1))


def move(to: QWidget, pointer: QPoint) -> None:
    """Move the pointer of the display, with the left button held."""
    QCursor.setPos(pointer)
    mouse.move(to, to.mapFromGlobal(pointer), mouse.LEFT)


def let_go(of: QWidget, pointer: QPoint) -> None:
    mouse.release(of, of.mapFromGlobal(pointer))


def pull(qtbot: QtBot, bar: QTabBar, dock: QDockWidget, way: Sequence[QPoint]) -> None:
    """Press the second tab and drag it until its panel floats."""
    at = bar.tabRect(1).center()
    mouse.press(bar, at)
    for step in way:
        move(bar, bar.mapToGlobal(at) + step)
    qtbot.waitUntil(dock.isFloating, timeout=MOST_MS)


def test_a_tab_pulled_off_its_bar_floats_under_the_pointer(qtbot: QtBot, window: Room) -> None:
    bar, dock = group(window)
    tabs = bar.count()
    pull(qtbot, bar, dock, [QPoint(0, 20), QPoint(30, 90)])
    here = QCursor.pos()
    assert dock.frameGeometry().contains(here)
    assert abs(dock.y() - here.y()) < 60, "its title is what is held"
    move(dock, here + QPoint(100, 60))
    # it follows
    qtbot.waitUntil(lambda: dock.frameGeometry().contains(here + QPoint(100, 60)), timeout=MOST_MS)
    let_go(dock, here + QPoint(100, 60))
    assert dock.isFloating() and dock.isVisible()
    assert bar.count() == tabs - 1
    assert QWidget.mouseGrabber() is None


def test_what_was_pulled_out_is_dropped_on_another_side(qtbot: QtBot, window: Room) -> None:
    bar, dock = group(window)
    before = window.dockWidgetArea(dock)
    other = next(
        d for d in window.docks.docks.values() if window.dockWidgetArea(d) != before and not d.visibleRegion().isEmpty()
    )
    pull(qtbot, bar, dock, [QPoint(0, 20), QPoint(30, 90)])
    goal = other.mapToGlobal(other.rect().center())
    for share in range(1, 6):
        here = QCursor.pos()
        move(dock, here + (goal - here) * (share / 5))
    let_go(dock, goal)
    qtbot.waitUntil(lambda: not dock.isFloating(), timeout=MOST_MS)
    assert window.dockWidgetArea(dock) == window.dockWidgetArea(other) != before


@pytest.mark.parametrize("how", ["reset", "restore", "close"])
def test_the_panels_may_be_laid_out_anew_or_go_in_the_middle_of_a_drag(qtbot: QtBot, window: Room, how: str) -> None:
    bar, dock = group(window)
    layout = window.docks.save()
    pull(qtbot, bar, dock, [QPoint(0, 20), QPoint(30, 90)])
    move(dock, QCursor.pos() + QPoint(100, 60))
    assert QWidget.mouseGrabber() is dock
    if how == "close":
        end_drag()
        window.close()
    else:
        window.docks.reset() if how == "reset" else window.docks.restore(layout)
        assert not dock.isFloating()
    assert QWidget.mouseGrabber() is None


def test_a_short_drag_along_the_bar_pulls_nothing_out(qtbot: QtBot, window: Room) -> None:
    bar, dock = group(window)
    at = bar.tabRect(1).center()
    mouse.press(bar, at)
    for along in (10, 40, 70):
        move(bar, bar.mapToGlobal(at) + QPoint(along, 8))
    let_go(bar, bar.mapToGlobal(at))
    move(bar, bar.mapToGlobal(at) + QPoint(0, 80))  # nothing is held any more
    QApplication.processEvents()
    assert not dock.isFloating()


def test_groups_of_tabs_never_float_and_nothing_slides(window: Room) -> None:
    """Qt ends the program in drags of its windows of groups, and where a window goes while a panel slides home."""
    options = QMainWindow.DockOption
    assert not window.dockOptions() & (options.GroupedDragging | options.AnimatedDocks)


def test_a_panel_behind_another_floats_large_and_filled(qtbot: QtBot, window: Room) -> None:
    """Floated by its menu it was 20 pixels wide, in the corner of the screen, or empty, and had no outline."""
    bar, dock = group(window)
    seat = next(seat for seat in window.seats if seat.spec.name == dock.objectName())
    assert dock.visibleRegion().isEmpty() and seat.isHidden()
    bar.customContextMenuRequested.emit(bar.tabRect(1).center())
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    next(action for action in menu.actions() if action.text() == "Float").trigger()
    menu.close()
    qtbot.waitUntil(lambda: dock.isFloating() and seat.isVisible(), timeout=MOST_MS)
    assert dock.width() >= 320 and dock.height() >= 240
    assert window.geometry().contains(dock.geometry().center())
    edge = QColor(theme.current().edge).name()
    picture = dock.grab().toImage()
    for corner in (QPoint(0, 0), QPoint(dock.width() - 1, dock.height() - 1), QPoint(dock.width() // 2, 0)):
        assert picture.pixelColor(corner).name() == edge
    dock.setFloating(False)
    qtbot.waitUntil(lambda: not dock.isFloating(), timeout=MOST_MS)
