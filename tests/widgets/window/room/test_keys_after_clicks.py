"""Keys of the element after a click: a button or a list that was used with the mouse takes none of them."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QCheckBox, QComboBox, QWidget
from pytestqt.qtbot import QtBot

from explorer.state.state import State
from tests.widgets.parts.driving.windows import Open, activate, settle
from widgets.base.controls.param_control import ParamControl
from widgets.spaces.grid.views.ladder import LadderView
from widgets.window.main_window import MainWindow


def click(qtbot: QtBot, window: MainWindow, widget: QWidget) -> None:
    """Click as a hand does: through the window, so that the button of the mouse is down while the focus moves."""
    at = widget.mapTo(window, widget.rect().center())
    QTest.mouseClick(window.windowHandle(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)
    qtbot.wait(1)


def press(window: MainWindow, key: Qt.Key) -> None:
    """Press a key as a hand does: whoever has the focus is asked first."""
    QTest.keyClick(window.windowHandle(), key)


def opened(qtbot: QtBot, open_window: Open) -> MainWindow:
    window = open_window(State("dense-to-conv", sample="letter-f", orbit="translate", device="cpu"))
    activate(qtbot, window)
    settle(qtbot, window)
    return window


def test_space_after_a_click_on_a_button_is_another_element(qtbot: QtBot, open_window: Open) -> None:
    window = opened(qtbot, open_window)
    inspector = window.panes.named("inspector")
    assert inspector is not None
    box = next(b for b in inspector.findChildren(QCheckBox) if b.isVisible())
    click(qtbot, window, box)
    assert box.isChecked() and box.hasFocus()
    before = window.controller.state.steps
    press(window, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: window.controller.state.steps != before)
    assert box.isChecked(), "the box was ticked once more"


def test_p_after_a_choice_plays_and_arrows_stay_with_the_choice(qtbot: QtBot, open_window: Open) -> None:
    window = opened(qtbot, open_window)
    inspector = window.panes.named("inspector")
    assert inspector is not None
    combo = next(c.combo for c in inspector.findChildren(ParamControl) if c.combo is not None and c.isVisible())
    assert isinstance(combo, QComboBox)
    click(qtbot, window, combo)
    qtbot.waitUntil(lambda: QApplication.activePopupWidget() is not None)
    qtbot.waitUntil(combo.view().isVisible)
    QTest.keyClick(combo.view(), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: QApplication.activePopupWidget() is None)
    activate(qtbot, window)
    combo.setFocus()
    row = combo.currentIndex()
    press(window, Qt.Key.Key_Down)
    assert combo.currentIndex() != row
    press(window, Qt.Key.Key_P)
    qtbot.waitUntil(lambda: window.controller.player.playing)
    window.controller.player.toggle()


def test_keys_stay_with_a_list_that_keys_have_led_to(qtbot: QtBot, open_window: Open) -> None:
    window = opened(qtbot, open_window)
    inspector = window.panes.named("inspector")
    assert inspector is not None
    combo = next(c.combo for c in inspector.findChildren(ParamControl) if c.combo is not None and c.isVisible())
    combo.setFocus()
    qtbot.waitUntil(combo.hasFocus)
    press(window, Qt.Key.Key_Tab)
    press(window, Qt.Key.Key_Backtab)
    qtbot.waitUntil(combo.hasFocus)
    press(window, Qt.Key.Key_P)
    qtbot.wait(50)
    assert not window.controller.player.playing


def test_arrows_after_a_click_on_a_slider_of_a_central_view_move_it_and_not_the_picture(
    qtbot: QtBot, open_window: Open
) -> None:
    window = open_window(State("back-propagation", sample="bar-row-2", orbit="translate", device="cpu"))
    activate(qtbot, window)
    window.show_view("ladder")
    settle(qtbot, window)
    ladder = window.panes.named("ladder")
    assert isinstance(ladder, LadderView)
    click(qtbot, window, ladder.slider)
    assert ladder.slider.hasFocus()
    ladder.slider.setValue(1)
    before = window.controller.state.steps
    press(window, Qt.Key.Key_Right)
    assert ladder.slider.value() == 2
    tabs = ladder.tabs.tabBar()
    tabs.setFocus()
    press(window, Qt.Key.Key_Right)
    assert ladder.tabs.currentIndex() == 1
    assert window.controller.state.steps == before
