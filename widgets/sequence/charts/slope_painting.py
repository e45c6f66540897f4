"""The slope of a warp of time over the steps, and gates on the same axis, as Qt draws them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from widgets.base.theme import Theme
from widgets.charts.chart import LEFT, RIGHT, faded, linear_ticks
from widgets.sequence.timeline.axis import TimeAxis
from widgets.sequence.timeline.painting import polygon


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One gate over the steps of rho(g) x: `ink` is a role of the theme, `thin` a single unit."""

    title: str
    values: NDArray[Any]
    ink: str
    thin: bool = False

    def pen(self, t: Theme) -> QPen:
        style = Qt.PenStyle.DotLine if self.thin else Qt.PenStyle.SolidLine
        return QPen(QColor(getattr(t, self.ink)), 1.4 if self.thin else 1.8, style)


def thinned(values: NDArray[Any], most: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return at most so many means of neighbours, and the steps between which each is taken, one more."""
    edges = np.unique(np.linspace(0, len(values), min(most, len(values)) + 1).round().astype(np.intp))
    if len(values) <= most:
        return edges, np.asarray(values, np.float64)
    return edges, np.add.reduceat(np.asarray(values, np.float64), edges[:-1]) / np.diff(edges)


def paint_slope(
    p: QPainter, t: Theme, axis: TimeAxis, box: QRectF, slope: NDArray[Any], lines: Sequence[Line], top: float,
    at: float | None,
) -> None:  # fmt: skip
    """Draw the slope between each two steps, (T - 1,), filled, the lines over it, and a hair at x = `at`."""
    p.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    p.fillRect(box, QColor(t.plot))
    for tick in linear_ticks(0.0, top, max(2, int(box.height() / 26))):
        y = box.bottom() - tick / top * box.height()
        p.setPen(QPen(faded(t.line, 150), 1))
        p.drawLine(QPointF(box.left(), y), QPointF(box.right(), y))
        p.setPen(QColor(t.muted))
        p.drawText(QRectF(0, y - 8, box.left() - 6, 16), RIGHT, f"{tick:g}")
    p.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    p.save()
    p.setClipRect(box)
    most = int(4 * box.width()) + 1
    edges, level = thinned(slope, most)
    across = np.repeat(axis.xs_of(edges + 0.5), 2)[1:-1]
    down = box.bottom() - np.repeat(level, 2) / top * box.height()
    p.setPen(Qt.PenStyle.NoPen)
    p.setBrush(faded(t.muted, 50))
    p.drawPolygon(polygon(np.r_[across[0], across, across[-1]], np.r_[box.bottom(), down, box.bottom()]))
    p.setBrush(Qt.BrushStyle.NoBrush)
    p.setPen(QPen(QColor(t.muted), 1.6))
    p.drawPolyline(polygon(across, down))
    for line in lines:
        edges, level = thinned(line.values, most)
        along = axis.xs_of((edges[:-1] + edges[1:]) / 2)
        known = np.isfinite(level)
        p.setPen(line.pen(t))
        p.drawPolyline(polygon(along[known], box.bottom() - level[known] / top * box.height()))
    if at is not None:
        p.setPen(QPen(QColor(t.muted), 1))
        p.drawLine(QPointF(at, box.top()), QPointF(at, box.bottom()))
    p.restore()


def paint_legend(p: QPainter, t: Theme, box: QRectF, lines: Sequence[Line], words: str) -> None:
    """Name the lines above the plot, and at its right end say `words`."""
    metrics, x, y = QFontMetricsF(p.font()), box.left(), box.top() - 19
    for text, pen in (("dτ/dt", QPen(QColor(t.muted), 1.6)), *((one.title, one.pen(t)) for one in lines)):
        wide = metrics.horizontalAdvance(text)
        if x + 18 + wide > box.right():
            break
        p.setPen(pen)
        p.drawLine(QPointF(x, y + 8), QPointF(x + 14, y + 8))
        p.setPen(QColor(t.text))
        p.drawText(QRectF(x + 18, y, wide + 4, 16), LEFT, text)
        x += wide + 32
    room = box.right() - x
    if room > 40 and words:
        p.setPen(QColor(t.muted))
        p.drawText(QRectF(x, y, room, 16), RIGHT, metrics.elidedText(words, Qt.TextElideMode.ElideRight, room))
