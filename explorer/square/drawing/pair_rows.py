"""Matrices of attention for drawing that are too large to be formed: entries are worked out where somebody looks.

What crosses from the device is queries and keys, as arrays. A `PairRows` is asked like an array (heads, T, S): for a
head, rows of it, a rectangle. Whoever asks for a rectangle pays once for what its rows sum to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor

    from explorer.network.inner.factors import Factors
    from explorer.network.inner.tiled import Tiled

BLOCK = 128  # rows whose sums are worked out at once
SAMPLED = 256  # rows that stand for all of them where all would be summed

Floats = NDArray[np.float32]


@dataclass(eq=False)
class PairPlane:
    """One head, (T, S)."""

    query: Floats
    key: Floats
    scale: float
    masks: tuple[NDArray[Any], ...]
    order: tuple[NDArray[np.int64], NDArray[np.int64]] | None  # of what is causal: the numbers of rows and columns
    sums: Floats = field(init=False)  # log of the sum of the exponentials of each row; NaN where it is not known

    def __post_init__(self) -> None:
        self.sums = np.full(len(self.query), np.nan, np.float32)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the sums out: in another process, arrays that have crossed cannot be written to."""
        return {name: value for name, value in vars(self).items() if name != "sums"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()

    shape = property(lambda self: (len(self.query), len(self.key)))
    size = property(lambda self: len(self.query) * len(self.key))
    ndim, dtype = 2, np.dtype(np.float32)

    def __len__(self) -> int:
        return len(self.query)

    def _logits(self, rows: NDArray[np.int64], columns: Any) -> Floats:
        found = (self.query[rows] @ self.key[columns].T) * np.float32(self.scale)
        for mask in self.masks:
            part = mask[rows] if mask.ndim > 1 and len(mask) > 1 else mask
            part = part[..., columns] if part.shape[-1] > 1 else part
            found = np.where(part, found, -np.inf) if part.dtype == bool else found + part
        if self.order is not None:
            found = np.where(self.order[1][columns] > self.order[0][rows][:, None], -np.inf, found)
        return np.asarray(found, np.float32)

    def _take(self, rows: NDArray[np.int64], columns: Any) -> Floats:
        missing = np.unique(rows[np.isnan(self.sums[rows])])
        for start in range(0, len(missing), BLOCK):
            some = missing[start : start + BLOCK]
            logits = self._logits(some, slice(None))
            top = logits.max(1)
            top[~np.isfinite(top)] = 0.0
            with np.errstate(divide="ignore"):
                total = np.log(np.exp(logits - top[:, None]).sum(1)) + top
            self.sums[some] = np.where(np.isfinite(total), total, np.inf)  # a row that sees nothing has no weights
        return np.asarray(np.exp(self._logits(rows, columns) - self.sums[rows][:, None]), np.float32)

    def __getitem__(self, key: Any) -> Any:
        return _rectangle(self._take, self.shape, key)

    def mean(self, axis: int) -> Floats:
        return _mean(self, axis)


@dataclass(eq=False)
class MeanPlane:
    """The mean of several heads, or the difference of two, (T, S): `weights` times each plane."""

    planes: tuple[Any, ...]
    weights: tuple[float, ...]

    shape = property(lambda self: self.planes[0].shape)
    size = property(lambda self: self.planes[0].size)
    ndim, dtype = 2, np.dtype(np.float32)

    def __len__(self) -> int:
        return int(self.shape[0])

    def _take(self, rows: NDArray[np.int64], columns: Any) -> Floats:
        parts = (w * p._take(rows, columns) for w, p in zip(self.weights, self.planes, strict=True))
        return np.asarray(sum(parts), np.float32)

    def __getitem__(self, key: Any) -> Any:
        return _rectangle(self._take, self.shape, key)

    def mean(self, axis: int) -> Floats:
        return _mean(self, axis)


class PairRows:
    """Attention of several heads, (heads, T, S), made row by row."""

    ndim, dtype = 3, np.dtype(np.float32)

    def __init__(self, planes: tuple[Any, ...]) -> None:
        self.planes = planes

    @property
    def shape(self) -> tuple[int, int, int]:
        return (len(self.planes), *self.planes[0].shape)

    @property
    def size(self) -> int:
        heads, rows, columns = self.shape
        return heads * rows * columns

    def __len__(self) -> int:
        return len(self.planes)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            return self.planes[key[0]][key[1:]]
        return PairRows(self.planes[key]) if isinstance(key, slice) else self.planes[key]

    def mean(self, axis: int) -> MeanPlane:
        """Return the mean of all heads."""
        return MeanPlane(self.planes, (1.0 / len(self.planes),) * len(self.planes))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return evenly spaced rows and columns of each head: all of them would not fit."""
        at = [np.linspace(0, n - 1, min(n, SAMPLED)).round().astype(np.int64) for n in self.shape[1:]]
        return np.stack([p._take(*at) for p in self.planes]).astype(dtype or np.float32)


@dataclass(eq=False)
class ScaledPlane(MeanPlane):
    """A plane whose rows and columns are multiplied by numbers: what was cut off is zero."""

    to: Floats
    of: Floats

    def _take(self, rows: NDArray[np.int64], columns: Any) -> Floats:
        to = self.to[rows] if len(self.to) > 1 else self.to
        of = self.of[columns] if len(self.of) > 1 else self.of
        return np.asarray(self.planes[0]._take(rows, columns) * to[:, None] * of, np.float32)


@dataclass(eq=False)
class PickedPlane(MeanPlane):
    """Rows or columns of a plane, by number."""

    axis: int
    index: NDArray[np.int64]

    @property
    def shape(self) -> tuple[int, int]:
        high, wide = self.planes[0].shape
        return (len(self.index), wide) if self.axis == -2 else (high, len(self.index))

    def _take(self, rows: NDArray[np.int64], columns: Any) -> Floats:
        if self.axis == -2:
            return np.asarray(self.planes[0]._take(self.index[rows], columns), np.float32)
        return np.asarray(self.planes[0]._take(rows, self.index[columns]), np.float32)


def on_demand(values: Tiled) -> PairRows:
    """Return the values of a matrix that is never formed, or of a sum or product of such matrices, for drawing.

    Raises:
        NotImplementedError: it was made in another way.
    """
    if values.factors is not None:
        f = values.factors
        return PairRows(tuple(_plane(f.head(head)) for head in range(values.form[0])))
    how, args = values.terms or ("", ())
    matrices = [on_demand(a) for a in args if hasattr(a, "head_rows")]
    if how == "index_select":
        axis, index = args[1], args[2].cpu().numpy()
        return PairRows(tuple(PickedPlane((p,), (1.0,), axis, index) for p in matrices[0].planes))
    if how in ("add", "sub") and len(matrices) == 2:
        weights = (1.0, 1.0 if how == "add" else -1.0)
        return PairRows(tuple(MeanPlane(pair, weights) for pair in zip(*(m.planes for m in matrices), strict=True)))
    if how in ("mul", "rmul") and len(matrices) == 1:
        other = next(a for a in args if not hasattr(a, "head_rows"))
        factor = np.atleast_2d(_array(other)) if hasattr(other, "detach") else np.full((1, 1), other, np.float32)
        high, wide = factor.shape[-2:]
        factor = factor.reshape(high, wide)
        if 1 in (high, wide):
            to, of = (factor[:, 0], np.ones(1, np.float32)) if wide == 1 else (np.ones(1, np.float32), factor[0])
            return PairRows(tuple(ScaledPlane((p,), (1.0,), to, of) for p in matrices[0].planes))
    raise NotImplementedError(f"a matrix of attention that {how or 'something'} made cannot be drawn row by row")


def _plane(one: Factors) -> PairPlane:
    to, of = (n.cpu().numpy() for n in one.numbers())
    masks = tuple(_array(m) for m in one.masks)
    return PairPlane(_array(one.query), _array(one.key), one.factor, masks, (to, of) if one.causal else None)


def _array(values: Tensor) -> NDArray[Any]:
    value = values.detach().cpu()
    found: NDArray[Any] = (value.float() if value.is_floating_point() else value).numpy()
    return found


def _rectangle(take: Any, shape: tuple[int, int], key: Any) -> Any:
    rows, columns = (*key, slice(None))[:2] if isinstance(key, tuple) else (key, slice(None))
    if isinstance(rows, np.ndarray) and rows.ndim == 2:  # as np.ix_ gives them
        rows, columns = rows[:, 0], columns[0]
    at = np.atleast_1d(np.arange(shape[0])[rows])
    one = isinstance(columns, int | np.integer)
    found = take(at, slice(columns, columns + 1) if one else columns)
    found = found[:, 0] if one else found
    return found[0] if isinstance(rows, int | np.integer) else found


def _mean(plane: Any, axis: int) -> Floats:
    """Return the mean of rows, of evenly spaced ones where there are many; that of columns is exact for each row."""
    if axis == 1:
        return np.asarray(plane[:].mean(1), np.float32)
    at = np.linspace(0, len(plane) - 1, min(len(plane), SAMPLED)).round().astype(np.int64)
    return np.asarray(plane._take(at, slice(None)).mean(0), np.float32)
