"""In idle time a frame names the layers that an audit names, where measures of guessed fields blame others."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import parse_chain
from explorer.state.state import State
from tests.explorer.parts.small_cards import CARDS

NETWORK = """
import torch
from torch import nn

INPUT_SEQUENCE = (2,)

class Ramp(nn.Module):
    def forward(self, x):
        return x * torch.linspace(1, FAULT, x.shape[1], dtype=x.dtype)[:, None]

class Net(nn.Module):
    \"\"\"Reads both ways with one network: alone it breaks the law of reversal, twice it does not.\"\"\"

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first = Ramp()
        self.there = nn.GRU(2, 3, batch_first=True)

    def forward(self, x):
        x = self.first(x)
        return self.there(x)[0] + self.there(x.flip(1))[0].flip(1)
"""


@pytest.mark.parametrize(("fault", "guilty"), [("1.1", ("first",)), ("1", ())])
def test_layers_whose_faults_cancel_are_acquitted(tmp_path: Path, fault: str, guilty: tuple[str, ...]) -> None:
    path = tmp_path / "net.py"
    path.write_text(NETWORK.replace("FAULT", fault))
    engine = LocalEngine(CARDS, trust=True)
    frame = engine.answer(State(model=f"{path}:Net", sample="sine", steps=parse_chain("reverse")), lambda: False)
    *_, last = engine.refine(frame)
    square = last.squares[0]
    assert square.verdict == ("broken" if guilty else "holds") and square.guilty == guilty
    assert not any("there" in hint for hint in square.hints)


TURNED = """
import torch
from torch import nn

class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 5, padding=2, padding_mode="circular")
        self.conv2 = nn.Conv2d(8, 8, 3, padding=1, padding_mode="circular")

    def forward(self, x):
        return self.conv2(self.conv1(x))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(4)
        self.body = Body()
        self.fc = nn.Linear(8, 10)

    def forward(self, x):
        return self.fc(torch.relu(self.body(x)).mean((2, 3)))
"""


def test_errors_that_cancel_on_one_picture_by_chance_leave_their_layers_guilty(tmp_path: Path) -> None:
    """On this digit each convolution alone does fifteen times the harm that both do, on others not."""
    path = tmp_path / "net.py"
    path.write_text(TURNED)
    engine = LocalEngine(CARDS, trust=True)
    frame = engine.answer(State(model=f"{path}:Net", sample="digit-3", steps=parse_chain("rotate:90")), lambda: False)
    *_, last = engine.refine(frame)
    square = last.squares[0]
    assert (square.verdict, square.guilty) == ("broken", ("body.conv1", "body.conv2"))
