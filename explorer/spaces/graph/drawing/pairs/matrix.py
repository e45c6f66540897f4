"""Matrices over pairs of nodes, up to 16k x 16k and beyond: tiles, pooled levels, sums, properties; those in an array.

Rows are the receiving nodes (to), columns the sending ones (from). A matrix may be seen in another order of its nodes;
all that is asked of it then counts places in that order. Entries that are masks (`masks.py`) count for no figure.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.graph.drawing.pairs.figures import checked_order, ends_of, extremes_of
from explorer.spaces.graph.drawing.pairs.pooling import Floats, Pool, pooled
from explorer.square.drawing.masks import LOOKED_AT, bound_of, masked

Range = tuple[int, int]  # from, up to but without

KEPT_LEVEL = 3  # the level of a large dense matrix that is kept: 1/64 of its entries
KEPT_BLOCK = 64  # places of that level worked out in one go
DIRECT = 2048  # up to so many nodes a dense tile is pooled from the entries themselves
ALL_COUNTED = 4096  # nodes of a dense matrix up to which every entry is looked at; beyond, some rows stand for all
ROWS_LOOKED_AT = 512
SUMMED = 1_000_000  # entries of a dense matrix that are summed in one go
ATTENTION = 1e-3  # how far a row of attention may be from summing to 1

_tokens = count()


@dataclass(frozen=True, slots=True)
class Properties:
    """The four properties of an attention or adjacency matrix, as far as one matrix tells them.

    Attributes:
        near_zero: share of the n x n entries of magnitude at most `near`.
        asymmetry: ||A - A^T|| / ||A||, Frobenius norms over all heads asked for; None for a zero matrix.
        sums: the smallest and the largest sum of a row.
        exact: False when a part of a large dense matrix stands for the whole (asymmetry is then None).
        masked: share of the entries that are masks, which all else says nothing about.
    """

    near: float
    near_zero: float
    asymmetry: float | None
    sums: tuple[float, float]
    exact: bool = True
    masked: float = 0.0

    @property
    def stochastic(self) -> bool:
        """Return whether every row sums to 1, as rows of attention do."""
        return max(abs(s - 1.0) for s in self.sums) <= ATTENTION


class PairMatrix(ABC):
    """One square matrix for each head, seen in one order of its nodes.

    `order[r]` is the node in place r. `token` names the matrix for caches: no two have the same.
    """

    sparse: bool
    heads: int
    n: int
    order: NDArray[np.int64]

    def __init__(self) -> None:
        self.token = next(_tokens)

    @abstractmethod
    def tile(self, head: int, rows: Range, columns: Range, level: int = 0, pool: Pool = "max") -> Floats:
        """Return the entries of a rectangle at a level of pooling, (rows, columns), float32 or float64.

        Level k has one place for each 2^k x 2^k entries, fewer at the end; ranges count places of that level. "max" is
        the entry of the largest magnitude, with its sign; "mean" is over the entries that there are, zeros included.
        """

    @abstractmethod
    def row_sums(self, head: int) -> Floats:
        """Return what each place receives in all, (n,) float64."""

    @abstractmethod
    def column_sums(self, head: int) -> Floats:
        """Return what each place sends in all, (n,) float64."""

    @abstractmethod
    def kept(self, head: int, threshold: float) -> float:
        """Return the share of the entries other than zero whose magnitude is at least `threshold`."""

    @abstractmethod
    def properties(self, heads: range, near: float) -> Properties:
        """Measure sparsity, asymmetry and sums over some of the heads together."""

    @abstractmethod
    def extremes(self) -> tuple[float, float, float]:
        """Return the lowest and the highest finite entry that is no mask, zero included, and the least magnitude but 0.

        Of a dense matrix of more than ALL_COUNTED nodes only evenly spaced rows are looked at.
        """

    def advance(self, head: int, rows: Range, columns: Range, level: int, pool: Pool) -> bool:
        """Prepare a tile for a few milliseconds; return whether it can now be made at once."""
        return True

    def advance_sums(self, head: int) -> bool:
        """Do a few milliseconds of what the sums need; return whether they are known now."""
        return True

    def value(self, head: int, row: int, column: int) -> float:
        return float(self.tile(head, (row, row + 1), (column, column + 1))[0, 0])

    @abstractmethod
    def looked_at(self) -> NDArray[Any]:
        """Return the entries by which masks are told from values."""

    @cached_property
    def bound(self) -> float:
        """The magnitude beyond which entries are masks."""
        return bound_of(self.looked_at())

    def masked(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which of its entries, pooled or not, are masks."""
        return masked(values, self.bound)

    def cleared(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return entries with 0 in place of masks."""
        hidden = self.masked(values)
        return np.where(hidden, 0, values).astype(values.dtype, copy=False) if hidden.any() else values

    @cached_property
    def range(self) -> tuple[float, float, float]:
        """The answer of `extremes`, worked out once."""
        return self.extremes()

    @property
    def signed(self) -> bool:
        return self.range[0] < 0

    @property
    def largest(self) -> float:
        """The largest finite magnitude; 1 when there is nothing but zeros."""
        return max(-self.range[0], self.range[1]) or 1.0

    def places(self, level: int) -> int:
        """Return how many places a side has at a level."""
        return -(-self.n >> level)

    def _sizes(self, span: Range, level: int) -> NDArray[np.int64]:
        """Return how many rows (or columns) each place of a level covers."""
        ends = np.minimum(np.arange(span[0], span[1] + 1) << level, self.n)
        return np.asarray(np.diff(ends))


class DensePairs(PairMatrix):
    """An array (heads, n, n), or (n, n), of any number type, in memory or mapped from a file; never copied whole.

    Raises:
        ValueError: the last two axes differ, or `order` is not a permutation of the nodes.
    """

    sparse = False

    def __init__(self, values: Any, order: NDArray[np.integer] | None = None) -> None:
        super().__init__()
        self.values = values[None] if values.ndim == 2 else values
        if self.values.ndim != 3 or self.values.shape[1] != self.values.shape[2]:
            raise ValueError(f"a pair field is (heads, nodes, nodes), not {values.shape}")
        self.heads, self.n = int(self.values.shape[0]), int(self.values.shape[1])
        self.order, self._given = checked_order(order, self.n)
        self._levels: dict[tuple[int, Pool], tuple[Floats, NDArray[np.bool_]]] = {}
        self._sums: dict[tuple[int, int], Floats] = {}
        self._summing: dict[int, tuple[Floats, int]] = {}  # both sums of the rows so far, and how many rows that is

    def _part(self, head: int, rows: Range, columns: Range) -> Floats:
        """Return entries in the order of display, as floats."""
        plane = self.values[head]
        if self._given:
            part = plane[slice(*rows), slice(*columns)]
        else:
            part = plane[np.ix_(self.order[slice(*rows)], self.order[slice(*columns)])]
        wide = np.asarray(part).dtype == np.float64
        return np.asarray(part, np.float64 if wide else np.float32)

    def _pooled(self, head: int, rows: Range, columns: Range, level: int, pool: Pool) -> Floats:
        ends = [min(edge << level, self.n) for edge in (*rows, *columns)]
        part = self._part(head, (ends[0], ends[1]), (ends[2], ends[3]))
        return pooled(part, level, pool, bound=self.bound if level else np.inf)

    def tile(self, head: int, rows: Range, columns: Range, level: int = 0, pool: Pool = "max") -> Floats:
        if self.n <= DIRECT or level < KEPT_LEVEL:
            return self._pooled(head, rows, columns, level, pool)
        while not self.advance(head, rows, columns, level, pool):
            pass
        kept, _ = self._levels[head, pool]
        more = level - KEPT_LEVEL
        (top, bottom), (left, right) = ((s << more, min(e << more, len(kept))) for s, e in (rows, columns))
        if pool == "max" or not more:
            return pooled(kept[top:bottom, left:right], more, pool, bound=self.bound)
        sizes = [self._sizes(span, KEPT_LEVEL) for span in ((top, bottom), (left, right))]
        return pooled(kept[top:bottom, left:right], more, pool, np.multiply.outer(*sizes), self.bound)

    def advance(self, head: int, rows: Range, columns: Range, level: int, pool: Pool) -> bool:
        if self.n <= DIRECT or level < KEPT_LEVEL:
            return True
        if (head, pool) not in self._levels:
            side = self.places(KEPT_LEVEL)
            blocks = -(-side // KEPT_BLOCK)
            self._levels[head, pool] = (np.zeros((side, side), np.float32), np.zeros((blocks, blocks), bool))
        kept, done = self._levels[head, pool]
        more = level - KEPT_LEVEL
        (top, bottom), (left, right) = (
            ((s << more) // KEPT_BLOCK, -(-min(e << more, len(kept)) // KEPT_BLOCK)) for s, e in (rows, columns)
        )
        missing = np.argwhere(~done[top:bottom, left:right])
        if not len(missing):
            return True
        i, j = (int(v) for v in missing[0] + (top, left))
        block = [(k * KEPT_BLOCK, min((k + 1) * KEPT_BLOCK, len(kept))) for k in (i, j)]
        kept[slice(*block[0]), slice(*block[1])] = self._pooled(head, block[0], block[1], KEPT_LEVEL, pool)
        done[i, j] = True
        return len(missing) == 1

    def row_sums(self, head: int) -> Floats:
        return self._sum(head, 1)

    def column_sums(self, head: int) -> Floats:
        return self._sum(head, 0)

    def _sum(self, head: int, axis: int) -> Floats:
        while not self.advance_sums(head):
            pass
        return self._sums[head, axis]

    def advance_sums(self, head: int) -> bool:
        if (head, 0) not in self._sums:
            sums, start = self._summing.pop(head, (np.zeros((2, self.n)), 0))
            end = start + max(1, SUMMED // max(1, self.n))
            part = np.asarray(self.values[head][start:end])
            part = self.cleared(part.astype(np.float32) if part.dtype == np.float16 else part)
            sums[0] += part.sum(0, dtype=np.float64)
            sums[1, start:end] = part.sum(1, dtype=np.float64)
            if end < self.n:
                self._summing[head] = (sums, end)
                return False
            for axis in (0, 1):
                self._sums[head, axis] = sums[axis][self.order]
        return True

    def _sampled(self, head: int) -> Floats:
        """Return all rows, or evenly spaced ones of a matrix too large to be looked through at once."""
        step = 1 if self.n <= ALL_COUNTED else self.n // ROWS_LOOKED_AT
        part = np.asarray(self.values[head][::step])
        return part.astype(np.float32) if part.dtype == np.float16 else part

    def kept(self, head: int, threshold: float) -> float:
        part = self.cleared(self._sampled(head))
        # unsigned numbers have no other magnitude than themselves
        over = part >= threshold if part.dtype.kind == "u" else np.abs(part) >= threshold
        some = np.count_nonzero(part)
        return float(np.count_nonzero(over & (part != 0))) / some if some else 1.0

    def properties(self, heads: range, near: float) -> Properties:
        small = whole = odd = square = hidden = 0.0
        exact = self.n <= ALL_COUNTED
        for head in heads:
            part = self._sampled(head)
            away = self.masked(part)
            part = np.where(away, 0.0, part).astype(np.float64)
            small += np.count_nonzero((np.abs(part) <= near) & ~away)
            whole += part.size
            hidden += np.count_nonzero(away)
            if exact:
                odd += float(((part - part.T) ** 2).sum())
                square += float((part**2).sum())
        sums = ends_of([self.row_sums(h) for h in heads])
        asymmetry = float(np.sqrt(odd / square)) if exact and square > 0 else None
        values = whole - hidden
        share = hidden / whole if whole else 0.0
        return Properties(near, float(small) / values if values else 1.0, asymmetry, sums, exact, share)

    def looked_at(self) -> NDArray[Any]:
        if not self.values.size:
            return np.zeros(0)
        parts = [self._sampled(head).reshape(-1) for head in range(self.heads)]
        step = max(1, len(parts[0]) * self.heads // LOOKED_AT)
        return np.concatenate([part[::step] for part in parts])

    def extremes(self) -> tuple[float, float, float]:
        if not self.values.size:
            return 0.0, 0.0, 0.0
        found = [extremes_of(self.cleared(self._sampled(head))) for head in range(self.heads)]
        smallest = min((s for _, _, s in found if s), default=0.0)
        return min(a for a, _, _ in found), max(b for _, b, _ in found), smallest
