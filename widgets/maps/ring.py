"""The ring round a picture: drag it to turn what is inside. Shows the angle in its handle."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPainterPath, QPainterPathStroker, QPen
from PySide6.QtWidgets import QGraphicsObject, QGraphicsSceneHoverEvent, QGraphicsSceneMouseEvent

from explorer.declare.telling.numerals import with_minus
from widgets.maps.diagram import colour, font

MAGNET = 2.0  # degrees round a quarter turn within which the angle jumps to it
COARSE = 15.0  # degrees, with Shift
FREE = Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ControlModifier


def wrap(angle: float) -> float:
    """Return the same angle in (-180, 180]."""
    return 180.0 - (180.0 - angle) % 360.0


def snap(angle: float, modifiers: Qt.KeyboardModifier) -> float:
    """Return the angle a hand means.

    Whole degrees, and quarter turns nearby; steps of 15° with Shift, tenths with Alt or Ctrl.
    """
    if modifiers & Qt.KeyboardModifier.ShiftModifier:
        return wrap(round(angle / COARSE) * COARSE)
    if modifiers & FREE:
        return wrap(round(angle, 1))
    quarter = round(angle / 90.0) * 90.0
    return wrap(quarter if abs(angle - quarter) <= MAGNET else float(round(angle)))


@lru_cache(maxsize=4)
def _ticks(radius: float) -> tuple[list[QLineF], list[QLineF]]:
    """Return the ticks of a ring at the quarter turns, and those at every other 15°."""
    quarters, others = [], []
    for degrees in range(0, 360, 15):
        along = QPointF(math.cos(math.radians(degrees)), -math.sin(math.radians(degrees)))
        if degrees % 90 == 0:
            quarters.append(QLineF(along * (radius - 5), along * (radius + 5)))
        else:
            others.append(QLineF(along * radius, along * (radius + 3)))
    return quarters, others


class Ring(QGraphicsObject):
    """A circle with ticks and a handle. Angles are degrees, counter-clockwise as displayed.

    The handle lies where the picture's "up" has gone, so that it turns with the picture even when a mirror
    acts after the rotation: `sense` is then -1, and the parameter turns the other way.
    """

    turned = Signal(float, bool)  # the new angle, released

    MARGIN_X, MARGIN_Y = 24.0, 12.0  # what the handle needs outside of the circle

    def __init__(self) -> None:
        super().__init__()
        self.setAcceptHoverEvents(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setToolTip("Drag to rotate. Shift: steps of 15°. Alt: tenths of a degree.")
        self.angle = 0.0
        self.up = 90.0  # direction of the handle, from the right
        self.sense = 1.0
        self.radius = 50.0
        self.held = False
        self._hot = False
        self.hold = (0.0, 0.0)  # the parameter's and the pointer's angle at the press
        self._last: float | None = None

    def place(self, centre: QPointF, radius: float) -> None:
        self.setPos(centre)
        if radius != self.radius:
            self.prepareGeometryChange()
            self.radius = radius

    def set_angle(self, angle: float, up: float, sense: float) -> None:
        """Show a rotation by `angle` whose handle points in direction `up`."""
        if (angle, up, sense) != (self.angle, self.up, self.sense):
            self.angle, self.up, self.sense = angle, up, sense
            self.update()

    def text(self) -> str:
        return with_minus(f"{self.angle:.1f}".removesuffix(".0")) + "°"

    def handle(self) -> QRectF:
        """Return the box of the handle, on the item."""
        width = max(34.0, QFontMetricsF(font(11, True)).horizontalAdvance(self.text()) + 12)
        box = QRectF(0, 0, width, 18)
        turn = math.radians(self.up)
        box.moveCenter(QPointF(self.radius * math.cos(turn), -self.radius * math.sin(turn)))
        return box

    def boundingRect(self) -> QRectF:
        reach_x, reach_y = self.radius + self.MARGIN_X + 6, self.radius + self.MARGIN_Y
        return QRectF(-reach_x, -reach_y, 2 * reach_x, 2 * reach_y)

    def shape(self) -> QPainterPath:
        """Return where the ring is taken hold of: near the circle and on the handle, not on the picture."""
        circle = QPainterPath()
        circle.addEllipse(QPointF(0, 0), self.radius, self.radius)
        stroker = QPainterPathStroker()
        stroker.setWidth(12)
        path = stroker.createStroke(circle)
        path.addRoundedRect(self.handle(), 9, 9)
        path.setFillRule(Qt.FillRule.WindingFill)
        return path

    def paint(self, painter: QPainter, option: Any, widget: Any = None) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        r = self.radius
        circle = QRectF(-r, -r, 2 * r, 2 * r)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(colour("muted" if self._hot or self.held else "line"), 1.5))
        painter.drawEllipse(circle)
        quarters, others = _ticks(r)
        for lines, width in ((others, 1), (quarters, 2)):
            painter.setPen(QPen(colour("muted"), width))
            painter.drawLines(lines)
        # from where "up" would be without the rotation, the way the parameter was turned
        swept = self.sense * self.angle
        if swept:
            painter.setPen(QPen(colour("accent"), 3, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
            painter.drawArc(circle, round((self.up - swept) * 16), round(swept * 16))
        box = self.handle()
        painter.setPen(QPen(colour("panel"), 1.5))
        painter.setBrush(colour("accent"))
        painter.drawRoundedRect(box, 9, 9)
        painter.setFont(font(11, True, fixed=True))
        painter.setPen(colour("panel"))
        painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), self.text())

    # mouse ------------------------------------------------------------------------------------------------
    def hoverEnterEvent(self, event: QGraphicsSceneHoverEvent) -> None:
        self._hot = True
        self.update()

    def hoverLeaveEvent(self, event: QGraphicsSceneHoverEvent) -> None:
        self._hot = False
        self.update()

    @staticmethod
    def _pointer(point: QPointF) -> float:
        return math.degrees(math.atan2(-point.y(), point.x()))

    def mousePressEvent(self, event: QGraphicsSceneMouseEvent) -> None:
        self.held, self._last = True, None
        self.hold = (self.angle, self._pointer(event.pos()))
        self.update()

    def mouseMoveEvent(self, event: QGraphicsSceneMouseEvent) -> None:
        # relative to where it was taken hold of: the handle must not jump to the pointer
        start, pointer = self.hold
        turn = self.sense * wrap(self._pointer(event.pos()) - pointer)
        angle = snap(start + turn, event.modifiers())
        if angle != (start if self._last is None else self._last):
            self._last = angle
            self.turned.emit(angle, False)

    def mouseReleaseEvent(self, event: QGraphicsSceneMouseEvent) -> None:
        self.held = False
        self.update()
        if self._last is not None:
            self.turned.emit(self._last, True)

    def mouseDoubleClickEvent(self, event: QGraphicsSceneMouseEvent) -> None:
        self.turned.emit(0.0, True)
