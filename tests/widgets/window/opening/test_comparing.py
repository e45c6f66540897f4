"""Comparing with the weights of a file: what is no weights is told, and nothing is compared with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from explorer.app.answering.engine import LocalEngine
from explorer.state.state import State
from tests.explorer.parts.small_cards import CARDS
from tests.widgets.parts.driving.windows import Open


@pytest.fixture
def start() -> Callable[[], LocalEngine]:
    return lambda: LocalEngine(CARDS)


def test_a_file_that_holds_data_is_no_other_weights(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    path = tmp_path / "walk.csv"
    path.write_text("t,a\n0,1.5\n1,2.5\n2,3.5\n")
    window = open_window(State("fine", device="cpu"))
    told: list[str] = []
    window.controller.failed.connect(lambda failure: told.append(failure.sentence))
    window.files.comparing.with_weights(str(path))
    qtbot.waitUntil(lambda: bool(told), timeout=30_000)
    assert told == ["walk.csv holds data and no weights: choose a file of weights"]
    assert window.controller.state.compare == ""
