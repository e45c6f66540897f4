"""A mouse for plots: real events through the viewport, at coordinates of the plot's axes."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPointF

from tests.widgets.parts.driving.mouse import Mouse


class PlotMouse(Mouse):
    """Like a Mouse, with `at_data` for the place of a pair of coordinates and `middle` for the middle of the height."""

    def __init__(self, plot: Any) -> None:
        super().__init__(plot)
        self.plot = plot
        self.said: list[str] = []
        plot.hovered.connect(self.said.append)

    def at_data(self, x: float, y: float) -> QPointF:
        """Return the pixel of a pair of coordinates of the axes."""
        return self.plot.box.mapViewToScene(QPointF(x, y))

    def middle(self, x: float) -> QPointF:
        """Return the pixel at `x`, half-way up the plot."""
        return QPointF(self.at_data(x, 0).x(), self.plot.plotted.center().y())

    def read(self, point: QPointF) -> str:
        """Move there and return what the plot says of it."""
        self.move(point)
        return self.said[-1]
