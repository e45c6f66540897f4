"""Figures of all entries at once: the extremes, the smallest and the largest sum; and orders, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.graph.drawing.pairs.pooling import Floats


def checked_order(order: NDArray[np.integer] | None, n: int) -> tuple[NDArray[np.int64], bool]:
    """Return the order and whether it is the given one."""
    given = np.arange(n, dtype=np.int64)
    if order is None:
        return given, True
    found = np.asarray(order, np.int64)
    if found.shape != (n,) or not np.array_equal(np.sort(found), given):
        raise ValueError(f"an order of {n} nodes names each of them once")
    return found, bool(np.array_equal(found, given))


def extremes_of(values: NDArray[Any]) -> tuple[float, float, float]:
    if values.dtype.kind == "f":
        finite = np.isfinite(values)
        values = values if finite.all() else values[finite]
    if not values.size:
        return 0.0, 0.0, 0.0
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    magnitude = values if low >= 0 else np.abs(values)
    smallest = float(np.min(magnitude, where=magnitude > 0, initial=max(high, -low)))
    return low, high, smallest


def ends_of(sums: list[Floats]) -> tuple[float, float]:
    """Return the smallest and the largest of the sums; not a number where one of them is not."""
    found = np.concatenate([np.asarray(s, np.float64) for s in sums]) if sums else np.zeros(0)
    return (float(found.min()), float(found.max())) if found.size else (0.0, 0.0)
