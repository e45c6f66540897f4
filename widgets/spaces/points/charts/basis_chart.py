"""Functions of a distance or an angle that a network sees through: radial and angular bases."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QSize
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from explorer.spaces.points.drawing.spectrum import Curve
from widgets.base.look import theme
from widgets.base.text.words import figure
from widgets.charts.axis.axes import ValueAxis
from widgets.charts.inks import mixed
from widgets.charts.items.marks import ink
from widgets.charts.library import pg
from widgets.charts.plot import Plot

MOST = 64  # functions that are drawn


class BasisChart(Plot):
    """Draws each function as a curve, coloured from first to last, and the edges of x as ticks below."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, left=ValueAxis("left"), bottom=ValueAxis("bottom"))
        self.curve: Curve | None = None
        self._title, self._apart = "", ""
        self.curves = [self.add(pg.PlotCurveItem(), 1) for _ in range(MOST)]
        self.edges = self.add(pg.PlotCurveItem(connect="pairs"), 2)
        self.dress()

    def sizeHint(self) -> QSize:
        return QSize(380, 160)

    def show_curve(self, curve: Curve | None, there: np.ndarray, title: str = "", apart: str = "edges") -> None:
        """Show functions, with ticks `there`, at the angles of x or how far `apart` are; None for what shows none."""
        self.curve, self._title, self._apart = curve, title, apart
        self.message = "" if curve is not None else "No radial or angular basis in this network"
        if curve is None:
            return
        shown = curve.values[:MOST]
        for k, item in enumerate(self.curves):
            item.setVisible(k < len(shown))
            if k < len(shown):
                item.setData(curve.along, shown[k])
        low, high = float(shown.min(initial=0.0)), float(shown.max(initial=0.0))
        room = 0.06 * (high - low or 1.0)
        below = low - room
        self.edges.setData(np.repeat(there, 2), np.tile([below, below + room], len(there)))
        self.set_ranges((float(curve.along[0]), float(curve.along[-1])), (below, high + room))
        self._colour()
        self._write()

    def _colour(self) -> None:
        if self.curve is None:
            return
        t, count = theme.current(), max(1, len(self.curve.values[:MOST]) - 1)
        for k, item in enumerate(self.curves):
            item.setPen(ink(mixed(t.second, t.first, min(1.0, k / count)).name(), 1.5))
        self.edges.setPen(ink(QColor(t.text).name(), 1.0, 160))

    def _write(self) -> None:
        t = theme.current()
        curve = self.curve
        assert curve is not None
        unit = f" in {curve.unit}" if curve.unit else ""
        ticks = self._apart if curve.quantity == "distance" else f"{curve.quantity}s of x"
        self.header.write([(self._title, t.text, True), (f"{curve.quantity}{unit}; ticks: {ticks}", t.muted, False)])

    def read(self, at: QPointF) -> str:
        if self.curve is None:
            return ""
        column = int(np.abs(self.curve.along - at.x()).argmin())
        nearest = int(np.abs(self.curve.values[:MOST, column] - at.y()).argmin())
        value = float(self.curve.values[nearest, column])
        return f"function {nearest} at {figure(float(self.curve.along[column]))} {self.curve.unit}: {figure(value)}"

    def dress(self) -> None:
        super().dress()
        if hasattr(self, "curves"):
            self._colour()
            if self.curve is not None:
                self._write()
