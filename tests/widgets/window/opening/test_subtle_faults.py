"""Networks with one small fault, opened from the menu by a page that asks: the window names the layer that makes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import parse_chain
from explorer.state.state import State
from tests.explorer.parts.small_cards import CARDS
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, settle
from widgets.window.opening.page import ModelPage

TILTED = """
import torch
from torch import nn
import torch.nn.functional as F

def conv(a, b):
    return nn.Conv2d(a, b, 3, padding=1, padding_mode="circular")

class Tilt(nn.Module):
    def forward(self, x):
        return x + 0.02 * torch.linspace(0, 1, x.shape[-1], dtype=x.dtype)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.one, self.two, self.three, self.tilt = conv(3, 8), conv(8, 8), conv(8, 8), Tilt()
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        x = self.tilt(F.silu(self.two(F.silu(self.one(x)))))
        return self.head(F.silu(self.three(x)).mean((2, 3)))
"""
PAIR = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.left = nn.Conv2d(3, 6, 3, padding=1, padding_mode="circular")
        self.right = nn.Conv2d(1, 6, 3, padding=1)

    def forward(self, photo, depth):
        return (torch.relu(self.left(photo)) * torch.sigmoid(self.right(depth))).mean((2, 3))
"""
ROUNDS = """
import torch
from torch import nn

INPUT_SHAPE = (1, 29, 29)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first = nn.Conv2d(1, 4, 3, padding=1, padding_mode="circular")
        self.again = nn.Conv2d(4, 4, 3, padding=1, padding_mode="circular")

    def forward(self, x):
        y = torch.relu(self.first(x))
        for _ in range(1 + int(x.flatten().argmax()) % x.shape[-1] % 2):
            y = self.again(y)
        return y
"""
FAULTS = {
    "a tilt that the mean nearly hides": (TILTED, "tilt", "Broken by tilt"),
    "one of two images": (PAIR, "right", "Broken by right"),
    "a layer that is called again where the brightest place is odd": (ROUNDS, "output", "Broken from output on"),
}


@pytest.fixture
def start() -> Callable[[], LocalEngine]:
    return lambda: LocalEngine(CARDS)


@pytest.mark.parametrize("what", FAULTS)
def test_the_layer_is_named(
    qtbot: QtBot, tmp_path: Path, open_window: Open, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    text, guilty, said = FAULTS[what]
    path = tmp_path / "net.py"
    path.write_text(text)
    steps = parse_chain("translate:3,2,circular")
    window = open_window(State("fine", sample="digit-3", steps=steps, device="cpu"))
    monkeypatch.setattr(window.files, "ask_open", lambda *_: str(path))
    window.menus.actions["open_model"].trigger()
    qtbot.waitUntil(lambda: window.files.models.page is not None, timeout=LONGEST_MS)
    page = window.files.models.page
    assert isinstance(page, ModelPage)
    page.callables.setCurrentRow([e.name for e in page.found.callables].index("Net"))
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.controller.state.model.endswith("net.py:Net"), timeout=LONGEST_MS)
    settle(qtbot, window, measured=True)
    frame = window.controller.frame
    assert frame is not None and frame.squares[0].guilty == (guilty,)
    assert window.diagnosis.text.toolTip().startswith(said), "a layer that cannot be tested alone need not make it"
