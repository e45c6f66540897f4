"""Networks whose answers or numbers are of an unusual kind, in the whole window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

import main
from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import Step
from explorer.state.state import State
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, open_window, settle

__all__ = ["open_window"]

SCORE = """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.head = nn.Conv2d(1, 4, 3, padding=1), nn.Linear(4, 1)

    def forward(self, image):
        return self.head(self.conv(image).relu().mean((2, 3))).squeeze(-1).tanh()
"""


@pytest.fixture
def start() -> Callable[[], LocalEngine]:
    return lambda: LocalEngine(main.cards(), trust=True)


def opened(open_window: Open, folder: Path, text: str) -> State:
    (folder / "net.py").write_text(text)
    return State(f"{folder / 'net.py'}:Net", sample="digit-3", steps=(Step("rotate", (90.0,)),), device="cpu")


def test_a_score_without_an_axis_has_a_curve_along_the_orbit(qtbot: QtBot, tmp_path: Path, open_window: Open) -> None:
    """The window said "IndexError: Dimension out of range", and no layer had a curve."""
    window = open_window(opened(open_window, tmp_path, SCORE))
    window.show_view("orbit")
    settle(qtbot, window, measured=True)
    done = window.controller
    qtbot.waitUntil(lambda: bool(done.curves) and done.curves[0].done == len(done.curves[0].values), timeout=LONGEST_MS)
    assert window.infobar.isHidden()
    assert {"conv", "head", "output"} <= set(done.curves[0].errors)
