"""Matrices over pairs of nodes, dense or sparse, up to 16k x 16k and beyond: tiles, pooled levels, sums, properties.

Rows are the receiving nodes (to), columns the sending ones (from). A matrix may be seen in another order of its nodes;
all that is asked of it then counts places in that order. A sparse matrix is never made dense: a tile is made of the
entries that lie in it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Pool = Literal["max", "mean"]
Range = tuple[int, int]  # from, up to but without
Floats = NDArray[np.floating]

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
    """

    near: float
    near_zero: float
    asymmetry: float | None
    sums: tuple[float, float]
    exact: bool = True

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
        """Return the lowest and the highest finite entry, zero included, and the smallest magnitude other than 0.

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
        self.order, self._given = _checked_order(order, self.n)
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
        return pooled(part, level, pool)

    def tile(self, head: int, rows: Range, columns: Range, level: int = 0, pool: Pool = "max") -> Floats:
        if self.n <= DIRECT or level < KEPT_LEVEL:
            return self._pooled(head, rows, columns, level, pool)
        while not self.advance(head, rows, columns, level, pool):
            pass
        kept, _ = self._levels[head, pool]
        more = level - KEPT_LEVEL
        (top, bottom), (left, right) = ((s << more, min(e << more, len(kept))) for s, e in (rows, columns))
        if pool == "max" or not more:
            return pooled(kept[top:bottom, left:right], more, pool)
        sizes = [self._sizes(span, KEPT_LEVEL) for span in ((top, bottom), (left, right))]
        return pooled(kept[top:bottom, left:right], more, pool, np.multiply.outer(*sizes))

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
            part = part.astype(np.float32) if part.dtype == np.float16 else part
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
        part = self._sampled(head)
        # unsigned numbers have no other magnitude than themselves
        over = part >= threshold if part.dtype.kind == "u" else np.abs(part) >= threshold
        some = np.count_nonzero(part)
        return float(np.count_nonzero(over & (part != 0))) / some if some else 1.0

    def properties(self, heads: range, near: float) -> Properties:
        small = whole = odd = square = 0.0
        exact = self.n <= ALL_COUNTED
        for head in heads:
            part = self._sampled(head).astype(np.float64)
            small += np.count_nonzero(np.abs(part) <= near)
            whole += part.size
            if exact:
                odd += float(((part - part.T) ** 2).sum())
                square += float((part**2).sum())
        sums = _ends([self.row_sums(h) for h in heads])
        asymmetry = float(np.sqrt(odd / square)) if exact and square > 0 else None
        return Properties(near, float(small) / whole if whole else 1.0, asymmetry, sums, exact)

    def extremes(self) -> tuple[float, float, float]:
        if not self.values.size:
            return 0.0, 0.0, 0.0
        found = [_extremes(self._sampled(head)) for head in range(self.heads)]
        smallest = min((s for _, _, s in found if s), default=0.0)
        return min(a for a, _, _ in found), max(b for _, b, _ in found), smallest


class EdgePattern:
    """The places of the entries of a sparse matrix in one order of the nodes; all values on the same edges share it.

    An edge listed twice is one entry, the sum of its values. `edges` is (2, E), from and to.
    """

    def __init__(self, n: int, edges: NDArray[np.integer], order: NDArray[np.integer] | None = None) -> None:
        self.n = n
        self.order, given = _checked_order(order, n)
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
        if pool == "mean" and level:
            sums = np.bincount(at, values, high * wide).reshape(high, wide)
            return np.asarray(sums / np.outer(self._sizes(rows, level), self._sizes(columns, level)), values.dtype)
        out = np.zeros(high * wide, values.dtype)
        if level == 0:
            out[at] = values
            return out.reshape(high, wide)
        np.maximum.at(out, at, values)
        if self.signed:
            lowest = np.zeros_like(out)
            np.minimum.at(lowest, at, values)
            out = np.where(-lowest > out, lowest, out)
        return out.reshape(high, wide)

    def row_sums(self, head: int) -> Floats:
        return self._sum(head, 1)

    def column_sums(self, head: int) -> Floats:
        return self._sum(head, 0)

    def _sum(self, head: int, axis: int) -> Floats:
        if (head, axis) not in self._sums:
            at = self.pattern.rows if axis else self.pattern.columns
            self._sums[head, axis] = np.bincount(at, self._of(head), self.n).astype(np.float64)
        return self._sums[head, axis]

    def kept(self, head: int, threshold: float) -> float:
        if head not in self._sorted:
            magnitude = np.abs(self._of(head))
            self._sorted[head] = np.sort(magnitude[magnitude > 0])
        found = self._sorted[head]
        return 1.0 - float(np.searchsorted(found, threshold)) / len(found) if len(found) else 1.0

    def properties(self, heads: range, near: float) -> Properties:
        other = self.pattern.mirrored
        small = odd = square = 0.0
        for head in heads:
            values = self._of(head).astype(np.float64)
            small += float(self.n) ** 2 - np.count_nonzero(~(np.abs(values) <= near))
            across = np.where(other >= 0, values[other], 0.0) if len(values) else values
            # an entry without one across the diagonal differs there a second time
            odd += float(((values - across) ** 2).sum() + (values[other < 0] ** 2).sum())
            square += float((values**2).sum())
        whole = float(self.n) ** 2 * len(heads)
        sums = _ends([self.row_sums(h) for h in heads])
        return Properties(near, small / whole if whole else 1.0, float(np.sqrt(odd / square)) if square else None, sums)

    def extremes(self) -> tuple[float, float, float]:
        return _extremes(self.values)


def pooled(values: Floats, level: int, pool: Pool, weights: NDArray[Any] | None = None) -> Floats:
    """Return (rows, columns) pooled in blocks of 2^level x 2^level, the last ones smaller.

    `weights` says how many entries each value stands for already, for the mean.
    """
    if level == 0:
        return values
    if not values.size:
        return np.zeros([-(-n >> level) for n in values.shape], values.dtype)
    if pool == "mean":
        if weights is None:
            sizes = [np.diff(np.minimum(np.arange(-(-n >> level) + 1) << level, n)) for n in values.shape]
            return np.asarray(_reduced(np.add, values, level) / np.multiply.outer(*sizes), values.dtype)
        return np.asarray(_reduced(np.add, values * weights, level) / _reduced(np.add, weights, level))
    high = _reduced(np.maximum, values, level)
    if np.min(values, initial=0) >= 0:
        return high
    low = _reduced(np.minimum, values, level)
    return np.where(-low > high, low, high)


def _reduced(how: np.ufunc, values: NDArray[Any], level: int) -> NDArray[Any]:
    """Reduce blocks, rows first: there the values of a row lie together, and the columns that remain are few."""
    for axis in (0, 1):
        size, n = 1 << level, values.shape[axis]
        whole = n // size
        head = values[: whole * size] if axis == 0 else values[:, : whole * size]
        shape = (whole, size, values.shape[1]) if axis == 0 else (values.shape[0], whole, size)
        parts = [how.reduce(head.reshape(shape), axis=axis + 1)]
        if n % size:
            rest = values[whole * size :] if axis == 0 else values[:, whole * size :]
            parts.append(how.reduce(rest, axis=axis, keepdims=True))
        values = np.concatenate(parts, axis=axis)
    return values


def _checked_order(order: NDArray[np.integer] | None, n: int) -> tuple[NDArray[np.int64], bool]:
    """Return the order and whether it is the given one."""
    given = np.arange(n, dtype=np.int64)
    if order is None:
        return given, True
    found = np.asarray(order, np.int64)
    if found.shape != (n,) or not np.array_equal(np.sort(found), given):
        raise ValueError(f"an order of {n} nodes names each of them once")
    return found, bool(np.array_equal(found, given))


def _extremes(values: NDArray[Any]) -> tuple[float, float, float]:
    if values.dtype.kind == "f":
        finite = np.isfinite(values)
        values = values if finite.all() else values[finite]
    if not values.size:
        return 0.0, 0.0, 0.0
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    magnitude = values if low >= 0 else np.abs(values)
    smallest = float(np.min(magnitude, where=magnitude > 0, initial=max(high, -low)))
    return low, high, smallest


def _ends(sums: list[Floats]) -> tuple[float, float]:
    """Return the smallest and the largest of the sums; not a number where one of them is not."""
    found = np.concatenate([np.asarray(s, np.float64) for s in sums]) if sums else np.zeros(0)
    return (float(found.min()), float(found.max())) if found.size else (0.0, 0.0)
