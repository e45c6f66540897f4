"""Clustering coefficients and core numbers of large graphs, without a loop over nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]
_PATHS = 4_000_000  # of two edges, looked up at a time: bounds the memory


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


def clustering(index: NDArray[np.integer], nodes: int) -> NDArray[np.float64]:
    """Return (nodes,) local clustering coefficients of the simple undirected graph.

    2 t_i / (d_i (d_i - 1)), 0 where d_i < 2 (D. J. Watts, S. H. Strogatz, 1998). Edges go from the lower to the higher
    degree, so that no node has more than sqrt(2 E) successors, whatever the hubs; then every two successors of a node
    are looked up among the edges.
    """
    starts, others = neighbours(index, nodes)
    degree = np.diff(starts)
    rank = np.empty(nodes, np.int64)
    rank[np.lexsort((np.arange(nodes), degree))] = np.arange(nodes)
    first, second = rank[np.repeat(np.arange(nodes), degree)], rank[others]
    keys = np.sort((first * nodes + second)[first < second])
    first, second = np.divmod(keys, max(nodes, 1))
    ends = np.cumsum(np.bincount(first, minlength=nodes))[first]
    more = ends - np.arange(len(keys)) - 1  # later successors of the same node
    total = np.concatenate([[0], np.cumsum(more)])
    triangles = np.zeros(nodes, np.int64)
    low = 0
    while low < len(keys):
        high = max(low + 1, int(np.searchsorted(total, total[low] + _PATHS, "right")) - 1)
        one = np.repeat(np.arange(low, high), more[low:high])
        other = np.arange(total[low], total[high]) - total[one] + one + 1
        wanted = second[one] * nodes + second[other]
        at = np.searchsorted(keys, wanted)
        at[at == len(keys)] = 0
        closed = np.flatnonzero(keys[at] == wanted)
        for corner in (first[one[closed]], second[one[closed]], second[other[closed]]):
            triangles += np.bincount(corner, minlength=nodes)
        low = high
    pairs = degree * (degree - 1.0)
    return np.asarray(np.divide(2.0 * triangles[rank], pairs, out=np.zeros(nodes), where=pairs > 0))


def core_numbers(index: NDArray[np.integer], nodes: int) -> Index:
    """Return (nodes,) the largest k such that the node is in a subgraph of least degree k.

    S. B. Seidman, 1983; by peeling all nodes of too small a degree at once, level after level.
    """
    starts, others = neighbours(index, nodes)
    degree = np.diff(starts)
    core = np.zeros(nodes, np.int64)
    left = np.ones(nodes, bool)
    level = 0
    remaining = np.arange(nodes)
    while len(remaining):
        level = max(level, int(degree[remaining].min()))
        shell = remaining[degree[remaining] <= level]
        while len(shell):
            left[shell] = False
            core[shell] = level
            count = starts[shell + 1] - starts[shell]
            place = np.repeat(starts[shell] - np.concatenate([[0], np.cumsum(count)[:-1]]), count)
            touched, times = np.unique(others[place + np.arange(count.sum())], return_counts=True)
            times, touched = times[left[touched]], touched[left[touched]]
            degree[touched] -= times
            shell = touched[degree[touched] <= level]
        remaining = remaining[left[remaining]]
    return core
