"""The gradient through time on a logarithmic axis: what vanishes or explodes is a straight line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtWidgets import QWidget

from widgets.base.look import theme
from widgets.base.text.words import figure
from widgets.charts.axis.axes import LogAxis
from widgets.charts.axis.scales import LogScale
from widgets.charts.items.curve import Curve
from widgets.charts.items.marks import DOT, Marks, fill, ink, level
from widgets.charts.library import pg
from widgets.charts.plot import Plot
from widgets.spaces.sequence.charts.step_axis import StepAxis
from widgets.spaces.sequence.timeline.axes.scale import time_scale

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


class SlopeItems:
    """The items of one model: the gradient, whole and truncated, its steps without a neighbour, and the fitted line."""

    def __init__(self, chart: GradientChart, role: str) -> None:
        self.role = role
        self.fit = chart.add(pg.PlotCurveItem(), 1)
        self.whole, self.cut = chart.add(Curve(), 2), chart.add(Curve(), 4)
        self.alone = chart.add(Marks(symbol=DOT, size=3), 3)
        self.gone = chart.add(level(0.0, "#000000", upright=True), 5)
        for line in (self.whole, self.cut):
            line.setClipToView(True)
            line.setDownsampling(auto=True, method="peak")

    def show(self, one: Slope | None, axis: StepAxis, step: int | None) -> None:
        """Show a slope in decades over places of the axis; what is zero has none."""
        x, y = _line(one.whole if one is not None else None, axis)
        gap = np.isnan(np.r_[np.nan, y, np.nan])
        lone = ~gap[1:-1] & gap[:-2] & gap[2:]
        self.whole.setData(x, y)
        self.alone.set_marks(x[lone], y[lone], 3)
        fit = one.fit if one is not None else None
        back = np.arange(fit.first, fit.step + 1) if fit is not None else np.zeros(0)
        decades = np.zeros(0) if fit is None else math.log10(fit.top) + (fit.step - back) * math.log10(fit.rate)
        self.fit.setData(np.asarray(axis.place(back + 0.5), float), decades)
        cut = one.cut if one is not None else None
        self.cut.setData(*_line(cut, axis))
        found = cut_at(one.whole, cut, step) if one is not None and cut is not None and step is not None else None
        self.gone.setVisible(found is not None)
        self.gone.setPos(float(axis.place(found or 0)))

    def dress(self) -> None:
        t = theme.current()
        colour = getattr(t, self.role)
        self.fit.setPen(ink(colour, 1.2, 150, Qt.PenStyle.DotLine))
        self.whole.setPen(ink(colour, 1.8))
        self.cut.setPen(ink(t.text, 1.8, 255, Qt.PenStyle.DashLine))
        self.alone.setPen(None)
        self.alone.setBrush(fill(colour))
        self.gone.setPen(ink(t.bad, 1.2))


def _line(values: NDArray[Any] | None, axis: StepAxis) -> tuple[NDArray[Any], NDArray[Any]]:
    if values is None:
        return np.zeros(0), np.zeros(0)
    given = np.asarray(values, np.float64)
    decades = np.log10(given, where=given > 0, out=np.full(given.shape, np.nan))
    return np.asarray(axis.place(np.arange(len(given)) + 0.5)), np.where(np.isfinite(decades), decades, np.nan)


class GradientChart(Plot):
    """Lines over time from the selected step back; a click selects another step."""

    picked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        self.axis = StepAxis("bottom")
        super().__init__(parent, left=LogAxis("left"), bottom=self.axis)
        self.setAccessibleName("Gradient through time")
        self.found: list[Slope] = []
        self.step: int | None = None
        self.scale = LogScale()
        self.lines = (SlopeItems(self, "first"), SlopeItems(self, "second"))
        self.line = self.add(level(0.0, theme.current().accent, upright=True), 6)
        self.dress()

    def show_found(self, found: Sequence[Slope], steps: int, step: int | None, times: NDArray[Any] | None) -> None:
        """Show the slopes from `step` back on a sequence of `steps`."""
        self.found, self.step = list(found), step
        self.axis.follow(steps, time_scale(times))
        known = [v for one in self.found for v in (one.whole, one.cut) if v is not None]
        high = max((float(v[np.isfinite(v)].max(initial=0.0)) for v in known), default=0.0)
        low = min((float(v[np.isfinite(v) & (v > 0)].min(initial=math.inf)) for v in known), default=math.inf)
        if high > 0 and math.isfinite(low):
            top = math.ceil(math.log10(high) + 1e-9)
            self.scale = LogScale(10.0 ** max(min(math.floor(math.log10(low)), top - 2), top - DECADES), 10.0**top)
        self.set_ranges((0.0, float(max(1, steps))), self.scale.decades)
        for k, items in enumerate(self.lines):
            items.show(self.found[k] if k < len(self.found) else None, self.axis, step)
        self.line.setVisible(step is not None)
        self.line.setPos(float(self.axis.place((step or 0) + 0.5)))
        self._write()

    def _write(self) -> None:
        t, parts = theme.current(), list[tuple[str, str, bool]]()
        for one in self.found:
            parts.append((one.title, getattr(t, one.ink), True))
            if one.fit is not None:
                words = rate_text(one.fit.rate)
                parts.append((words if len(self.found) == 1 else words.partition(":")[0], t.text, False))
        self.header.write(parts)
        cut, first = any(one.cut is not None for one in self.found), self.lines[0]
        self.header.name_keys({first.whole: "whole", first.cut: "truncated"} if cut else {})

    def dress(self) -> None:
        super().dress()
        if not hasattr(self, "line"):
            return
        for items in self.lines:
            items.dress()
        self.line.setPen(ink(theme.current().accent, 1.2))
        self.header.dress()
        self._write()

    # the mouse ------------------------------------------------------------------------------------------------
    def step_at(self, at: QPointF) -> int | None:
        """Return the step at a position in the plot."""
        step = math.floor(self.axis.step(at.x()))
        inside = self.found and self.box.viewRect().contains(at)
        return step if inside and 0 <= step < self.axis.steps else None

    def read(self, at: QPointF) -> str:
        step = self.step_at(at)
        if step is None or self.step is None:
            return ""
        lines = [f"step {step}, {abs(self.step - step)} {'before' if step <= self.step else 'after'} step {self.step}"]
        for one in self.found:
            cut = f", truncated {figure(float(one.cut[step]))}" if one.cut is not None else ""
            lines.append(f"{one.title} {figure(float(one.whole[step]))}{cut}")
        return "\n".join(lines)

    def clicked_at(self, at: QPointF) -> None:
        if (step := self.step_at(at)) is not None:
            self.picked.emit(step)
