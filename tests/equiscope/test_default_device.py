"""Networks are measured where they are, whatever `torch.set_default_device` says: a meta device stands for a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import equiscope
from equiscope import check_equivariance


class Neighbours(nn.Module):
    """Hear of the mean of all that an edge comes from."""

    def __init__(self) -> None:
        super().__init__()
        self.own = nn.Linear(4, 3)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.own(x)
        return h.new_zeros(h.shape).index_add(0, edge_index[1], h[edge_index[0]])


class Distances(nn.Module):
    """Return the sum of the distances from each point to all."""

    def forward(self, position: Tensor) -> Tensor:
        return (position[:, None] - position[None]).square().sum(-1).sum(1, keepdim=True)


def pictures(axes: int) -> nn.Module:
    layer = nn.Conv2d if axes == 2 else nn.Conv3d
    return nn.Sequential(layer(1, 3, 3, padding=1), nn.ReLU(), layer(3, 2, 3, padding=1))


def sequences() -> nn.Module:
    return nn.Sequential(nn.Conv1d(2, 3, 3, padding=1), nn.ReLU(), nn.Conv1d(3, 2, 3, padding=1))


Made = tuple[Callable[[], nn.Module], Callable[[], Any]]
SET: Made = (lambda: nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2)), lambda: torch.randn(10, 4))
GRAPH: Made = (Neighbours, lambda: (torch.randn(8, 4), torch.randint(0, 8, (2, 20))))
IMAGES: Made = (lambda: pictures(2), lambda: torch.randn(2, 1, 9, 9))
VOLUMES: Made = (lambda: pictures(3), lambda: torch.randn(1, 1, 7, 7, 7))
SERIES: Made = (sequences, lambda: equiscope.sequence(np.random.default_rng(0).standard_normal((40, 2)), "NCT"))
POINTS: Made = (Distances, lambda: equiscope.points(position=torch.randn(9, 3)))
CASES: dict[str, tuple[Made, str]] = {
    **{f"images, {group}": (IMAGES, group) for group in ("C4", "D4", "SO2", "O2", "translation")},
    **{f"volumes, {group}": (VOLUMES, group) for group in ("O", "Oh", "Z3")},
    **{f"series, {group}": (SERIES, group) for group in ("shift", "reversal")},
    "set": (SET, "permutation"),
    "graph": (GRAPH, "permutation"),
    **{f"points, {group}": (POINTS, group) for group in ("permutation", "SO3", "E3")},
}


@contextmanager
def by_default(device: str | None) -> Iterator[None]:
    torch.set_default_device(device)
    try:
        yield
    finally:
        torch.set_default_device(None)


@pytest.mark.parametrize("name", CASES)
def test_the_report_is_the_same(name: str) -> None:
    (make, draw), group = CASES[name]
    reports = []
    for device in (None, "meta"):
        torch.manual_seed(0)
        model, given = make(), draw()
        with by_default(device):
            reports.append(check_equivariance(model, given, group))
    here, there = reports
    assert (here.verdict, here.guilty, here.warnings) == (there.verdict, there.guilty, there.warnings)
    assert here.layers and len(here.layers) == len(there.layers)
    for one, other in zip(here.layers, there.layers):
        # a processor's kernels may round by where in memory a tensor lies
        assert (one.cumulative is None) == (other.cumulative is None)
        if one.cumulative is not None:
            assert other.cumulative == pytest.approx(one.cumulative, rel=1e-6, abs=1e-9)
