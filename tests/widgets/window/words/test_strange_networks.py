"""Networks whose answers or numbers are of an unusual kind, in the whole window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

import main
from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import Step
from explorer.state.state import State
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, open_window, settle
from widgets.views.charts.values import ValuesView

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

HALF = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(1, 4, 3, padding=1).bfloat16(), nn.GroupNorm(2, 4)
        self.last = nn.Conv2d(4, 2, 1).bfloat16()

    def forward(self, image):
        x = self.norm(self.conv(image.bfloat16()).float())
        return self.last(x.bfloat16())
"""

DEAD = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.relu, self.last = nn.Conv2d(1, 9, 3, padding=1), nn.ReLU(), nn.Conv2d(9, 2, 1)
        with torch.no_grad():
            self.conv.bias[1:8] = -50.0

    def forward(self, image):
        return self.last(self.relu(self.conv(image)))
"""


@pytest.fixture
def start() -> Callable[[], LocalEngine]:
    return lambda: LocalEngine(main.cards(), trust=True)


def state_of(folder: Path, text: str) -> State:
    (folder / "net.py").write_text(text)
    return State(f"{folder / 'net.py'}:Net", sample="digit-3", steps=(Step("rotate", (90.0,)),), device="cpu")


def test_a_score_without_an_axis_has_a_curve_along_the_orbit(qtbot: QtBot, tmp_path: Path, open_window: Open) -> None:
    """The window said "IndexError: Dimension out of range", and no layer had a curve."""
    window = open_window(state_of(tmp_path, SCORE))
    failed: list[object] = []
    window.controller.failed.connect(failed.append)
    window.show_view("orbit")
    settle(qtbot, window, measured=True)
    done = window.controller
    qtbot.waitUntil(lambda: bool(done.curves) and done.curves[0].done == len(done.curves[0].values), timeout=LONGEST_MS)
    assert not failed
    assert {"conv", "head", "output"} <= set(done.curves[0].errors)


def test_casts_to_half_precision_are_said_to_be_what_stops_a_network(
    qtbot: QtBot, tmp_path: Path, open_window: Open
) -> None:
    """The window said which types torch had met, and not what to do."""
    window = open_window(State("d4-cnn", device="cpu"))
    window.controller.change({"model": state_of(tmp_path, HALF).model})
    qtbot.waitUntil(lambda: not window.infobar.isHidden(), timeout=LONGEST_MS)
    said = window.infobar.text.text()
    assert "layer conv raised RuntimeError" in said and "net.py, line 12" in said
    assert "it runs in bfloat16, as it was made, and is measured in float32: let its forward cast" in said
    # mended as it says, it is measured
    mended = HALF.replace("image.bfloat16()", "image.to(self.conv.weight.dtype)")
    mended = mended.replace(".float())", ".to(self.norm.weight.dtype))").replace(
        "x.bfloat16()", "x.to(self.last.weight.dtype)"
    )
    window.controller.change({"model": state_of(tmp_path, mended).model})
    window.controller.refresh()
    settle(qtbot, window, measured=True)
    assert window.controller.frame is not None and window.controller.frame.state.model.endswith("net.py:Net")


def test_the_panel_of_values_names_dead_channels(qtbot: QtBot, tmp_path: Path, open_window: Open) -> None:
    """Their number stood in a column of the layers alone, which is hidden at first."""
    window = open_window(replace(state_of(tmp_path, DEAD), layer="relu"))
    window.show_view("values")
    view = window.panes.named("values")
    assert isinstance(view, ValuesView)

    def header() -> str:
        return " ".join(text for text, _, _ in view.charts[0].header.parts)

    qtbot.waitUntil(lambda: "dead 7 of 9 channels (1, 2, 3, 4, 5, 6, …)" in header(), timeout=LONGEST_MS)
    window.controller.change({"layer": "conv"})
    settle(qtbot, window)
    qtbot.waitUntil(lambda: header().startswith("conv"), timeout=LONGEST_MS)
    assert "dead" not in header()
