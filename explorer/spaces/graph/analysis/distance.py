"""Hops to a node, and what is known of an influence at each of them. Numpy, and scipy where it is called."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray


def hop_distances(edge_index: NDArray[np.integer], n: int, node: int) -> NDArray[np.int64]:
    """Return (n,) the least number of edges from each node j to `node`, -1 where there is no way.

    Edges are followed in their direction, as messages are: j influences `node` after that many rounds, not before.

    Raises:
        ValueError: a node that is not there.
    """
    import scipy.sparse as sp
    from scipy.sparse.csgraph import breadth_first_order

    if not 0 <= node < n:
        raise ValueError(f"there is no node {node}; there are {n} (from 0)")
    edges = np.asarray(edge_index, dtype=np.int64)
    back = sp.csr_matrix((np.ones(edges.shape[1], np.int8), (edges[1], edges[0])), shape=(n, n))
    order, before = breadth_first_order(back, node, directed=True, return_predecessors=True)
    # an order by breadth is an order by distance: each level is the run of those whose predecessor is in the one before
    place = np.full(n, -1, np.int64)
    place[order] = np.arange(len(order))
    parents = place[before[order[1:]]]  # ascending
    distance = np.full(n, -1, np.int64)
    distance[node] = 0
    start, end, hops = 0, 1, 0
    while end < len(order):
        until = 1 + int(np.searchsorted(parents, end, "left"))
        hops += 1
        distance[order[end:until]] = hops
        start, end = end, until
        if start == end:
            break
    return distance


def jacobian_by_distance(influence: NDArray[Any], distance: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return the mean influence of the nodes at each distance 0, 1, 2, ... (hops,); unreachable ones are left out."""
    return _by_distance(influence, distance, np.mean)


def median_by_distance(influence: NDArray[Any], distance: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return the median influence of the nodes at each distance, (hops,)."""
    return _by_distance(influence, distance, np.median)


def _by_distance(influence: NDArray[Any], distance: NDArray[np.integer], of: Any) -> NDArray[np.float64]:
    values, hops = np.asarray(influence, dtype=np.float64), np.asarray(distance)
    order = np.argsort(hops, kind="stable")
    ends = np.searchsorted(hops[order], np.arange(int(hops.max(initial=-1)) + 2))
    parts = [values[order[a:b]] for a, b in pairwise(ends)]
    return np.array([float(of(part)) if len(part) else np.nan for part in parts])
