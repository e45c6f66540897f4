"""The colours of values over time, and many of them on few pixels."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor

from widgets.base.look import theme
from widgets.charts.library import pg

COLOURS = 253  # an odd number: zero of a signed scale has one of its own


def ramp(scale: str) -> NDArray[np.uint8]:
    """Return the colours (512, 4) of a scale: "signed", or sequential for gates and other non-negative values."""
    return theme.signed_map() if scale == "signed" else theme.gate_map()


def table(scale: str) -> NDArray[np.uint8]:
    """Return the colours (COLOURS, 4) that values are drawn in."""
    return _table(theme.current().name, scale)


@lru_cache(maxsize=8)
def _table(theme_name: str, scale: str) -> NDArray[np.uint8]:
    return ramp(scale)[np.linspace(0, 511, COLOURS).round().astype(int)]


def levels(scale: str, limit: float) -> tuple[float, float]:
    """Return the ends of the table as pyqtgraph counts them: each colour is centred on its value."""
    low, high = (-1.0, 1.0) if scale == "signed" else (0.0, 1.0)
    half = 0.5 * (high - low) / (COLOURS - 1)
    return (low - half) * (limit or 1.0), (high + half) * (limit or 1.0)


def colours(values: NDArray[Any], scale: str, limit: float) -> NDArray[np.uint8]:
    """Return (rows, columns) as red, green, blue and opaqueness; what is no number has the colour of a gap."""
    low, high = levels(scale, limit)
    given = np.clip(np.asarray(values, np.float64), low, high)
    found, _ = pg.makeRGBA(given, lut=table(scale), levels=(low, high))
    found[np.isnan(given)] = QColor(theme.current().raised).getRgb()
    return np.asarray(found)


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
