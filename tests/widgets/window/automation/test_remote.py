"""Networks that hang or crash in a real window: it goes on with whatever the person chooses next."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

import main
from explorer.app.answering.engine import LocalEngine
from explorer.app.remote.engine import DividedEngine
from explorer.declare.elements import Step
from explorer.state.state import State
from tests.explorer.parts.misbehaving import ENDINGS, LINE, network, ramp
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, open_window, settle

__all__ = ["open_window"]

pytestmark = pytest.mark.slow
UPSIDE_DOWN, SIDEWAYS = (Step("rotate", (180.0,)),), (Step("rotate", (90.0,)),)


@pytest.fixture
def start() -> Callable[[], DividedEngine]:
    return lambda: DividedEngine(LocalEngine(main.cards(), trust=True), "main")


def state_of(folder: Path, how: str) -> State:
    return State(network(folder, ENDINGS[how]), sample=ramp(folder), steps=SIDEWAYS, device="cpu")


def test_a_network_that_hangs_is_stopped_and_the_window_goes_on(
    open_window: Open, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = open_window(state_of(tmp_path, "hang"))
    settle(qtbot, window, measured=True)
    good, bar, c = window.controller.frame, window.infobar, window.controller
    assert not bar.offering
    monkeypatch.setattr("explorer.app.thread.runner.STOP_AFTER", 0.5)  # not ten seconds of every run of the tests
    c.set_steps(UPSIDE_DOWN)
    qtbot.waitUntil(lambda: bar.offering, timeout=LONGEST_MS)
    # the orbit of before may have met the trap already, and is no answer either
    assert re.fullmatch(r"There has been no answer for 10 s \((computing|measuring)\)\.", bar.text.text())
    assert bar.stop_button.isVisible()
    qtbot.mouseClick(bar.stop_button, Qt.MouseButton.LeftButton)
    told = f"Net in net.py did not answer and was stopped in layer trap (net.py, line {LINE})."
    qtbot.waitUntil(lambda: bar.text.text() == told, timeout=LONGEST_MS)
    assert c.frame is not None and good is not None and c.frame.state == good.state  # the last good frame stays
    assert not bar.stop_button.isVisible() and window.status.doing.isHidden()
    monkeypatch.undo()
    c.set_steps(SIDEWAYS)
    settle(qtbot, window, measured=True)
    assert c.frame.squares[0].x.shape == good.squares[0].x.shape and not bar.isVisible()
    assert c.can_undo


def test_a_network_that_crashes_is_one_sentence_and_the_next_one_is_shown(
    open_window: Open, qtbot: QtBot, tmp_path: Path
) -> None:
    window = open_window(state_of(tmp_path, "segfault"))
    settle(qtbot, window, measured=True)
    c = window.controller
    c.set_steps(UPSIDE_DOWN)
    told = f"Net in net.py crashed (segmentation fault) in layer trap (net.py, line {LINE})."
    qtbot.waitUntil(lambda: window.infobar.text.text().startswith(told), timeout=LONGEST_MS)
    c.set_model("d4-cnn")
    settle(qtbot, window, measured=True)
    assert c.frame is not None and c.frame.squares[0].model == "d4-cnn"
    c.undo()
    c.set_steps(())
    settle(qtbot, window)
    assert c.frame.squares[0].model.endswith("net.py:Net") and c.frame.state.steps == ()


def test_a_saved_file_is_run_again_and_what_it_prints_is_in_the_log(
    open_window: Open, qtbot: QtBot, tmp_path: Path
) -> None:
    state = state_of(tmp_path, "hang")
    network(tmp_path, "return x")
    window = open_window(replace(state, layer="conv"))
    settle(qtbot, window, measured=True)
    c = window.controller
    network(tmp_path, "return ) x")
    qtbot.waitUntil(lambda: c.frame is not None and c.frame.stale is not None, timeout=LONGEST_MS)
    assert window.infobar.text.text().startswith(f"net.py, line {LINE}: SyntaxError")
    network(tmp_path, "print('upside down it is'); return x + 1")
    qtbot.waitUntil(lambda: c.frame is not None and bool(c.frame.reloaded), timeout=LONGEST_MS)
    c.set_steps(UPSIDE_DOWN)
    settle(qtbot, window, measured=True)
    window.show_view("log")
    log = window.panes.named("log")
    assert log is not None
    qtbot.waitUntil(lambda: "upside down it is" in log.text(), timeout=LONGEST_MS)
    assert "net.py was run again" in log.text() and c.state.layer == "conv"


def test_closing_ends_a_network_that_hangs(open_window: Open, qtbot: QtBot, tmp_path: Path) -> None:
    window = open_window(state_of(tmp_path, "wait"))
    ended: list[bool] = []
    window.closed.connect(ended.append)
    window.controller.set_steps(UPSIDE_DOWN)
    qtbot.waitUntil(lambda: not window.status.doing.isHidden(), timeout=LONGEST_MS)
    window.close()
    assert ended == [True]
