"""Nested dissection: in which order the unknowns of a mesh's Laplacian are eliminated, so that few numbers fill in.

The vertices are cut in two halves across their longest axis, the vertices at the cut come last, and each half is cut in
turn. A surface of n vertices fills O(n log n) entries. George, "Nested dissection of a regular finite element mesh",
1973; cut by coordinates as in Gilbert, Miller, Teng, "Geometric mesh partitioning", 1998.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]

LEAF = 16  # vertices of a part that is not cut any more


def nested_dissection(places: Array, edges: Index) -> Index:
    """Return which vertex is eliminated at each step, (V,), from places (V, d) and edges (2, E) in both directions."""
    n = len(places)
    source, target = edges
    code = np.zeros(n, np.int64)  # in base 3, a digit for each cut: 0 one half, 1 the other, 2 at the cut
    part = np.zeros(n, np.int64)  # -1: was at a cut
    for _ in range(max(0, int(np.ceil(np.log2(max(n, 1) / LEAF))))):
        right = _halves(places, part)
        # edges that are cut here: between vertices at earlier cuts nothing is left to separate
        inside = (part[source] >= 0) & (part[source] == part[target])
        source, target = source[inside], target[inside]
        at_cut = np.zeros(n, bool)
        at_cut[source[~right[source] & right[target]]] = True
        left = part >= 0
        code = 3 * code + np.where(at_cut, 2, right & left)
        part = np.where(left & ~at_cut, 2 * part + right, -1)
    return np.argsort(code, kind="stable")


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
