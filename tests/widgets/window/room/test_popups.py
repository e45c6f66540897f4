"""Keys in a list that has been opened in a panel belong to that list."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox
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
