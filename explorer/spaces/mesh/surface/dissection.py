"""Nested dissection: in which order the unknowns of a mesh's Laplacian are eliminated, so that few numbers fill in.

The vertices are cut in two halves across their longest axis, the vertices at the cut come last, and each half is cut in
turn. A surface of n vertices fills O(n log n) entries. George, "Nested dissection of a regular finite element mesh",
1973; cut by coordinates as in Gilbert, Miller, Teng, "Geometric mesh partitioning", 1998.

Where neighbours do not lie near each other, as in noise, steps along the edges from a few vertices far from each other
take the place of coordinates.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]

SMALL = 4000  # vertices up to which any order will do
WIDE = 6.0  # times √n vertices at the first cut, from which on it is no line across a surface
LANDMARKS = 4  # vertices that steps are counted from
LEAF = 16  # vertices of a part that is not cut any more
HUB = 4.0  # times √n neighbours, from which on a vertex is taken for one at a cut: there are 1.5 √n of these at most


def nested_dissection(places: Array, edges: Index) -> Index:
    """Return which vertex is eliminated at each step, (V,), from places (V, d) and edges (2, E) in both directions."""
    n = len(places)
    order, cut = _dissected(places, edges)
    if n <= SMALL or cut <= WIDE * np.sqrt(n):
        return order
    other, narrower = _dissected(_steps(n, edges), edges)
    return other if narrower < cut else order


def _dissected(places: Array, edges: Index) -> tuple[Index, int]:
    """Return the order, and how many vertices lie at the first cut."""
    n, first = len(places), 0
    source, target = edges
    # what has many neighbours joins all of them when it goes: the tip of a fan of n faces would fill n² entries
    hub = np.bincount(target, minlength=n) > max(LEAF, HUB * np.sqrt(n))
    code = np.where(hub, 2, 0)  # in base 3, a digit for each cut: 0 one half, 1 the other, 2 at the cut
    part = np.where(hub, -1, 0)  # -1: was at a cut
    for turn in range(max(0, int(np.ceil(np.log2(max(n, 1) / LEAF))))):
        right = _halves(places, part)
        # edges that are cut here: between vertices at earlier cuts nothing is left to separate
        inside = (part[source] >= 0) & (part[source] == part[target])
        source, target = source[inside], target[inside]
        at_cut = np.zeros(n, bool)
        at_cut[source[~right[source] & right[target]]] = True
        first = first if turn else int(np.count_nonzero(at_cut))
        left = part >= 0
        code = 3 * code + np.where(at_cut, 2, right & left)
        part = np.where(left & ~at_cut, 2 * part + right, -1)
    return np.argsort(code, kind="stable"), first


def _steps(n: int, edges: Index) -> Array:
    """Return how many edges lie between each vertex and some, (V, LANDMARKS), each far from those before."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    joined = csr_array((np.ones(edges.shape[1]), tuple(edges)), shape=(n, n))
    found, at = np.zeros((n, LANDMARKS)), 0
    for k in range(LANDMARKS):
        away = dijkstra(joined, unweighted=True, indices=at)
        found[:, k] = np.where(np.isfinite(away), away, n)  # another part
        at = int((found[:, : k + 1].min(1) if k else found[:, 0]).argmax())
    return found


def _halves(places: Array, part: Index) -> NDArray[np.bool_]:
    """Return which vertices lie in the upper half of their part along its longest axis; none of part -1 does."""
    inside = np.flatnonzero(part >= 0)
    found = np.zeros(len(part), bool)
    if not len(inside):
        return found
    order = inside[np.argsort(part[inside], kind="stable")]
    starts = np.flatnonzero(np.diff(part[order], prepend=-1))
    counts = np.diff(np.append(starts, len(order)))
    spans = np.maximum.reduceat(places[order], starts) - np.minimum.reduceat(places[order], starts)
    along = places[order, np.repeat(spans.argmax(1), counts)]
    number = np.repeat(np.arange(len(starts)), counts)
    sorted_ = order[np.lexsort((along, number))]
    rank = np.arange(len(order)) - np.repeat(starts, counts)
    found[sorted_[2 * rank >= np.repeat(counts, counts)]] = True
    return found
