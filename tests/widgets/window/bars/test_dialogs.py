"""Pages over the window, by keys alone: the first field has the focus, Tab goes down the page, Esc closes it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QComboBox, QMainWindow, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import delete

import widgets
from tests.widgets.parts.driving.windows import LONGEST_MS
from tests.widgets.parts.frames.fake_engine import FakeEngine
from tests.widgets.parts.frames.sample_frames import make_frame
from widgets.base.controls.dialog import Dialog
from widgets.base.controls.text_page import TextPage
from widgets.base.text.paragraphs import PAGES, paragraphs
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


def test_f1_says_what_a_page_is_for_and_what_its_controls_do(qtbot: QtBot, window: MainWindow) -> None:
    window.files.export_view()
    page = page_of(qtbot)
    qtbot.waitUntil(lambda: isinstance(QApplication.focusWidget(), QComboBox))
    qtbot.keyClick(focused(), Qt.Key.Key_F1)
    qtbot.waitUntil(lambda: page.findChild(TextPage) is not None)
    shown = page.findChild(TextPage)
    assert shown is not None
    text = shown.toPlainText()
    assert "Saves the view that has the focus" in text
    assert "*" not in text, "a mark of the source is shown as it is"
    assert "Nothing shortened" in text and "gets smaller until all of it fits" in text
    qtbot.waitUntil(lambda: focused() is shown, timeout=LONGEST_MS)
    qtbot.keyClick(shown, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: page.findChild(TextPage) is None)
    assert page.isVisible(), "help alone is closed"


def test_every_page_says_what_it_is_for() -> None:
    written = paragraphs(PAGES)
    pages = {page for page in subclasses(Dialog) if page.__module__.startswith("widgets.")}
    assert pages and {page.about for page in pages} == set(written), "a page without a paragraph, or one too many"
    assert all(text.count(". ") >= 2 and len(text) > 150 for text in written.values())


def subclasses(kind: type[Dialog]) -> Iterator[type[Dialog]]:
    for package in pkgutil.walk_packages(widgets.__path__, "widgets."):
        importlib.import_module(package.name)
    return iter(kind.__subclasses__())
