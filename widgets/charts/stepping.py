"""From mark to mark by keys: what the mouse points at and clicks on in a chart, the keyboard reaches as well."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QBrush

from widgets.base.look import theme
from widgets.charts.items.marks import DOT, Columns, Marks, ink
from widgets.charts.library import pg

STEPS = {Qt.Key.Key_Left: (0, -1), Qt.Key.Key_Right: (0, 1), Qt.Key.Key_Down: (1, -1), Qt.Key.Key_Up: (1, 1)}
CHOOSES = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
SIZE = 15.0  # pixels of the ring
SAME = 1.0  # pixels: what is closer is one place
ALONG = 40  # places at which a line without marks is read


def marked(box: Any, ring: Any) -> list[QPointF]:
    """Return where the marks and columns of a chart are; where it has none, places along its lines."""
    found: list[QPointF] = []
    lines: list[QPointF] = []
    for item in box.childGroup.childItems():
        if item is ring or not item.isVisible():
            continue
        if isinstance(item, Columns):
            found += [QPointF((x0 + x1) / 2, (y0 + y1) / 2) for x0, x1, y0, y1 in item.rectangles().tolist()]
        elif isinstance(item, pg.ScatterPlotItem):
            found += _points(item.getData())
        elif isinstance(item, pg.PlotDataItem | pg.PlotCurveItem):
            marks = isinstance(item, pg.PlotDataItem) and item.opts["symbol"] is not None
            points = _points(item.getData())
            if marks:
                found += points
            else:
                lines += points[:: max(1, len(points) // ALONG)]
    return found or lines


def _points(data: tuple[Any, Any]) -> list[QPointF]:
    if data[0] is None or data[1] is None:
        return []
    x, y = np.asarray(data[0], float), np.asarray(data[1], float)
    there = np.isfinite(x) & np.isfinite(y)
    return [QPointF(a, b) for a, b in zip(x[there].tolist(), y[there].tolist(), strict=True)]


class Stepping:
    """Holds the mark that the keyboard is at, with a ring round it; gone with the focus, or when the mouse moves."""

    def __init__(self, plot: Any) -> None:
        self._plot = plot
        self.at: QPointF | None = None
        self.ring = plot.add(Marks(symbol=DOT, size=SIZE), 90)
        self.ring.hide()

    def step(self, key: Any) -> bool:
        """Go to the next mark that says something; return whether there is one at all."""
        axis, by = STEPS[key]
        places = self._places()
        seen = self._plot.box.viewRange()
        for at in self._following(places, axis, by):
            self._bring_in(at)  # what is not seen has no read-out
            if self._plot.answers(at):
                self._stand(at)
                return True
        self._plot.box.setRange(xRange=seen[0], yRange=seen[1], padding=0)
        return bool(places) and self.at is not None

    def leave(self) -> None:
        """Take the ring away; the next key begins beside where it was."""
        if self.ring.isVisible():
            self.ring.hide()
            self._plot.pointed(None)
            self._plot.hovered.emit("")

    def _places(self) -> list[QPointF]:
        (left, right), (low, high) = self._plot.box.whole
        return [at for at in self._plot.stops() if left <= at.x() <= right and low <= at.y() <= high]

    def _following(self, places: list[QPointF], axis: int, by: int) -> list[QPointF]:
        """Return the places to one side of the present one: the next along that axis first, of several the nearest.

        Upwards and downwards those of the same column come before all others: lines are changed there.
        """
        pixels = self._plot.pixels()
        points = [(at.x() * pixels.x(), at.y() * pixels.y()) for at in places]
        if all(abs(point[axis] - points[0][axis]) <= SAME for point in points):
            axis = 1 - axis  # they all lie in one column or row
        if self.at is None:
            order = sorted(range(len(places)), key=lambda k: (by * points[k][axis], points[k][1 - axis]))
            return [places[k] for k in order]
        here = (self.at.x() * pixels.x(), self.at.y() * pixels.y())

        def rank(k: int) -> tuple[bool, int, float]:
            along, aside = by * (points[k][axis] - here[axis]), abs(points[k][1 - axis] - here[1 - axis])
            return axis == 1 and aside > SAME, round(along), aside

        beyond = [k for k in range(len(places)) if by * (points[k][axis] - here[axis]) > SAME]
        return [places[k] for k in sorted(beyond, key=rank)]

    def _bring_in(self, at: QPointF) -> None:
        (left, right), (low, high) = self._plot.box.viewRange()
        outside = [max(0.0, at.x() - right) - max(0.0, left - at.x()), max(0.0, at.y() - high) - max(0.0, low - at.y())]
        if any(outside):
            self._plot.box.translateBy(*outside)

    def _stand(self, at: QPointF) -> None:
        self.at = at
        self.ring.setPen(ink(theme.current().text, 2.0))  # it stands on marks of any colour
        self.ring.setBrush(QBrush(Qt.BrushStyle.NoBrush))
        self.ring.set_marks(np.array([at.x()]), np.array([at.y()]), SIZE)
        self.ring.show()
        self._plot.pointed(at)
        self._plot.tell(at)
