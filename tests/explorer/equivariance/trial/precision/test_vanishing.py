"""Values that are rounding alone are zero: no fault of layers that have nothing else to give, no excuse for others."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import models
from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import parse_chain
from explorer.declare.registry import scan
from explorer.equivariance.check import check_equivariance
from explorer.equivariance.trial.precision.vanishing import settled
from explorer.state.state import State

LINE = "3\nc\nC 0 0 0\nO {0}\nO {1}\n"
ASIDE, UPRIGHT = ("0.7 0.7 0.5", "-0.7 -0.7 -0.5"), ("0 0 1.16", "0 0 -1.16")


@pytest.mark.parametrize("ends", [ASIDE, UPRIGHT], ids=["aside", "upright"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_no_layer_is_accused_of_atoms_on_a_line(tmp_path: Path, ends: tuple[str, str], dtype: str) -> None:
    """Cross products of their ways are zero but for rounding, and so are the paths that make pseudo-vectors."""
    (tmp_path / "line.xyz").write_text(LINE.format(*ends))
    engine = LocalEngine(scan(models, "CARD"))
    state = State(
        model="tensor-field-network", sample=str(tmp_path / "line.xyz"), steps=parse_chain("rotation:40,25,10"),
        layer="layer2.product.paths.1o_x_1o_to_1e", dtype=dtype,
    )  # fmt: skip
    first = engine.answer(state, lambda: False)
    *_, frame = (first, *engine.refine(first))
    square = frame.squares[0]
    assert square.verdict == "holds" and square.guilty == ()
    assert len(square.measures) > 40 and all(m.verdict == "holds" for m in square.measures.values())


class Tiny(nn.Module):
    """A filter that has a direction, and gives hardly anything: (N, 1, h, w) -> the same."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 1, 3, padding=1, bias=False)
        self.scale = scale
        with torch.no_grad():
            self.conv.weight.copy_(torch.arange(9.0).view(1, 1, 3, 3) / 9)

    def forward(self, x: Tensor) -> Tensor:
        return self.scale * self.conv(x)


class Dead(nn.Module):
    """A ReLU that is silent on an image and alive on the turned one."""

    def forward(self, x: Tensor) -> Tensor:
        ramp = torch.linspace(-1.0, 1.0, x.shape[-1], dtype=x.dtype, device=x.device)
        return (x * ramp - 0.6).relu()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_small_values_and_silence_excuse_nobody(dtype: torch.dtype) -> None:
    image = torch.zeros(1, 1, 9, 9)
    image[..., 1:4, 0:4] = torch.rand(3, 4, generator=torch.Generator().manual_seed(0)) + 0.2
    found = check_equivariance(Tiny(1e-18), image, "C4", dtype=dtype)
    assert found.verdict == "broken" and found["conv"].local > 0.1
    found = check_equivariance(nn.Sequential(Dead()), image, "C4", dtype=dtype)
    assert found.verdict == "broken"


def test_what_is_small_is_zero_and_nothing_else_is_touched() -> None:
    small, large = torch.full((3,), 1e-20), torch.ones(3)
    assert not settled(1e-15, small).any() and settled(1e-15, large) is large and settled(0.0, small) is small
