"""Pool the entries of a matrix in blocks: the one of the largest magnitude, or the mean; masks count for nothing."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.square.drawing.masks import masked

Pool = Literal["max", "mean"]
Floats = NDArray[np.floating]


def pooled(
    values: Floats, level: int, pool: Pool, weights: NDArray[Any] | None = None, bound: float = np.inf
) -> Floats:
    """Return (rows, columns) pooled in blocks of 2^level x 2^level, the last ones smaller.

    `weights` says how many entries each value stands for already, for the mean. A block has the value of its mask where
    all of it is masked, beyond `bound` or −∞.
    """
    if level == 0:
        return values
    if not values.size:
        return np.zeros([-(-n >> level) for n in values.shape], values.dtype)
    hidden = masked(values, bound)
    if not hidden.any():
        return _pooled(values, level, pool, weights)
    counted = ~hidden * (1.0 if weights is None else weights)
    with np.errstate(all="ignore"):
        found = _pooled(np.where(hidden, 0, values), level, pool, counted)
    whole = reduced(np.logical_and, hidden, level)
    return np.where(whole, reduced(np.minimum, values, level), found).astype(values.dtype, copy=False)


def _pooled(values: Floats, level: int, pool: Pool, weights: NDArray[Any] | None) -> Floats:
    if pool == "mean":
        if weights is None:
            sizes = [np.diff(np.minimum(np.arange(-(-n >> level) + 1) << level, n)) for n in values.shape]
            return np.asarray(reduced(np.add, values, level) / np.multiply.outer(*sizes), values.dtype)
        return np.asarray(reduced(np.add, values * weights, level) / reduced(np.add, weights, level))
    high = reduced(np.maximum, values, level)
    if np.min(values, initial=0) >= 0:
        return high
    low = reduced(np.minimum, values, level)
    return np.where(-low > high, low, high)


def reduced(how: np.ufunc, values: NDArray[Any], level: int) -> NDArray[Any]:
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
