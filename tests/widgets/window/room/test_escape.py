"""Esc in the whole window: back in the view that has the focus, or a cancellation where there is one to make."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

import main
from explorer.app.answering.engine import LocalEngine
from explorer.state.state import State
from tests.explorer.parts.small_cards import CARDS
from tests.widgets.parts.driving.windows import Open, settle
from widgets.spaces.pairs.views.pairs import PairsView
from widgets.window.main_window import MainWindow


@pytest.fixture
def start() -> Callable[[], LocalEngine]:
    return lambda: LocalEngine(CARDS)


def test_escape_leads_back_on_the_stage(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State("fine", device="cpu", channel=1))
    settle(qtbot, window, measured=True)
    qtbot.waitUntil(lambda: not window.status.doing.isVisible())
    held = window.focusWidget()
    assert held is not None and window.controller.state.channel == 1
    qtbot.keyClick(held, Qt.Key.Key_Escape)
    assert window.controller.state.channel is None
    settle(qtbot, window)
    window.say("error", "something")
    qtbot.keyClick(window.focusWidget() or held, Qt.Key.Key_Escape)  # nothing is left to lead back from
    assert not window.infobar.isVisible()


def test_escape_leads_back_from_the_boxes_beside_the_menus(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State("fine", device="cpu", channel=1))
    settle(qtbot, window, measured=True)
    qtbot.waitUntil(lambda: not window.status.doing.isVisible())
    for box in (window.quick.device, window.quick.dtype):
        window.controller.change({"channel": 1})
        settle(qtbot, window)
        qtbot.waitUntil(lambda: not window.status.doing.isVisible())
        box.setFocus()
        qtbot.keyClick(box, Qt.Key.Key_Escape)
        assert window.controller.state.channel is None


def test_escape_cancels_what_plays(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State("fine", device="cpu"))
    window.controller.player.start()
    held = window.focusWidget()
    assert held is not None
    qtbot.keyClick(held, Qt.Key.Key_Escape)
    assert not window.controller.player.playing


def test_the_command_of_a_file_has_its_trust() -> None:
    assert State("net.py:Net").command().endswith("--trust") and "--trust" not in State("fine").command()
    assert State("fine", compare="net.py:Net").command().endswith("--trust")


@pytest.mark.parametrize("panel", ["points", "errors"])
def test_escape_takes_a_selected_atom_back_from_any_panel(panel: str, qtbot: QtBot) -> None:
    """Views in space had no use for Esc: a selected atom stayed."""
    window = MainWindow(lambda: LocalEngine(main.cards()), State("egnn", sample="ethanol-3d", device="cpu", node=2))
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    window.controller.begin()
    settle(qtbot, window, measured=True)
    qtbot.waitUntil(lambda: not window.status.doing.isVisible())
    view = window.panes.named(panel)
    assert view is not None and window.controller.state.node == 2
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_Escape)
    assert window.controller.state.node is None
    window.close()


def test_escape_takes_a_selected_pair_back_where_it_was_clicked(qtbot: QtBot) -> None:
    """The matrix led back from one head to all, and ate the key where there is one head."""
    state = State("transformer-to-gcn", sample="karate", device="cpu", node=2, other=5)
    window = MainWindow(lambda: LocalEngine(main.cards()), state)
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    window.controller.begin()
    settle(qtbot, window, measured=True)
    window.show_view("pairs")
    view = window.panes.named("pairs")
    assert isinstance(view, PairsView) and window.controller.state.node == 2
    qtbot.waitUntil(lambda: bool(view.canvas.groups) and not window.status.doing.isVisible())
    view.canvas.setFocus()
    qtbot.keyClick(view.canvas, Qt.Key.Key_Escape)
    assert (window.controller.state.node, window.controller.state.other) == (None, None)
    window.close()
