"""Heat maps over time as kept tiles: panning copies pictures, and only what comes into sight is coloured anew."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter, QPixmap

from widgets.base import theme
from widgets.sequence.timeline.axis import TimeAxis
from widgets.sequence.timeline.pyramid import Pyramid, bucket_for

COLUMNS = 256  # of a tile
KEPT = 1200  # tiles
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
        rows = ramp(scale)[np.linspace(0, 511, 253).round().astype(int)].astype(np.uint32)
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


class Tiles:
    """Pictures of stretches of pyramids. `deadline` bounds what one painting may colour anew."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Any, ...], tuple[Pyramid, QPixmap]] = OrderedDict()
        self.peak = False
        self.made = 0

    def clear(self) -> None:
        self._kept.clear()

    def draw(
        self, p: QPainter, axis: TimeAxis, top: float, height: float, pyramid: Pyramid, scale: str, limit: float,
        deadline: float = math.inf,
    ) -> bool:  # fmt: skip
        """Draw the visible stretch; return whether all of it could be drawn sharply in time."""
        ratio = max(1.0, p.deviceTransform().m11())
        if axis.scale is not None:
            self._at_times(p, axis, top, height, pyramid, scale, limit, ratio)
            return True
        bucket = bucket_for(axis.per_pixel / ratio)
        rows = max(1, round(height * ratio))
        whole = True
        span = bucket * COLUMNS
        end = min(axis.high, pyramid.steps)
        p.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, axis.per_pixel * ratio > 1)
        for k in range(int(max(0.0, axis.low) // span), math.ceil(end / span)):
            key = (id(pyramid), bucket, k, rows, scale, limit, self.peak, pyramid.ready, theme.current().name)
            found = self._kept.get(key)
            if found is None and time.perf_counter() < deadline:
                found = (pyramid, self._make(pyramid, bucket, k, rows, scale, limit))
                self._kept[key] = found
                while len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
            if found is not None:
                self._kept.move_to_end(key)
                columns = found[1].width()
                source = QRectF(0, 0, columns, rows)
                self._put(p, axis, k * span, k * span + columns * bucket, top, height, found[1], source, ratio)
            else:
                whole = False
                self._coarser(p, axis, top, height, key, pyramid.steps, ratio)
        return whole

    def _coarser(
        self, p: QPainter, axis: TimeAxis, top: float, height: float, key: tuple[Any, ...], steps: int, ratio: float
    ) -> None:
        """Draw the stretch from a tile of wider buckets that is still kept, or leave the ground."""
        name, bucket, k, rows, *rest = key
        first, last = k * bucket * COLUMNS, min(steps, (k + 1) * bucket * COLUMNS)
        for wider in (bucket << j for j in range(1, 8)):
            at = first // (wider * COLUMNS)
            found = self._kept.get((name, wider, at, rows, *rest))
            if found is not None:
                left = (first - at * wider * COLUMNS) / wider
                source = QRectF(left, 0, (last - first) / wider, rows)
                self._put(p, axis, first, last, top, height, found[1], source, ratio)
                return

    def _put(
        self, p: QPainter, axis: TimeAxis, first: float, last: float, top: float, height: float, picture: QPixmap,
        source: QRectF, ratio: float,
    ) -> None:  # fmt: skip
        """Draw one tile with its edges on whole pixels, so that no seam shows; cut to what is seen."""
        low, high = max(first, math.floor(axis.low)), min(last, math.ceil(axis.high))
        if high <= low:
            return
        each = source.width() / (last - first)
        part = QRectF(source.left() + (low - first) * each, 0, (high - low) * each, source.height())
        left, right = (round(axis.x_of(v) * ratio) / ratio for v in (low, high))
        p.drawPixmap(QRectF(left, top, right - left, height), picture, part)

    def _at_times(
        self, p: QPainter, axis: TimeAxis, top: float, height: float, pyramid: Pyramid, scale: str, limit: float,
        ratio: float,
    ) -> None:  # fmt: skip
        """Draw steps of unequal width: what lies on each column of pixels, worked out anew."""
        left, right = max(axis.left, axis.x_of(0.0)), min(axis.right, axis.x_of(float(pyramid.steps)))
        columns, rows = int((right - left) * ratio), max(1, round(height * ratio))
        if columns < 1:
            return
        edges = axis.steps_at(left + (np.arange(columns + 1) + 0.01) / ratio)
        at = np.clip(np.floor(edges).astype(np.intp), 0, pyramid.steps - 1)
        first, starts = at[0], at[:-1] - at[0]
        part = pyramid.values[first : max(at[-1], at[-2] + 1)]
        found = reduced(part, starts, self.peak)
        pixels, columns = self._pixels(fitted(found, rows, self.peak), rows, scale, limit), len(found)
        image = QImage(pixels.data, columns, rows, 4 * columns, QImage.Format.Format_RGB32)
        p.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        p.drawImage(QRectF(left, top, columns / ratio, height), image)

    def _make(self, pyramid: Pyramid, bucket: int, k: int, rows: int, scale: str, limit: float) -> QPixmap:
        self.made += 1
        found = pyramid.buckets(k * bucket * COLUMNS, bucket, COLUMNS, extremes=self.peak)
        pixels = self._pixels(fitted(found.peak if self.peak else found.mean, rows, self.peak), rows, scale, limit)
        image = QImage(pixels.data, pixels.shape[1], rows, 4 * pixels.shape[1], QImage.Format.Format_RGB32)
        return QPixmap.fromImage(image.copy())

    def _pixels(self, values: NDArray[Any], rows: int, scale: str, limit: float) -> NDArray[np.uint32]:
        """Return the colours of values (columns, units), each unit as many rows as it gets of `rows`."""
        level = indices(values, scale, limit)
        which = (np.arange(rows) * level.shape[1]) // rows
        return np.ascontiguousarray(table(scale)[level.T[which]])
