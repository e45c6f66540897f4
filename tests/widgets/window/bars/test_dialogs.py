"""Pages over the window, by keys alone: the first field has the focus, Tab goes down the page, Esc closes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QComboBox, QMainWindow, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from tests.widgets.parts.frames.fake_engine import FakeEngine
from tests.widgets.parts.frames.sample_frames import make_frame
from widgets.base.controls.dialog import Dialog
from widgets.window.bars.buttons import Corner
from widgets.window.main_window import MainWindow


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    made = MainWindow(FakeEngine)
    made.resize(1280, 800)
    with qtbot.waitExposed(made):
        made.show()
    made.controller.begin()
    qtbot.waitUntil(lambda: made.controller.frame is not None)
    yield made
    made.close()
    made.deleteLater()


def page_of(qtbot: QtBot) -> Dialog:
    def there() -> list[Any]:
        return [one for one in QApplication.topLevelWidgets() if isinstance(one, Dialog) and one.isVisible()]

    qtbot.waitUntil(lambda: bool(there()))
    return there()[0]


def focused() -> QWidget:
    found = QApplication.focusWidget()
    assert found is not None
    return found


def test_the_first_field_has_the_focus_and_esc_closes(qtbot: QtBot, window: MainWindow) -> None:
    window.files.export_view()
    page = page_of(qtbot)
    qtbot.waitUntil(lambda: isinstance(QApplication.focusWidget(), QComboBox))
    assert focused().accessibleName() == "Format"
    assert page.focus_ring.around() is None, "nobody has pressed Tab yet"
    qtbot.keyClick(focused(), Qt.Key.Key_Tab)
    qtbot.waitUntil(lambda: focused().accessibleName() == "Width")
    assert page.focus_ring.around() is focused()
    qtbot.keyClick(focused(), Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: QApplication.activeModalWidget() is None)


def test_the_ring_outlives_the_panel_that_it_was_in(qtbot: QtBot, window: MainWindow) -> None:
    """Qt makes it a child of where the focus is, and deletes it with that: the window could not be closed then."""
    page = Dialog(window)
    panel = QWidget(page)
    inside, beside = QPushButton("inside", panel), QPushButton("beside", page)
    QVBoxLayout(panel).addWidget(inside)
    column = QVBoxLayout(page)
    column.addWidget(panel)
    column.addWidget(beside)
    page.open()
    beside.setFocus()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is beside)
    qtbot.keyClick(beside, Qt.Key.Key_Tab)
    qtbot.waitUntil(lambda: page.focus_ring.around() is inside)
    delete(panel)
    assert page.focus_ring.around() is None
    beside.clearFocus()
    beside.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(lambda: page.focus_ring.around() is beside)
    page.close()
    assert page.focus_ring.around() is None


def test_tab_goes_down_the_page(qtbot: QtBot, window: MainWindow) -> None:
    window.files.export_view()
    page_of(qtbot)
    qtbot.waitUntil(lambda: isinstance(QApplication.focusWidget(), QComboBox))
    heights = [focused().mapToGlobal(focused().rect().center()).y()]
    for _ in range(5):
        before = focused()
        qtbot.keyClick(before, Qt.Key.Key_Tab)
        assert focused() is not before
        heights.append(focused().mapToGlobal(focused().rect().center()).y())
    assert heights == sorted(heights)
    qtbot.keyClick(focused(), Qt.Key.Key_Escape)


@pytest.mark.parametrize("what", ["keys", "about"])
def test_help_is_closed_by_esc(qtbot: QtBot, window: MainWindow, what: str) -> None:
    window.menus.asked.emit(what)
    page = page_of(qtbot)
    gone: list[bool] = []
    page.destroyed.connect(lambda *_: gone.append(True))
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: bool(gone))


def test_a_device_whose_name_becomes_longer_is_read_in_full(qtbot: QtBot) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    corner = Corner([])
    window.menuBar().addMenu("File")
    window.menuBar().setCornerWidget(corner)
    window.resize(900, 200)
    with qtbot.waitExposed(window):
        window.show()
    corner.show_frame(make_frame())
    corner.set_devices(["auto", "cpu"])  # once more, as with the pictures of the catalogue
    assert corner.device.itemText(0) == f"auto ({make_frame().device})"
    corner.device.setItemText(0, "auto (cuda:0)")
    qtbot.waitUntil(lambda: corner.device.width() >= corner.device.sizeHint().width())
    assert corner.geometry().right() <= window.menuBar().rect().right()
