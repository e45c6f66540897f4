"""The gradient through time on a logarithmic axis: what vanishes or explodes is a straight line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen

from widgets.base.theme import Theme
from widgets.base.words import figure
from widgets.charts.chart import RIGHT, Chart, LogScale, draw_hair, faded
from widgets.sequence.timeline.axis import TimeAxis
from widgets.sequence.timeline.painting import paint_ticks, polygon
from widgets.sequence.timeline.scale import TimeScale, time_scale

DECADES = 12  # of the axis at most, below the largest value
FITTED = 200  # steps back that the rate is measured over


@dataclass(frozen=True, slots=True)
class Rate:
    """A straight line through the logarithm: value(t) = top · rate^(step - t), over the steps from `first` on."""

    rate: float
    top: float
    first: int
    step: int


@dataclass(frozen=True, slots=True, eq=False)
class Slope:
    """|d layer(step) / d x_t| of one model, (T,), whole and truncated; `ink` is a role of the theme."""

    title: str
    whole: NDArray[Any]
    cut: NDArray[Any] | None
    fit: Rate | None
    ink: str


def rate_of(values: NDArray[Any], step: int) -> Rate | None:
    """Return by what factor the gradient changes with each step back from `step`, by least squares of its logarithm."""
    first = max(0, step - FITTED)
    back = np.asarray(values[first : step + 1], np.float64)[::-1]
    k = np.flatnonzero(np.isfinite(back) & (back > 0))
    if len(k) < 3:
        return None
    slope, top = np.polyfit(k, np.log(back[k]), 1)
    return Rate(float(np.exp(slope)), float(np.exp(top)), int(step - k[-1]), step)


def rate_text(rate: float) -> str:
    """Put a rate into words: "0.87 per step: a tenth after 17 steps"."""
    words = f"{rate:.3g} per step back"
    if abs(math.log(rate)) < 1e-3:
        return f"{words}: it neither vanishes nor explodes"
    steps = max(1, round(math.log(10) / abs(math.log(rate))))
    return f"{words}: {'a tenth' if rate < 1 else 'ten times as much'} after {steps} step{'s' if steps > 1 else ''}"


def cut_at(whole: NDArray[Any], cut: NDArray[Any], step: int) -> int | None:
    """Return the step before which the truncated gradient is gone though the whole one is not; None where it stays."""
    gone = (cut[: step + 1] == 0) & (whole[: step + 1] > 0)
    return int(np.flatnonzero(gone)[-1]) + 1 if gone.any() else None


class GradientChart(Chart):
    """Lines over time from the selected step back; a click selects another step."""

    picked = Signal(int)

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Gradient through time")
        self.found: list[Slope] = []
        self.step: int | None = None
        self.steps = 0
        self.times: TimeScale | None = None

    def show_found(self, found: Sequence[Slope], steps: int, step: int | None, times: NDArray[Any] | None) -> None:
        """Show the slopes from `step` back on a sequence of `steps`."""
        self.found, self.steps, self.step = list(found), steps, step
        self.times = time_scale(times)
        self.set_whole(0.0, float(max(1, steps)))
        known = [v for one in self.found for v in (one.whole, one.cut) if v is not None]
        high = max((float(v[np.isfinite(v)].max(initial=0.0)) for v in known), default=0.0)
        low = min((float(v[np.isfinite(v) & (v > 0)].min(initial=math.inf)) for v in known), default=math.inf)
        if high > 0 and math.isfinite(low):
            top = math.ceil(math.log10(high) + 1e-9)
            self.scale = LogScale(10.0 ** max(min(math.floor(math.log10(low)), top - 2), top - DECADES), 10.0**top)
        self.update()

    def time_axis(self) -> TimeAxis:
        """Return the horizontal axis as it is seen, in steps."""
        plot = self.plot()
        return TimeAxis(self.steps, *self._range, plot.left(), plot.right(), self.times)

    def paint(self, p: QPainter, t: Theme) -> None:
        self.paint_ground(p, t)
        plot, axis = self.plot(), self.time_axis()
        p.save()
        p.setClipRect(plot)
        for one in self.found:
            ink = QColor(getattr(t, one.ink))
            if one.fit is not None:
                p.setPen(QPen(faded(ink.name(), 150), 1.2, Qt.PenStyle.DotLine))
                k = np.arange(one.fit.first, one.fit.step + 1)
                fitted = math.log10(one.fit.top) + (one.fit.step - k) * math.log10(one.fit.rate)
                p.drawPolyline(polygon(axis.xs_of(k + 0.5), self._heights(fitted)))
            self._paint_line(p, axis, one.whole, QPen(ink, 1.8))
            if one.cut is not None:
                self._paint_line(p, axis, one.cut, QPen(QColor(t.text), 1.8, Qt.PenStyle.DashLine))
                if self.step is not None and (at := cut_at(one.whole, one.cut, self.step)) is not None:
                    p.setPen(QPen(QColor(t.bad), 1.2))
                    x = axis.x_of(float(at))
                    draw_hair(p, QPointF(x, plot.top()), QPointF(x, plot.bottom()))
        if self.step is not None:
            p.setPen(QPen(QColor(t.accent), 1.2))
            x = axis.x_of(self.step + 0.5)
            draw_hair(p, QPointF(x, plot.top()), QPointF(x, plot.bottom()))
        p.restore()
        self.paint_frame(p, t)
        p.setPen(QColor(t.muted))
        paint_ticks(p, axis, plot.bottom())
        p.drawText(QRectF(0, plot.bottom() + 4, plot.left() - 8, 15), RIGHT, "step" if self.times is None else "time")
        self.paint_header(p, self._header(t), self._keys(t))

    def _heights(self, decades: NDArray[Any]) -> NDArray[Any]:
        """Return where powers of ten lie, also outside of the axis, so that a line keeps its slope."""
        plot, low = self.plot(), math.log10(self.scale.low)
        return np.asarray(plot.bottom() - (decades - low) / (math.log10(self.scale.high) - low) * plot.height())

    def _paint_line(self, p: QPainter, axis: TimeAxis, values: NDArray[Any], pen: QPen) -> None:
        there = np.flatnonzero(np.isfinite(values) & (values > 0))
        p.setPen(pen)
        p.setBrush(Qt.BrushStyle.NoBrush)
        for run in np.split(there, np.flatnonzero(np.diff(there) > 1) + 1):
            x = axis.xs_of(run + 0.5)
            y = self._heights(np.log10(values[run].astype(np.float64)))
            if len(run) == 1:
                p.drawEllipse(QPointF(float(x[0]), float(y[0])), 1.5, 1.5)
            elif len(run):
                p.drawPolyline(polygon(x, y))

    def _header(self, t: Theme) -> list[tuple[str, str, bool]]:
        parts: list[tuple[str, str, bool]] = []
        for one in self.found:
            parts.append((one.title, getattr(t, one.ink), True))
            if one.fit is not None:
                words = rate_text(one.fit.rate)
                parts.append((words if len(self.found) == 1 else words.partition(":")[0], t.text, False))
        return parts

    def _keys(self, t: Theme) -> list[tuple[str, str, str]]:
        if not any(one.cut is not None for one in self.found):
            return []
        return [("line", "whole", getattr(t, self.found[0].ink)), ("dashes", "truncated", t.text)]

    # the mouse ------------------------------------------------------------------------------------------------
    def _at(self, at: QPointF) -> int | None:
        return self.time_axis().step_at(at.x()) if self.found and self.plot().contains(at) else None

    def under(self, at: QPointF | None) -> object:
        return None if at is None else self._at(at)

    def read(self, at: QPointF) -> str:
        step = self._at(at)
        if step is None or self.step is None:
            return ""
        lines = [f"step {step}, {abs(self.step - step)} {'before' if step <= self.step else 'after'} step {self.step}"]
        for one in self.found:
            cut = f", truncated {figure(float(one.cut[step]))}" if one.cut is not None else ""
            lines.append(f"{one.title} {figure(float(one.whole[step]))}{cut}")
        return "\n".join(lines)

    def clicked_at(self, at: QPointF) -> None:
        if (step := self._at(at)) is not None:
            self.picked.emit(step)
