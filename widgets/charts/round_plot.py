"""Plots about a point: one scale for both axes, no axes, and a round window in which things are cut off."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsEllipseItem, QGraphicsPathItem, QWidget

from widgets.base.look import theme
from widgets.charts.axis.axes import NameAxis, ValueAxis
from widgets.charts.library import pg
from widgets.charts.plot import Plot

FINE = 96  # corners of a circle
FAR = 20.0  # radii: wider than any plot shows
FRONT = 1e6  # before all that lies in a disc

Points = tuple[NDArray[np.float64], NDArray[np.float64]]


class RoundPlot(Plot):
    """A plot of distances from its middle, which the mouse does not move."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, left=ValueAxis("left"), bottom=NameAxis("bottom"))
        for axis in (self.left, self.bottom):
            axis.setStyle(showValues=False)
            axis.setGrid(False)
            axis.setTicks([])
        self.frame.layout.setContentsMargins(8, 0, 8, 0)
        self.box.setMouseEnabled(x=False, y=False)
        self.box.keep_round()

    def dress(self) -> None:
        super().dress()
        self.box.borderRect.setPen(Qt.PenStyle.NoPen)

    def drawBackground(self, p: QPainter, rect: QRectF) -> None:
        p.fillRect(self.rect(), QColor(theme.current().panel))


class Disc(pg.GraphicsObject):
    """A round window: what is added to it ends at its rim.

    It is covered beyond that, not clipped: Qt's SVG reckons a clip that is no rectangle in whole units of the plot.
    """

    def __init__(self) -> None:
        super().__init__()
        self.radius = 0.0
        self._ground, self._around = QGraphicsEllipseItem(self), QGraphicsPathItem(self)
        self._ground.setZValue(-FRONT)
        self._around.setZValue(FRONT)
        for item in (self._ground, self._around):
            item.setPen(QPen(Qt.PenStyle.NoPen))
            item.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
        self.set_radius(1.0)

    def set_radius(self, radius: float) -> None:
        if radius != self.radius:
            self.prepareGeometryChange()
            self.radius = radius
            self._ground.setRect(self.boundingRect())
            far, path = FAR * radius, self.shape()
            path.addRect(-far, -far, 2 * far, 2 * far)
            self._around.setPath(path)

    def dress(self, ground: QColor | None = None) -> None:
        """Take the colours of the theme, within the disc that of `ground` if there is one."""
        self._ground.setBrush(ground or QBrush(Qt.BrushStyle.NoBrush))
        self._around.setBrush(QColor(theme.current().panel))

    def add(self, item: Any, z: float = 0.0) -> Any:
        item.setParentItem(self)
        item.setZValue(z)
        return item

    def boundingRect(self) -> QRectF:
        return QRectF(-self.radius, -self.radius, 2 * self.radius, 2 * self.radius)

    def shape(self) -> QPainterPath:
        path = QPainterPath()
        path.addEllipse(self.boundingRect())
        return path

    def paint(self, p: QPainter, *rest: Any) -> None:
        """Leave it to the items."""


def polar(radii: NDArray[Any]) -> Points:
    """Return the closed curves through radii (curves, directions), one after the other with a gap between them."""
    radii = np.atleast_2d(radii)
    angle = np.append(np.arange(radii.shape[1]) * (2 * np.pi / radii.shape[1]), 0.0)
    closed = np.concatenate([radii, radii[:, :1]], 1)
    spots = np.stack([closed * np.cos(angle), closed * np.sin(angle)])
    spots = np.pad(spots, ((0, 0), (0, 0), (0, 1)), constant_values=np.nan)
    return spots[0].ravel(), spots[1].ravel()


def circles(radii: Any) -> Points:
    """Return circles about the middle."""
    return polar(np.repeat(np.asarray(radii, dtype=float).reshape(-1, 1), FINE, 1))
