"""Faint marks of what was measured before a network's file was edited, each with a line to what is measured now."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from widgets.base.look import theme
from widgets.charts.items.marks import Marks, ink
from widgets.charts.library import pg
from widgets.charts.plot import Plot


class Former:
    """The former values of one quantity: rings of the same shape, hollow and muted."""

    def __init__(self, plot: Plot, symbol: Any) -> None:
        self.lines = plot.add(pg.PlotCurveItem(connect="pairs"), 2)
        self.lines.setSegmentedLineMode("on")
        self.marks = plot.add(Marks(symbol=symbol), 3)

    def set_values(self, x: NDArray[Any], then: NDArray[Any], now: NDArray[Any], size: float) -> None:
        """Stand the former values, as heights in the plot, beside those of now; NaN where there is none."""
        there = np.isfinite(then)
        self.marks.set_marks(x[there], then[there], size)
        both = there & np.isfinite(now)
        ends = np.stack([then[both], now[both]], axis=1).ravel()
        self.lines.setData(np.repeat(x[both], 2), ends, connect="pairs")

    def dress(self) -> None:
        """Take the colours of the theme."""
        t = theme.current()
        self.marks.setPen(ink(t.muted, 1.2, 190))
        self.marks.setBrush(None)
        self.lines.setPen(ink(t.muted, 1.0, 110))
