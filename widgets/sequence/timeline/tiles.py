"""The colours of values over time, and many of them on few pixels. Numpy only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from widgets.base import theme

COLOURS = 253  # one more stands for what is not known
_STOPS = {
    "light": [(0, "#f7f8f8"), (0.35, "#a5d5c4"), (0.7, "#2f8f76"), (1, "#06382d")],
    "dark": [(0, "#16191d"), (0.35, "#155a4c"), (0.7, "#2cb58b"), (1, "#d6fff0")],
}
_tables: dict[tuple[str, str], NDArray[np.uint32]] = {}


def ramp(scale: str) -> NDArray[np.uint8]:
    """Return the colours (512, 4) of a scale: "signed", or the sequential one of gates and of what is not negative."""
    if scale == "signed":
        return theme.signed_map()
    return theme._ramp(_STOPS[theme.current().name])


def table(scale: str) -> NDArray[np.uint32]:
    """Return 254 colours as 0xffRRGGBB; index 253 is what is not known."""
    key = (theme.current().name, scale)
    if key not in _tables:
        rows = ramp(scale)[np.linspace(0, 511, COLOURS).round().astype(int)].astype(np.uint32)
        colours = 0xFF000000 | rows[:, 0] << 16 | rows[:, 1] << 8 | rows[:, 2]
        gap = np.uint32(0xFF000000 | int(theme.current().raised[1:], 16))
        _tables[key] = np.append(colours, gap).astype(np.uint32)
    return _tables[key]


def indices(values: NDArray[Any], scale: str, limit: float) -> NDArray[np.uint8]:
    """Return colour indices of values; those that are no number have an index of their own."""
    factor = (126.0 if scale == "signed" else 252.0) / (limit or 1.0)
    with np.errstate(invalid="ignore", over="ignore"):
        level = values * np.float32(factor) + np.float32(126.5 if scale == "signed" else 0.5)
        missing = np.isnan(level)
        level = np.clip(level, 0, 252.5)
    level[missing] = 253
    return level.astype(np.uint8)


def fitted(values: NDArray[Any], height: int, peak: bool) -> NDArray[Any]:
    """Return (columns, units) with at most `height` units: neighbours are averaged, or the largest stands for them."""
    units = values.shape[1]
    if units <= height:
        return values
    edges = np.linspace(0, units, height, endpoint=False).astype(np.intp)
    if peak:
        low, high = np.fmin.reduceat(values, edges, axis=1), np.fmax.reduceat(values, edges, axis=1)
        return np.where(np.abs(low) > np.abs(high), low, high)
    return np.asarray(np.add.reduceat(values, edges, axis=1) / np.diff(np.append(edges, units)).astype(np.float32))


def reduced(values: NDArray[Any], starts: NDArray[np.intp], peak: bool) -> NDArray[Any]:
    """Return the mean (or the extreme) of the rows from each start to the next, at least one; (T, C) -> (n, C)."""
    if peak:
        low, high = np.fmin.reduceat(values, starts, axis=0), np.fmax.reduceat(values, starts, axis=0)
        return np.where(np.abs(low) > np.abs(high), low, high)
    count = np.maximum(1, np.diff(np.append(starts, len(values))))
    return np.asarray(np.add.reduceat(values, starts, axis=0) / count[:, None].astype(np.float32))
