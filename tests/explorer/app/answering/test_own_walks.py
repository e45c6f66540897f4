"""A network's own walks through its layers and parameters, which may leave or never end, are not asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import Step
from explorer.network.opening.files.trust import Trust
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
