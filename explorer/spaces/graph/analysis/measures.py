"""Clustering coefficients and core numbers, as igraph counts them on the simple undirected graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from igraph import Graph

Index = NDArray[np.int64]


def neighbours(index: NDArray[np.integer], nodes: int) -> tuple[Index, Index]:
    """Return the simple undirected graph as (starts (nodes + 1,), others): rows of others[starts[i]:starts[i + 1]].

    Directions, self-loops and parallel edges are forgotten.
    """
    source, target = np.asarray(index, np.int64)
    kept = source != target
    keys = np.concatenate([source[kept] * nodes + target[kept], target[kept] * nodes + source[kept]])
    keys.sort()
    keys = keys[np.r_[True, keys[1:] != keys[:-1]]] if len(keys) else keys
    row, column = np.divmod(keys, max(nodes, 1))
    return np.concatenate([[0], np.cumsum(np.bincount(row, minlength=nodes))]).astype(np.int64), column


def simple_graph(index: NDArray[np.integer], nodes: int) -> Graph:
    """Return igraph's graph without directions, self-loops and parallel edges."""
    import igraph

    starts, others = neighbours(index, nodes)
    row = np.repeat(np.arange(nodes), np.diff(starts))
    return igraph.Graph(n=nodes, edges=np.stack([row, others], 1)[row < others])


def clustering(graph: Graph) -> NDArray[np.float64]:
    """Return (nodes,) local clustering coefficients: 2 t_i / (d_i (d_i - 1)), 0 where d_i < 2.

    D. J. Watts, S. H. Strogatz, 1998.
    """
    return np.array(graph.transitivity_local_undirected(mode="zero"), np.float64)


def core_numbers(graph: Graph) -> Index:
    """Return (nodes,) the largest k such that the node is in a subgraph of least degree k (S. B. Seidman, 1983)."""
    return np.array(graph.coreness(), np.int64)
