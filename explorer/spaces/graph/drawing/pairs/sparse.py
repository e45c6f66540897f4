"""Sparse matrices over pairs of nodes: values on edges. They are never made dense: a tile is of what lies in it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.graph.drawing.pairs.figures import checked_order, ends_of, extremes_of
from explorer.spaces.graph.drawing.pairs.matrix import PairMatrix, Properties, Range
from explorer.spaces.graph.drawing.pairs.pooling import Floats, Pool


class EdgePattern:
    """The places of the entries of a sparse matrix in one order of the nodes; all values on the same edges share it.

    An edge listed twice is one entry, the sum of its values. `edges` is (2, E), from and to.
    """

    def __init__(self, n: int, edges: NDArray[np.integer], order: NDArray[np.integer] | None = None) -> None:
        self.n = n
        self.order, given = checked_order(order, n)
        place = self.order
        if not given:
            place = np.empty(n, np.int64)
            place[self.order] = np.arange(n)
        key = place[edges[1]] * np.int64(n) + place[edges[0]] if edges.size else np.zeros(0, np.int64)
        self.sort = np.argsort(key, kind="stable")
        key = key[self.sort]
        self.first = np.flatnonzero(np.diff(key, prepend=-1))
        self.keys = key[self.first]
        self.rows: NDArray[np.int64] = self.keys // max(1, n)
        self.columns: NDArray[np.int64] = self.keys % max(1, n)
        self.starts = np.searchsorted(self.rows, np.arange(n + 1))

    def __len__(self) -> int:
        return len(self.keys)

    def gather(self, values: NDArray[Any]) -> Floats:
        """Return the values (E, H) on the edges as those of the entries, (entries, H)."""
        given = values[:, None] if values.ndim == 1 else values
        given = given.astype(np.float64 if given.dtype == np.float64 else np.float32, copy=False)
        if len(self.first) == len(self.sort):
            return given[self.sort]
        return np.asarray(np.add.reduceat(given[self.sort], self.first, axis=0))

    @cached_property
    def mirrored(self) -> NDArray[np.int64]:
        """Return for each entry the index of the one at (column, row), or -1."""
        wanted = self.columns * np.int64(self.n) + self.rows
        found = np.minimum(np.searchsorted(self.keys, wanted), max(0, len(self.keys) - 1))
        return np.where(self.keys[found] == wanted, found, -1) if len(self.keys) else found


class SparsePairs(PairMatrix):
    """Values (E, heads), or (E,), on the edges of a pattern; every other entry is zero."""

    sparse = True

    def __init__(self, pattern: EdgePattern, values: NDArray[Any]) -> None:
        super().__init__()
        self.pattern, self.n, self.order = pattern, pattern.n, pattern.order
        self.values = pattern.gather(values)
        self.heads = self.values.shape[1] if values.ndim > 1 else 1
        self._columns: dict[int, Floats] = {}
        self._sums: dict[tuple[int, int], Floats] = {}
        self._sorted: dict[int, Floats] = {}

    def _of(self, head: int) -> Floats:
        if head not in self._columns:
            self._columns[head] = np.ascontiguousarray(self.values[:, head])
        return self._columns[head]

    def tile(self, head: int, rows: Range, columns: Range, level: int = 0, pool: Pool = "max") -> Floats:
        pattern = self.pattern
        top, bottom, left, right = (min(edge << level, self.n) for edge in (*rows, *columns))
        part = slice(pattern.starts[top], pattern.starts[bottom])
        i, j, values = pattern.rows[part], pattern.columns[part], self._of(head)[part]
        if left > 0 or right < self.n:
            inside = np.flatnonzero((j >= left) & (j < right))
            i, j, values = i[inside], j[inside], values[inside]
        high, wide = rows[1] - rows[0], columns[1] - columns[0]
        at = ((i - top) >> level) * wide + ((j - left) >> level)
        out = np.zeros(high * wide, values.dtype)
        away = self.masked(values) if level else np.zeros(len(values), bool)
        masks, behind = values[away], at[away]
        values, at = values[~away], at[~away]
        if level == 0:
            out[at] = values
        elif pool == "mean":
            sizes = np.outer(self._sizes(rows, level), self._sizes(columns, level)).reshape(-1)
            counted = np.maximum(1, sizes - np.bincount(behind, minlength=len(out)))
            out = np.asarray(np.bincount(at, values, len(out)) / counted, out.dtype)
        else:
            np.maximum.at(out, at, values)
            if self.signed:
                lowest = np.zeros_like(out)
                np.minimum.at(lowest, at, values)
                out = np.where(-lowest > out, lowest, out)
        if len(masks):  # where there is nothing else
            alone = np.bincount(at, minlength=len(out))[behind] == 0
            out[behind[alone]] = masks[alone]
        return out.reshape(high, wide)

    def row_sums(self, head: int) -> Floats:
        return self._sum(head, 1)

    def column_sums(self, head: int) -> Floats:
        return self._sum(head, 0)

    def _sum(self, head: int, axis: int) -> Floats:
        if (head, axis) not in self._sums:
            at = self.pattern.rows if axis else self.pattern.columns
            self._sums[head, axis] = np.bincount(at, self.cleared(self._of(head)), self.n).astype(np.float64)
        return self._sums[head, axis]

    def kept(self, head: int, threshold: float) -> float:
        if head not in self._sorted:
            magnitude = np.abs(self.cleared(self._of(head)))
            self._sorted[head] = np.sort(magnitude[magnitude > 0])
        found = self._sorted[head]
        return 1.0 - float(np.searchsorted(found, threshold)) / len(found) if len(found) else 1.0

    def properties(self, heads: range, near: float) -> Properties:
        other = self.pattern.mirrored
        small = odd = square = hidden = 0.0
        for head in heads:
            away = self.masked(self._of(head))
            values = np.where(away, 0.0, self._of(head)).astype(np.float64)
            hidden += np.count_nonzero(away)
            small += float(self.n) ** 2 - np.count_nonzero(~(np.abs(values) <= near)) - np.count_nonzero(away)
            across = np.where(other >= 0, values[other], 0.0) if len(values) else values
            # an entry without one across the diagonal differs there a second time
            odd += float(((values - across) ** 2).sum() + (values[other < 0] ** 2).sum())
            square += float((values**2).sum())
        whole = float(self.n) ** 2 * len(heads)
        sums = ends_of([self.row_sums(h) for h in heads])
        asymmetry = float(np.sqrt(odd / square)) if square else None
        share = small / (whole - hidden) if whole > hidden else 1.0
        return Properties(near, share, asymmetry, sums, masked=hidden / whole if whole else 0.0)

    def looked_at(self) -> NDArray[Any]:
        return self.values

    def extremes(self) -> tuple[float, float, float]:
        return extremes_of(self.cleared(self.values))
