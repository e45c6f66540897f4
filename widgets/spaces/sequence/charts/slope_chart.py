"""The slope of a warp of time over the steps, with gates on the same axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPen
from PySide6.QtWidgets import QWidget

from widgets.base.look import theme
from widgets.charts.axis.axes import ValueAxis
from widgets.charts.items.marks import fill, ink, level
from widgets.charts.library import pg
from widgets.charts.plot import Plot
from widgets.spaces.sequence.charts.step_axis import StepAxis


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One gate over the steps of rho(g) x: `ink` is a role of the theme, `thin` a single unit."""

    title: str
    values: NDArray[Any]
    ink: str
    thin: bool = False

    def pen(self) -> QPen:
        style = Qt.PenStyle.DotLine if self.thin else Qt.PenStyle.SolidLine
        return ink(getattr(theme.current(), self.ink), 1.4 if self.thin else 1.8, 255, style)


def thinned(values: NDArray[Any], most: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return at most so many means of neighbours, and the steps between which each is taken, one more."""
    edges = np.unique(np.linspace(0, len(values), min(most, len(values)) + 1).round().astype(np.intp))
    if len(values) <= most:
        return edges, np.asarray(values, np.float64)
    return edges, np.add.reduceat(np.asarray(values, np.float64), edges[:-1]) / np.diff(edges)


class SideAxis(ValueAxis):
    """An axis as wide as the one of the plot above."""

    def __init__(self, above: StepAxis) -> None:
        self.above = above
        super().__init__("left")

    def widest(self) -> Sequence[str]:
        return self.above.widest()


class SlopeChart(Plot):
    """The slope between each two steps, filled, and the lines over it."""

    def __init__(self, parent: QWidget, above: StepAxis, told: Callable[[float], str]) -> None:
        self.axis = StepAxis("bottom")
        super().__init__(parent, left=SideAxis(above), bottom=self.axis)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._told_at = told
        self.values: NDArray[Any] = np.zeros(0)
        self.lines: list[Line] = []
        self.words = ""
        self.slope = self.add(pg.PlotCurveItem([0.0, 1.0], [0.0], stepMode="center", fillLevel=0.0))
        self.curves: list[pg.PlotCurveItem] = []
        self.hair = self.add(level(0.0, "#000000", upright=True), 9)
        self.hair.hide()
        self.dress()

    def show_slope(self, values: NDArray[Any]) -> None:
        self.values = values
        self._update()

    def show_lines(self, lines: Sequence[Line], words: str) -> None:
        """Show gates, and say something of them."""
        self.lines, self.words = list(lines), words
        while len(self.curves) < len(self.lines):
            self.curves.append(self.add(pg.PlotCurveItem(connect="finite"), 1 + len(self.curves)))
        self._update()
        self._write()

    def _update(self) -> None:
        found = (np.asarray(v) for v in (self.values, *(line.values for line in self.lines)))
        tops = [1.2, *(float(v[np.isfinite(v)].max(initial=0.0)) for v in found)]
        self.set_ranges(y=(0.0, 1.06 * min(max(tops), 20.0)))
        self._place()

    def _place(self) -> None:
        """Hand on what is seen, at most so many numbers as there is room for."""
        low, high = (self.axis.step(v) for v in self.box.viewRange()[0])
        most = int(4 * max(1.0, self.box.width())) + 1
        first, last = max(0, math.floor(low) - 1), math.ceil(high) + 1
        edges, heights = thinned(self.values[first:last], most)
        if heights.size:
            self.slope.setData(np.asarray(self.axis.place(first + edges + 0.5)), heights)
        self.slope.setVisible(bool(heights.size))
        for k, curve in enumerate(self.curves):
            shown = self.lines[k].values[first:last] if k < len(self.lines) else self.values[:0]
            edges, heights = thinned(shown, most)
            curve.setData(np.asarray(self.axis.place(first + (edges[:-1] + edges[1:]) / 2)), heights)

    def reshaped(self) -> None:
        if hasattr(self, "hair"):
            self._place()

    def show_hair(self, place: float | None) -> None:
        """Mark what the mouse is at."""
        self.hair.setVisible(place is not None)
        if place is not None:
            self.hair.setPos(place)

    def _write(self) -> None:
        for line, curve in zip(self.lines, self.curves):
            curve.setPen(line.pen())
        self.header.name_keys({self.slope: "dτ/dt"} | dict(zip(self.curves, (line.title for line in self.lines))))
        self.header.dress()
        muted = theme.current().muted
        self.header.write([("", muted, False), ("", muted, False), (self.words, muted, False)])  # the legend goes first

    def dress(self) -> None:
        super().dress()
        if hasattr(self, "hair"):
            muted = theme.current().muted
            self.slope.setPen(ink(muted, 1.6))
            self.slope.setBrush(fill(muted, 50))
            self.hair.setPen(ink(muted))
            self._write()

    def read(self, at: QPointF) -> str:
        return self._told_at(at.x()) if self.box.viewRect().contains(at) else ""
