"""Charts by keys alone, in a whole window: what a click chooses, Enter chooses."""

from __future__ import annotations

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from explorer.declare.elements import parse_chain
from explorer.state.state import State
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, activate, settle
from widgets.views.charts.errors import ChannelStrip


def test_a_channel_is_chosen_by_keys(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State("d4-cnn", sample="digit-3", steps=parse_chain("rotate:90"), layer="conv2"))
    settle(qtbot, window, measured=True)
    window.show_view("errors")
    activate(qtbot, window)
    view = window.panes.named("errors")
    assert view is not None
    strip = next(one for one in view.findChildren(ChannelStrip) if one.isVisible())
    strip.setFocus()
    said: list[str] = []
    view.hovered.connect(said.append)
    for _ in range(4):
        qtbot.keyClick(window.focusWidget() or window, Qt.Key.Key_Right)
    assert window.controller.state.channel is None and said[-1]
    qtbot.keyClick(window.focusWidget() or window, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.controller.state.channel == 3, timeout=LONGEST_MS)
