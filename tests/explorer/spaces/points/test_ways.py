"""Networks on points that declare nothing: what moves with space is found by trial, and the faulty layer named."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import equiscope


class Layer(nn.Module):
    """One layer of EGNN: features h and places x, (points, channels) and (points, 3)."""

    def __init__(self, fault: str = "") -> None:
        super().__init__()
        self.message = nn.Sequential(nn.Linear(9, 8), nn.SiLU())
        self.update, self.weigh = nn.Linear(12, 4), nn.Linear(8, 3 if fault == "axes" else 1)
        self.fault = fault

    def forward(self, h: Tensor, x: Tensor, edge_index: Tensor) -> tuple[Tensor, Tensor]:
        i, j = edge_index
        way = x[i] - x[j]
        size = way.abs().sum(1, keepdim=True) if self.fault == "size" else (way**2).sum(1, keepdim=True)
        m = self.message(torch.cat([h[i], h[j], size], 1))
        heard = h.new_zeros(len(h), 8).index_add(0, i, m)
        return h + self.update(torch.cat([h, heard], 1)), x + 0.1 * torch.zeros_like(x).index_add(
            0, i, way * self.weigh(m)
        )


class Places(nn.Module):
    def __init__(self, *faults: str) -> None:
        super().__init__()
        self.layers = nn.ModuleList(map(Layer, faults))

    def forward(self, h: Tensor, x: Tensor, edge_index: Tensor) -> tuple[Tensor, Tensor]:
        for layer in self.layers:
            h, x = layer(h, x, edge_index)
        return h, x


class Mix(nn.Module):
    """Mixes vectors, (points, 3, channels); a bias points somewhere in space."""

    def __init__(self, bias: bool) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 4, bias=bias)

    def forward(self, v: Tensor) -> Tensor:
        found: Tensor = self.linear(v)
        return found


class Vectors(nn.Module):
    def __init__(self, bias: bool = False) -> None:
        super().__init__()
        self.mix, self.out = Mix(bias), nn.Linear(4, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        centred = x - x.mean(0)
        v = torch.stack([centred, centred * centred.norm(dim=1, keepdim=True)], -1)
        found: Tensor = self.out(self.mix(v)).squeeze(-1)
        return found


def cloud() -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(7, 3, generator=generator, dtype=torch.float64)
    edges = (~torch.eye(7, dtype=torch.bool)).nonzero().t()
    return {"x": torch.randn(7, 4, generator=generator, dtype=torch.float64), "position": x, "edge_index": edges}


def turned(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return a rotation with a mirror, a shift, and the places that they move."""
    matrix, _ = torch.linalg.qr(torch.randn(3, 3, generator=torch.Generator().manual_seed(5), dtype=torch.float64))
    shift = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    return matrix, shift, x @ matrix.T + shift


@pytest.mark.parametrize("faults", [("", "", ""), ("", "axes", ""), ("", "size", "")])
def test_egnn_is_judged_as_it_is(faults: tuple[str, ...]) -> None:
    torch.manual_seed(0)
    network, given = Places(*faults).double(), cloud()
    matrix, shift, moved = turned(given["position"])
    with torch.no_grad():
        h, x = network(*given.values())
        again, there = network(given["x"], moved, given["edge_index"])
    sound = torch.allclose(h, again) and torch.allclose(x @ matrix.T + shift, there)
    report = equiscope.check_equivariance(network, equiscope.points(**given), "E3", details=False)
    assert sound == (not any(faults)) == report.holds
    assert report.guilty == (("layers.1",) if any(faults) else ())


@pytest.mark.parametrize("bias", [False, True])
def test_vectors_with_channels_are_no_numbers(bias: bool) -> None:
    torch.manual_seed(0)
    network, x = Vectors(bias).double(), cloud()["position"]
    matrix, _, moved = turned(x)
    with torch.no_grad():
        assert torch.allclose(network(x) @ matrix.T, network(moved)) != bias
    report = equiscope.check_equivariance(network, equiscope.points(position=x), "E3", details=False)
    assert report.holds != bias
    assert set(report.guilty) <= {"mix", "mix.linear"} and bool(report.guilty) == bias


def test_points_say_what_they_need() -> None:
    x = torch.zeros(4, 3)
    with pytest.raises(ValueError, match=r"points need position="):
        equiscope.points(x=x)
    with pytest.raises(ValueError, match=r"no 'speed', but position"):
        equiscope.points(position=x, speed=x)
    with pytest.raises(ValueError, match=r"velocity has the shape \(3, 3\), and \(points, 3\) is needed"):
        equiscope.points(position=x, velocity=x[:3])
