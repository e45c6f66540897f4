"""Keys in a list that has been opened in a panel belong to that list; undo in a box of numbers to the window."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QComboBox
from pytestqt.qtbot import QtBot

from explorer.declare.elements import Step
from explorer.state.state import State
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, activate, settle


@pytest.mark.slow
def test_arrows_choose_in_an_open_list_and_shift_no_picture(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State("plain-cnn", sample="digit-3", steps=(Step("rotate", (90.0,)),), device="cpu"))
    activate(qtbot, window)
    window.show_view("saliency")
    view = window.panes.named("saliency")
    assert view is not None
    combo = next(c for c in view.findChildren(QComboBox) if c.isVisible() and c.isEnabled() and c.count() > 2)
    before = combo.currentIndex()
    qtbot.mouseClick(combo, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: QApplication.activePopupWidget() is not None, timeout=LONGEST_MS)
    focus = QApplication.focusWidget()
    assert focus is not None and focus.window() is not window
    QTest.keyClick(focus, Qt.Key.Key_Down)
    assert window.controller.state.steps == (Step("rotate", (90.0,)),)
    QTest.keyClick(focus, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: combo.currentIndex() == before + 1, timeout=LONGEST_MS)
    settle(qtbot, window)
    assert window.controller.state.steps == (Step("rotate", (90.0,)),)


@pytest.mark.slow
def test_undo_reaches_the_window_from_a_box_whose_number_was_taken(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State("plain-cnn", sample="digit-3", steps=(Step("rotate", (90.0,)),), device="cpu"))
    activate(qtbot, window)
    settle(qtbot, window)
    inspector = window.docks.docks["inspector"]

    def boxes() -> list[QAbstractSpinBox]:
        found = inspector.findChildren(QAbstractSpinBox)
        return [box for box in found if box.isVisible() and box.text().startswith("90")]

    qtbot.waitUntil(lambda: bool(boxes()), timeout=LONGEST_MS)
    box = boxes()[0]
    box.setFocus()
    box.selectAll()
    QTest.keyClicks(box, "45")
    QTest.keyClick(box, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert not box.text().startswith("45"), "what is being typed is the box's own to undo"
    assert window.controller.state.steps == (Step("rotate", (90.0,)),)
    box.selectAll()
    QTest.keyClicks(box, "45")
    QTest.keyClick(box, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.controller.state.steps == (Step("rotate", (45.0,)),), timeout=LONGEST_MS)
    QTest.keyClick(box, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert window.controller.state.steps == (Step("rotate", (90.0,)),)
    QTest.keyClick(box, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert window.controller.state.steps == (Step("rotate", (45.0,)),)
    settle(qtbot, window)
