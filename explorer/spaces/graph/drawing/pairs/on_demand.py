"""Choose how a dense field on pairs is kept: as an array, or worked out where it is looked at."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.graph.drawing.pairs.matrix import DensePairs, PairMatrix, Properties
from explorer.square.drawing.pair_rows import PairRows

MOST_WRITTEN = 1024  # places of a side that are written to a file; more are pooled


class RowsOnDemand(DensePairs):
    """A matrix that is never formed: what would need every row is said of evenly spaced ones."""

    def properties(self, heads: range, near: float) -> Properties:
        parts = [self._sampled(head).astype(np.float64) for head in heads]
        away = [self.masked(p) for p in parts]
        small = sum(int(np.count_nonzero((np.abs(p) <= near) & ~a)) for p, a in zip(parts, away))
        sums = np.concatenate([np.where(a, 0.0, p).sum(1) for p, a in zip(parts, away)])
        whole, hidden = sum(p.size for p in parts), sum(int(np.count_nonzero(a)) for a in away)
        share = small / (whole - hidden) if whole > hidden else 1.0
        masks = hidden / whole if whole else 0.0
        return Properties(near, share, None, (float(sums.min()), float(sums.max())), False, masks)


def dense(values: Any, order: NDArray[np.integer] | None) -> PairMatrix:
    """Return the matrix of values (heads, n, n) in an order of the nodes."""
    return RowsOnDemand(values, order) if isinstance(values, PairRows) else DensePairs(values, order)


def written(matrix: PairMatrix) -> NDArray[Any]:
    """Return all heads as an array, pooled where there are too many entries to write."""
    level = 0
    while isinstance(matrix, RowsOnDemand) and matrix.places(level) > MOST_WRITTEN:
        level += 1
    every = (0, matrix.places(level))
    return np.stack([matrix.tile(h, every, every, level) for h in range(matrix.heads)])
