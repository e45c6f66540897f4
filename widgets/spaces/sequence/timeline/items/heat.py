"""Heat rows: pyqtgraph's picture of the stretch in sight and some way beyond it, worked out anew when that is left."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from widgets.charts.library import pg
from widgets.spaces.sequence.timeline.axes.scale import TimeScale
from widgets.spaces.sequence.timeline.items.tiles import fitted, levels, reduced, table
from widgets.spaces.sequence.timeline.layout import Slot
from widgets.spaces.sequence.timeline.pyramids.pyramid import AT_ONCE, Pyramid
from widgets.spaces.sequence.timeline.rows import Row, Scene
from widgets.spaces.sequence.timeline.visible_part import Sight

BEYOND, LEFT = 0.5, 0.2  # of the columns in sight: kept on either side, and left there when a picture is made anew


def columns(
    pyramid: Pyramid, scale: TimeScale | None, each: float, first: int, last: int, peak: bool
) -> NDArray[Any]:  # fmt: skip
    """Return (columns, units) of the columns [first, last), `each` places wide."""
    if scale is None:
        found = pyramid.buckets(round(first * each), round(each), last - first, extremes=peak)
        return found.peak if peak else found.mean
    edges = scale.step((np.arange(first, last + 1) + 0.01) * each)
    at = np.clip(np.floor(edges).astype(np.intp), 0, pyramid.steps - 1)
    return reduced(pyramid.values[at[0] : max(at[-1], at[-2] + 1)], at[:-1] - at[0], peak)


class HeatRow(pg.ImageItem):
    """Units over time. A column is never wider than a pixel unless it is one step; zoomed, the old one is stretched."""

    def __init__(self, box: pg.ViewBox) -> None:
        super().__init__()
        self.peak = False
        self._slot: Slot | None = None
        self._row = Row("", "heat", "", "")
        self._scale: TimeScale | None = None
        self._key: tuple[Any, ...] = ()
        self._have, self._each, self._ratio = (0, 0), 0.0, 1.0
        self._columns: NDArray[Any] = np.zeros((0, 1), np.float32)
        self._smooth = False

    def show_row(self, slot: Slot, scene: Scene, scale: TimeScale | None) -> None:
        self._slot, self._row, self._scale = slot, slot.row, scale

    def dress(self) -> None:
        """Take the colours of the theme."""
        self.setLookupTable(table(self._row.scale))

    def _wanted(self, sight: Sight, beyond: float) -> tuple[int, int]:
        """Return the columns in sight and a share of them on either side."""
        axis, each = sight.axis, sight.column(self._scale)
        last = math.ceil((self._row.pyramid.steps if self._row.pyramid is not None else 0) / each)
        low, high = math.floor(axis.low / each), math.ceil(axis.high / each)
        more = round(beyond * (high - low))
        return min(last, max(0, low - more)), min(last, high + more)

    def follow(self, sight: Sight) -> bool:
        """Make the picture anew where it has to be, if there is time left; return whether it is what it has to be."""
        slot, row = self._slot, self._row
        if slot is None or row.pyramid is None:
            return True
        rows = max(1, round(slot.height * sight.ratio))
        key = (row.pyramid, row.pyramid.ready, row.scale, row.limit, self._scale, self.peak, rows)
        each = sight.column(self._scale)
        first, last = self._wanted(sight, LEFT)
        same = key == self._key and each == self._each
        if same and self._have[0] <= first and last <= self._have[1]:
            self._place(slot)
            return True
        if row.pyramid.values.size > AT_ONCE and time.perf_counter() > sight.deadline:
            return False
        first, last = self._wanted(sight, BEYOND)
        if key[2] != (self._key[2:3] or ("",))[0]:
            self.dress()
        self._columns = self._read(row.pyramid, each, first, last, rows, same)
        self._key, self._each, self._have = key, each, (first, last)
        self._show(rows, sight.axis.per_pixel * sight.ratio > 1)
        self._place(slot)
        return True

    def _read(self, pyramid: Pyramid, each: float, first: int, last: int, rows: int, same: bool) -> NDArray[Any]:
        """Return the columns [first, last) at most `rows` high; those at hand are not read again."""
        start, end = self._have if same else (0, 0)
        start, end = max(start, first), min(end, last)

        def read(a: int, b: int) -> NDArray[Any]:
            if a >= b:
                return np.zeros((0, min(rows, pyramid.channels)), np.float32)
            return fitted(columns(pyramid, self._scale, each, a, b, self.peak), rows, self.peak)

        if start >= end:
            return read(first, last)
        kept = self._columns[start - self._have[0] : end - self._have[0]]
        return np.concatenate([read(first, start), kept, read(end, last)])

    def _show(self, rows: int, dense: bool) -> None:
        ends = levels(self._row.scale, self._row.limit)
        values = np.clip(self._columns, *ends).T
        if dense:  # smooth across columns, not across units
            values = values[(np.arange(rows) * len(values)) // rows]
        self._smooth = dense
        if values.size:
            self.setImage(np.ascontiguousarray(values, np.float32), autoLevels=False, levels=ends)
        else:
            self.clear()

    def _place(self, slot: Slot) -> None:
        first, last = self._have
        rect = QRectF(first * self._each, slot.top, (last - first) * self._each, slot.height)
        if self.image is not None and not rect.isEmpty() and rect != self.mapRectToParent(self.boundingRect()):
            self.setRect(rect)

    def paint(self, p: QPainter, *rest: Any) -> None:
        p.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, self._smooth)
        super().paint(p, *rest)
