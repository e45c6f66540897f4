"""Dirichlet energy of node fields: how much they still differ across edges. Numpy only.

tr(X^T L X) / ||X||^2 with L = I - D^-1/2 A D^-1/2 is at most 2, and 0 exactly for X = D^1/2 times constants: the
limit of over-smoothing (Oono and Suzuki, "Graph Neural Networks Exponentially Lose Expressive Power for Node
Classification", 2020; Cai and Wang, "A Note on Over-Smoothing for Graph Neural Networks", 2020).

It is a sum of squared differences over the edges, never ||X||^2 minus something: after many layers the energy is
1e-12 of the norm, which a difference of two large numbers could not show.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.graph.analysis.laplacian import degrees, inverse_root, symmetric_weights

BLOCK = 1 << 18  # numbers gathered at a time, so that they stay in the processor's cache


@dataclass(frozen=True, slots=True, eq=False)
class Bonds:
    """Pairs of joined nodes, listed once: ends (P,), weight (P,), and d^-1/2 of every node (N,)."""

    i: NDArray[np.int64]
    j: NDArray[np.int64]
    weight: NDArray[np.float64]
    root: NDArray[np.float64]


def bonds(
    edge_index: NDArray[np.integer], n: int, weights: NDArray[Any] | None = None, self_loops: bool = False
) -> Bonds:
    """Return what energies of any field on this graph need; made once for all layers.

    `self_loops` adds one of weight 1 to every node, as GCN does: then the fixed point of GCN's own propagation,
    (D + I)^1/2 times constants, is what has no energy (Cai and Wang's augmented Laplacian).

    Raises:
        ValueError: as `symmetric_weights`.
    """
    i, j, w = symmetric_weights(edge_index, n, weights)
    degree = degrees(i, j, w, n) + (1.0 if self_loops else 0.0)
    apart = i != j  # a self-loop joins nothing, but it counts in the degree
    return Bonds(i[apart], j[apart], w[apart], inverse_root(degree))


def dirichlet(field: NDArray[Any], on: Bonds) -> float:
    """Return tr(X^T L X) of a node field (N, ...), the sum over edges of w |x_i/sqrt(d_i) - x_j/sqrt(d_j)|^2."""
    rows = len(field)
    x = np.asarray(field).reshape(rows, -1) if rows else np.zeros((0, 1))
    if x.dtype not in (np.float32, np.float64):
        x = x.astype(np.float64)
    scaled = x * on.root.astype(x.dtype)[:, None]
    step = max(1, BLOCK // max(1, x.shape[1]))
    total = 0.0
    for start in range(0, len(on.i), step):
        part = slice(start, start + step)
        gap = scaled[on.i[part]]
        gap -= scaled[on.j[part]]
        total += float(on.weight[part] @ np.einsum("ec,ec->e", gap, gap))
    return total


def relative_energy(field: NDArray[Any], on: Bonds) -> float:
    """Return tr(X^T L X) / ||X||^2, in [0, 2]; NaN for a field of zeros or one that is not finite."""
    x = np.asarray(field)
    peak = float(np.abs(x).max(initial=0.0))
    if not (np.isfinite(peak) and peak > 0):
        return float("nan")
    x = x / peak  # squares of tiny and of huge values stay numbers
    flat = x.reshape(-1)
    norm = float(np.einsum("i,i->", flat, flat, dtype=np.float64))
    return dirichlet(x, on) / norm


def layer_energies(
    values: Mapping[str, NDArray[Any]],
    edges: NDArray[np.integer],
    weights: NDArray[Any] | None = None,
    self_loops: bool = False,
) -> dict[str, float]:
    """Return {layer: tr(X^T L X) / ||X||^2} of node fields {layer: (N, ...)} on one graph, in their order.

    Raises:
        ValueError: fields with different numbers of nodes; edges and weights as in `symmetric_weights`.
    """
    counts = {len(v) for v in values.values()}
    if len(counts) > 1:
        raise ValueError(f"node fields of one graph have the same number of rows, got {sorted(counts)}")
    if not counts:
        return {}
    on = bonds(edges, counts.pop(), weights, self_loops)
    return {name: relative_energy(field, on) for name, field in values.items()}
