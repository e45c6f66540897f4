"""Sums of Chebyshev polynomials against numpy's, their derivatives against those of the plain recurrence."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

import models.layers.graph.chebyshev
from models.layers.graph.chebyshev import series
from models.layers.graph.propagation import Operator, operator

NODES, EDGES = 30, 140
SUMS = ((0.3, -1.0, 0.5, 0.25, 2.0), (1.0,), (0.0, 0.7))


def made(kind: str) -> tuple[Operator, float, Tensor]:
    """Return an operator of edges that go one way, a scale that brings its spectrum into [0, 2], and features."""
    chance = torch.Generator().manual_seed(1)
    edge_index = torch.randint(NODES, (2, EDGES), generator=chance)
    weight = torch.rand(EDGES, generator=chance, dtype=torch.float64)
    found = operator(edge_index, NODES, kind, weight, torch.float64)
    return found, 0.4, torch.randn(NODES, 5, generator=chance, dtype=torch.float64)


def plainly(of: Operator, scale: float, x: Tensor) -> Tensor:
    y = lambda v: of(v) * scale - v  # noqa: E731
    terms = [x, y(x)]
    while len(terms) < max(map(len, SUMS)):
        terms.append(2 * y(terms[-1]) - terms[-2])
    return torch.cat([sum((c * t for c, t in zip(cs, terms, strict=False)), 0 * x) for cs in SUMS], 1)


@pytest.mark.parametrize("kind", ["laplacian", "adjacency"])
@pytest.mark.parametrize("cache", [2**20, 1])
def test_the_sums_are_polynomials_of_the_matrix(kind: str, cache: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models.layers.graph.chebyshev, "CACHE", cache)
    monkeypatch.setattr(models.layers.graph.chebyshev, "CACHE_LINE", 16)  # two columns at a time
    of, scale, x = made(kind)
    y = scale * of(torch.eye(NODES, dtype=torch.float64)).numpy() - np.eye(NODES)
    found = series(of, scale, SUMS, x)
    assert found.shape == (NODES, 15)
    for k, c in enumerate(SUMS):
        powers = [np.linalg.matrix_power(y, i) for i in range(len(c))]
        polynomial = sum(p * a for p, a in zip(powers, np.polynomial.chebyshev.cheb2poly(c), strict=False))
        np.testing.assert_allclose(found[:, 5 * k : 5 * k + 5], polynomial @ x.numpy(), atol=1e-12)


@pytest.mark.parametrize("kind", ["laplacian", "adjacency"])
def test_it_is_differentiated_twice_and_forwards(kind: str) -> None:
    of, scale, x = made(kind)
    found = []
    for way in (lambda v: series(of, scale, SUMS, v), lambda v: plainly(of, scale, v)):
        given = x.clone().requires_grad_(True)
        out = way(given)
        v = torch.cos(torch.arange(out.numel(), dtype=torch.float64)).view_as(out).requires_grad_(True)
        (slope,) = torch.autograd.grad((out * v).sum(), given, create_graph=True)
        (moved,) = torch.autograd.grad((slope * x.sin()).sum(), v)
        _, pushed = torch.func.jvp(way, (x,), (x.cos(),))
        found.append((out, slope, moved, pushed))
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


def test_what_is_given_stays_as_it_is() -> None:
    of, scale, x = made("laplacian")
    before = x.clone()
    series(of, scale, SUMS, x)
    assert torch.equal(x, before)
