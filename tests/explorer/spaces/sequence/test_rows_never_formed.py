"""A row of attention whose matrix is never formed stands in the part of a sequence, beside its picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import parse_chain
from explorer.network.inner import tiled
from explorer.spaces.sequence.drawing.values import TimePart
from explorer.square.frame import Square
from explorer.state.state import State

NETWORK = """
import torch
from torch import nn
import torch.nn.functional as F

INPUT_LAYOUT = "NTC"

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(4, 12), nn.Linear(4, 4)
    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, 2, 2)).permute(2, 0, 3, 1, 4)
        return x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.up, self.one, self.two = nn.Linear(3, 4), Block(), Block()
    def forward(self, x):
        return self.two(self.one(self.up(x)))
"""


def answered(tmp_path: Path, layer: str) -> Square:
    file = tmp_path / "net.py"
    file.write_text(NETWORK)
    state = State(f"{file}:Net", sample="random:60x3", steps=parse_chain("shift:7"), layer=layer, node=20)
    return LocalEngine({}, trust=True).answer(state, lambda: False).squares[0]


def whole(tmp_path: Path) -> np.ndarray:
    """Return the matrix of the second block, which is formed here."""
    part = answered(tmp_path, "two.attention").of(TimePart)
    assert part is not None and part.kind == "pair" and part.attended is None
    return np.asarray(part.values)


@pytest.mark.parametrize("layer", ["two.attention", "two.out", "two"])
def test_the_selected_step_has_its_row(layer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = whole(tmp_path)[:, 20].T
    monkeypatch.setattr(tiled, "MOST_FORMED", 16)
    square = answered(tmp_path, layer)
    part = square.of(TimePart)
    assert part is not None and part.attended is not None and part.attended.name == "two.attention"
    np.testing.assert_allclose(part.attended.row, expected, atol=1e-6)
    assert part.attended.moved is not None and part.attended.moved.shape == (60, 2)
    assert not part.attended.row.flags.writeable
    np.testing.assert_allclose(part.attended.row.sum(0), 1.0, atol=1e-5)


def test_the_stage_has_its_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = whole(tmp_path)
    monkeypatch.setattr(tiled, "MOST_FORMED", 16)
    square = answered(tmp_path, "two.attention")
    assert square.fx.shape == square.f_gx.shape == (2, 60, 60)
    np.testing.assert_allclose(square.fx, expected, atol=1e-6)
    assert square.difference is not None and torch.from_numpy(square.difference.copy()).isfinite().all()
