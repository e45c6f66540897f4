"""Lists of edges: an undirected edge is listed in both directions, a self-loop once, as torch_geometric does."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]


def both_ways(pairs: NDArray[np.integer]) -> tuple[Index, Index]:
    """List undirected edges in both directions: first all as given, then all that are no loops the other way round.

    Args:
        pairs: (edges, 2), the two ends of each.

    Returns:
        edge_index (2, listed) and origin (listed,): which of `pairs` each listed edge comes from.
    """
    ends = np.asarray(pairs, np.int64).reshape(-1, 2)
    back = np.flatnonzero(ends[:, 0] != ends[:, 1])
    index = np.empty((2, len(ends) + len(back)), np.int64)
    index[:, : len(ends)] = ends.T
    index[:, len(ends) :] = ends[back, ::-1].T
    return index, np.concatenate([np.arange(len(ends)), back])


def once(index: NDArray[np.integer]) -> Index:
    """Return (edges,) which of the listed edges stand for the undirected ones: those with from <= to."""
    return np.flatnonzero(index[0] <= index[1])


def is_symmetric(index: NDArray[np.integer], *values: NDArray[np.generic] | None) -> bool:
    """Return whether every edge is listed equally often in both directions, with the same values (edges, ...)."""
    if not index.size:
        return True
    nodes = int(index.max()) + 1
    there, back = index[0] * nodes + index[1], index[1] * nodes + index[0]
    columns = [np.asarray(v).reshape(index.shape[1], -1) for v in values if v is not None]
    columns = [c for c in columns if c.shape[1]]
    if not columns:
        return bool(np.array_equal(np.sort(there), np.sort(back)))
    table = np.concatenate([np.asarray(c, np.float64) for c in columns], axis=1)
    first, second = (np.lexsort((*table.T, keys)) for keys in (there, back))
    return bool(np.array_equal(there[first], back[second]) and np.array_equal(table[first], table[second]))


def seeds_of(label: NDArray[np.integer], index: NDArray[np.integer]) -> Index:
    """Tell one node of each class: the one with the most edges, the first of several; -1 elsewhere."""
    seeds = np.full(len(label), -1, np.int64)
    degree = np.bincount(index[1], minlength=len(label))
    for kind in np.unique(label[label >= 0]):
        members = np.flatnonzero(label == kind)
        seeds[members[degree[members].argmax()]] = kind
    return seeds
