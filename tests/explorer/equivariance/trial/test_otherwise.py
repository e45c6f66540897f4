"""Fields of vectors on the plane: judged where they are declared, and named where scalars break their law."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from equiscope import check_equivariance
from explorer.declare.types.field_text import parse_field
from explorer.spaces.grid.elements.affine import Affine, as_linear


class Slope(nn.Module):
    """Central differences on a torus, to the right and then down, or otherwise as is asked for."""

    def __init__(self, axes: str = "", one_sided: bool = False) -> None:
        super().__init__()
        self.axes, self.one_sided = axes, one_sided

    def forward(self, p: Tensor) -> Tensor:
        right = (p.roll(-1, -1) - p.roll(1, -1)) / 2
        down = p.roll(-1, -2) - p if self.one_sided else (p.roll(-1, -2) - p.roll(1, -2)) / 2
        match self.axes:
            case "up":
                return torch.cat([right, -down], 1)
            case "yx":
                return torch.cat([down, right], 1)
        return torch.cat([right, down], 1)


X = torch.rand(2, 1, 11, 11, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("axes", ["", "up", "yx"])
def test_a_field_of_vectors_keeps_its_law_and_is_named(axes: str) -> None:
    text = f"grid plane vector {axes}".strip()
    network = nn.Sequential(nn.Conv2d(1, 1, 1), Slope(axes))
    assert check_equivariance(network, X, "D4", overrides={"1": text}).verdict == "holds"
    guessed = check_equivariance(network, X, "D4")
    assert guessed.verdict == "broken"
    assert any(f"say --field '1={text}'" in note for note in guessed.warnings)


def test_a_slope_to_one_side_is_none_of_them() -> None:
    network = nn.Sequential(nn.Conv2d(1, 1, 1), Slope(one_sided=True))
    assert not any("--field" in note for note in check_equivariance(network, X, "D4").warnings)
    report = check_equivariance(network, X, "D4", overrides={"1": "grid plane vector"})
    assert (report.verdict, report.guilty) == ("broken", ("1",))


def test_vectors_turn_with_the_plane() -> None:
    """The radial field about the centre is the same after any turn, to the resampling of a smooth function."""
    at = torch.linspace(-1, 1, 33, dtype=torch.float64)
    down, right = torch.meshgrid(at, at, indexing="ij")
    bump = torch.exp(-12 * (right**2 + down**2))
    radial = torch.stack([bump * right, bump * down])[None]
    c, s = math.cos(0.5), math.sin(0.5)
    turned = Affine(as_linear(np.array([[c, -s], [s, c]]))).act(radial, parse_field("grid plane vector"))
    assert float((turned - radial).norm() / radial.norm()) < 2e-3
    apart = Affine(as_linear(np.array([[c, -s], [s, c]]))).act(radial, parse_field("grid scalar"))
    assert float((apart - radial).norm() / radial.norm()) > 0.1
