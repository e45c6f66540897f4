"""Networks whose own walks may never end, and those that answer otherwise from the second call on, in the engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import Step
from explorer.network.opening.files.trust import Trust
from explorer.network.opening.refusals import ModelError
from explorer.network.tracing.layers import LayerError
from explorer.square.frame import Frame
from explorer.state.state import State

NET = """
import sys
from torch import nn

INPUT_SHAPE = (1, 16, 16)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.lin = nn.Conv2d(4, 2, 1)

    def forward(self, x):
        return self.lin(self.conv(x).relu())

    def WALK(self, *args, **kwargs):
        sys.exit(3)
"""


@pytest.fixture
def engine() -> Iterator[LocalEngine]:
    made = LocalEngine({}, trust=Trust(everything=True))
    yield made
    made.close()


@pytest.mark.parametrize("walk", ["parameters", "buffers", "named_modules", "modules"])
def test_its_own_walks_are_not_asked_for(engine: LocalEngine, tmp_path: Path, walk: str) -> None:
    """Once it is kept beside another one it was asked for its size, and that one waited for an answer without end."""
    for name in ("odd", "next"):
        path = tmp_path / f"{name}.py"
        path.write_text(NET.replace("WALK", walk if name == "odd" else "other"))
        state = State(f"{path}:Net", sample="ramp:1x1x16x16", steps=(Step("rotate", (90.0,)),))
        frame = engine.answer(state, lambda: False)
        *_, measured = engine.refine(frame)
        assert isinstance(measured, Frame) and measured.squares[0].layers


LATER = """
import torch
from torch import nn

INPUT_SHAPE = (1, 16, 16)

class Odd(nn.Module):
    inside = False

    def forward(self, x):
        return x if self.inside else x > 0

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.odd, self.conv = Odd(), nn.Conv2d(1, 2, 3, padding=1)

    def forward(self, x):
        self.odd.inside = True
        try:
            return self.conv(self.odd(x))
        finally:
            self.odd.inside = False
"""


def test_truth_values_of_a_layer_fed_alone_are_told_by_it(engine: LocalEngine, tmp_path: Path) -> None:
    """Torch says that the `-` operator with a bool tensor is not supported."""
    path = tmp_path / "net.py"
    path.write_text(LATER)
    state = State(f"{path}:Net", sample="ramp:1x1x16x16", steps=(Step("rotate", (90.0,)),))
    with pytest.raises(LayerError, match="layer odd gave real numbers before, and now bool values"):
        list(engine.refine(engine.answer(state, lambda: False)))


def test_a_network_that_cannot_be_hashed_is_told_what_to_change(engine: LocalEngine, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(NET.replace("WALK", "__eq__"))
    with pytest.raises(ModelError, match="its Net has an __eq__ and no __hash__"):
        engine.answer(State(f"{path}:Net", sample="ramp:1x1x16x16"), lambda: False)
