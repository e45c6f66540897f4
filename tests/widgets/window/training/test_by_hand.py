"""Rounds of a pair that are played when its numbers change: told how far they are, ended when nobody waits for them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

import main
from explorer.app.answering.engine import LocalEngine
from explorer.state.catalogue import Busy
from explorer.state.state import State
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, settle


@pytest.fixture
def start() -> Callable[[], LocalEngine]:
    return lambda: LocalEngine(main.cards())


def test_rounds_are_told_and_can_be_given_up(qtbot: QtBot, open_window: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """They ran for up to 20 s without a word, also when another number was wanted by then."""
    monkeypatch.setattr("explorer.app.thread.runner.BUSY_AFTER", 0.0)
    window = open_window(State("gan-by-hand", device="cpu"))
    shares: list[float] = []
    cancelled: list[bool] = []

    ended: list[bool] = []

    def hear(busy: Busy) -> None:
        if cancelled and not busy.text:
            ended.append(True)
        if busy.text.startswith("Playing the rounds") and busy.fraction is not None:
            shares.append(busy.fraction)
            if not cancelled:
                cancelled.append(True)
                window.cancel()

    window.controller.busy.connect(hear)
    told: list[str] = []
    window.controller.failed.connect(lambda failure: told.append(failure.sentence))
    window.controller.change({"params": (("together", 1000.0), ("d_alone", 500.0), ("g_alone", 500.0))})
    qtbot.waitUntil(lambda: bool(ended), timeout=LONGEST_MS)
    assert shares and max(shares) < 0.9, "what was left of the rounds was not played"
    assert not told
    # a newer number does not wait for the rounds of the one before
    shares.clear()
    window.controller.change({"params": (("together", 1000.0), ("d_alone", 400.0), ("g_alone", 500.0))})
    qtbot.waitUntil(lambda: bool(shares), timeout=LONGEST_MS)
    window.controller.change({"params": (("together", 20.0),)})
    settle(qtbot, window)
    frame = window.controller.frame
    assert frame is not None and dict(frame.state.params) == {"together": 20.0}
