"""The surroundings of a vertex unrolled by its log map: what it sees, in its own frame, on both sides of the square."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QPaintEngine, QPainter, QPainterPath, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from widgets.base import theme
from widgets.charts.chart import faded
from widgets.maps.diagram import font
from widgets.mesh.charts.patch_geometry import Array, PatchLook, faces_near, raster
from widgets.mesh.drawing.painting import paint_ring, paint_sphere

HEADER, FOOTER, GAP = 22, 20, 10
HIT = 12.0  # pixels from a vertex at which it is meant
SOFTEST, MOST = 0.05, 40.0  # zooms
AXIS = 0.34  # length of an axis, of the radius
CENTRE = Qt.AlignmentFlag.AlignCenter
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
FRAME = (("X", "second"), ("Y", "good"))


class PatchChart(QWidget):
    """One or two patches side by side. The wheel zooms all, a double click shows what was shown first."""

    pointed = Signal(object)  # the number on x of the vertex under the mouse, or None
    picked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.looks: tuple[PatchLook, ...] = ()
        self.radius, self.zoom = 1.0, 1.0
        self.message, self.note = "", ""
        self.hot: int | None = None
        self._kept: dict[int, tuple[Any, QImage]] = {}
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)

    def sizeHint(self) -> QSize:
        return QSize(220 * max(1, len(self.looks)), 220)

    def minimumSizeHint(self) -> QSize:
        return QSize(140 * max(1, len(self.looks)), 110)

    def show_looks(self, looks: Sequence[PatchLook], radius: float, message: str = "") -> None:
        """Show patches up to a radius in units of the mesh, or say why there is none."""
        several = len(looks) != len(self.looks)
        self.looks, self.message, self.radius = tuple(looks), message, radius
        self._kept = {k: kept for k, kept in self._kept.items() if k < len(looks)}
        if several:
            self.updateGeometry()
        self.update()

    def point_at(self, vertex: int | None) -> None:
        """Outline a vertex of x."""
        if vertex != self.hot:
            self.hot = vertex
            self.update()

    # geometry -------------------------------------------------------------------------------------------------
    def cells(self) -> list[tuple[QPointF, float]]:
        """Return the middle and the radius in pixels of each disc."""
        count = max(1, len(self.looks))
        wide = (self.width() - GAP * (count + 1)) / count
        radius = max(10.0, min(wide, self.height() - HEADER - FOOTER) / 2)
        y = HEADER + (self.height() - HEADER - FOOTER) / 2
        # discs stay beside each other where there is more room than they fill
        left = (self.width() - count * 2 * radius - (count - 1) * 2 * GAP) / 2
        return [(QPointF(left + radius + k * 2 * (radius + GAP), y), radius) for k in range(count)]

    def shown(self) -> float:
        """Return the radius of the discs in units of the mesh."""
        return self.radius / self.zoom

    def spots(self, panel: int) -> Array:
        """Return where the vertices are in the widget, (V, 2)."""
        middle, radius = self.cells()[panel]
        return np.array([middle.x(), middle.y()]) + self.looks[panel].places * np.array([1, -1]) * (
            radius / self.shown()
        )

    def vertex_at(self, vertex: int, panel: int = 0) -> QPointF:
        """Return where a vertex of x is in the widget."""
        return QPointF(*self.spots(panel)[vertex])

    def under(self, at: QPointF) -> tuple[int, int] | None:
        """Return the panel and the vertex of x near a point of the widget, or None."""
        for panel, (middle, radius) in enumerate(self.cells()[: len(self.looks)]):
            if np.hypot(at.x() - middle.x(), at.y() - middle.y()) > radius:
                continue
            spots = self.spots(panel)
            away = np.hypot(spots[:, 0] - at.x(), spots[:, 1] - at.y())
            away = np.where(np.isfinite(away), away, np.inf)
            if len(away) and away.min() <= HIT:
                return panel, int(away.argmin())
        return None

    # painting -------------------------------------------------------------------------------------------------
    def paintEvent(self, event: object) -> None:
        p = QPainter(self)
        p.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        t = theme.current()
        p.fillRect(self.rect(), QColor(t.panel))
        if self.message or not self.looks:
            p.setFont(font(12))
            p.setPen(QColor(t.muted))
            p.drawText(QRectF(self.rect()).adjusted(12, 4, -12, -4), CENTRE | Qt.TextFlag.TextWordWrap, self.message)
        else:
            for panel, (middle, radius) in enumerate(self.cells()):
                self._paint(p, panel, middle, radius)
            p.setFont(font(11))
            p.setPen(QColor(t.muted))
            box = QRectF(GAP, self.height() - FOOTER, self.width() - 2 * GAP, FOOTER)
            p.drawText(
                box, CENTRE, p.fontMetrics().elidedText(self.note, Qt.TextElideMode.ElideRight, int(box.width()))
            )
        p.end()

    def _paint(self, p: QPainter, panel: int, middle: QPointF, radius: float) -> None:
        t, look = theme.current(), self.looks[panel]
        p.setFont(font(12, bold=True))
        p.setPen(QColor(t.text))
        room = 2 * radius + 2 * GAP
        title = p.fontMetrics().elidedText(look.title, Qt.TextElideMode.ElideRight, int(room))
        p.drawText(QRectF(middle.x() - room / 2, 0, room, HEADER), CENTRE, title)
        p.save()
        disc = QPainterPath()
        disc.addEllipse(middle, radius, radius)
        p.setClipPath(disc)
        p.fillPath(disc, QColor(t.raised))
        faces = faces_near(look.places, look.faces, self.shown())
        self._paint_surface(p, panel, faces, middle, radius)
        self._paint_wires(p, panel, faces, radius)
        unit = radius / self.shown()
        self._paint_patch(p, look, middle, unit)
        if look.exact < self.shown():
            p.setBrush(Qt.BrushStyle.NoBrush)
            p.setPen(QPen(QColor(t.bad), 1.5, Qt.PenStyle.DashLine))
            p.drawEllipse(middle, look.exact * unit, look.exact * unit)
        self._paint_frame(p, look, middle, radius)
        paint_sphere(p, middle, "accent")
        if self.hot is not None and self.hot < len(look.places) and np.isfinite(look.places[self.hot]).all():
            paint_ring(p, self.vertex_at(self.hot, panel), True)
        p.restore()
        p.setBrush(Qt.BrushStyle.NoBrush)
        p.setPen(QPen(QColor(t.line), 1))
        p.drawEllipse(middle, radius, radius)

    def _paint_surface(self, p: QPainter, panel: int, faces: Array, middle: QPointF, radius: float) -> None:
        """Paint the colours, which are kept as a picture until something in it changes."""
        look = self.looks[panel]
        on_screen = p.paintEngine().type() == QPaintEngine.Type.Raster
        side = round(2 * radius * (max(p.deviceTransform().m11(), 1.0) if on_screen else 2.0))
        key = (look.places, look.colours, self.shown(), side)
        kept = self._kept.get(panel)
        if kept is None or kept[0][2:] != key[2:] or any(a is not b for a, b in zip(kept[0][:2], key[:2], strict=True)):
            spots = side / 2 + look.places * np.array([1, -1]) * (side / 2 / self.shown())
            pixels = np.ascontiguousarray(raster(spots, faces, look.colours, side))
            image = QImage(pixels.data, side, side, 4 * side, QImage.Format.Format_RGBA8888).copy()
            kept = self._kept[panel] = (key, image)
        p.drawImage(QRectF(middle.x() - radius, middle.y() - radius, 2 * radius, 2 * radius), kept[1])

    def _paint_wires(self, p: QPainter, panel: int, faces: Array, radius: float) -> None:
        spots = self.spots(panel)
        if not len(faces) or 2 * radius / np.sqrt(len(faces)) < 3:  # too many to be told apart
            return
        p.setPen(QPen(faded(theme.current().muted, 70), 1))
        p.setBrush(Qt.BrushStyle.NoBrush)
        for face in faces:
            p.drawPolygon(QPolygonF([QPointF(*spots[k]) for k in face]))

    def _paint_patch(self, p: QPainter, look: PatchLook, middle: QPointF, unit: float) -> None:
        """Draw where the network looks: rings and rays in the frame in use, and the places where they meet."""
        if not look.rings or not look.rays:
            return
        t, reach = theme.current(), look.reach * unit
        # the frame's own X points to the right, so these do not turn with the surface
        angles = np.arange(look.rays) * (2 * np.pi / look.rays)
        ways = np.stack([np.cos(angles), -np.sin(angles)], 1)
        p.setBrush(Qt.BrushStyle.NoBrush)
        for ink, width in ((faded(t.plot, 150), 2.6), (faded(t.first, 230), 1.0)):
            p.setPen(QPen(ink, width))
            for ring in range(1, look.rings + 1):
                p.drawEllipse(middle, reach * ring / look.rings, reach * ring / look.rings)
            for x, y in ways:
                p.drawLine(middle, middle + QPointF(x, y) * reach)
        p.setPen(QPen(QColor(t.plot), 0.8))
        p.setBrush(QColor(t.first))
        for ring in range(1, look.rings + 1):
            for x, y in ways:
                p.drawEllipse(middle + QPointF(x, y) * (reach * ring / look.rings), 2.2, 2.2)

    def _paint_frame(self, p: QPainter, look: PatchLook, middle: QPointF, radius: float) -> None:
        """Draw the axes of the frame, and dashed where those of the other side of the square lie."""
        frames = [(look.frame, False)] if look.other is None else [(look.other, True), (look.frame, False)]
        for frame, dashed in frames:
            for k, (name, role) in enumerate(FRAME):
                ink = QColor(getattr(theme.current(), role))
                way = QPointF(frame[0, k], -frame[1, k])
                tip = middle + way * (radius * AXIS)
                style = Qt.PenStyle.DotLine if dashed else Qt.PenStyle.SolidLine
                for colour, width in ((QColor(theme.current().plot), 4.2), (ink, 2.2)):
                    if dashed and width > 3:
                        continue
                    p.setPen(QPen(colour, width, style, Qt.PenCapStyle.RoundCap))
                    p.drawLine(middle, tip)
                    if not dashed:
                        side = QPointF(-way.y(), way.x()) * 4
                        p.drawPolyline(QPolygonF([tip - way * 7 + side, tip, tip - way * 7 - side]))
                if not dashed:
                    self._paint_name(p, middle + way * (radius * AXIS + 10), name, ink)

    def _paint_name(self, p: QPainter, at: QPointF, name: str, ink: QColor) -> None:
        p.setPen(Qt.PenStyle.NoPen)
        p.setBrush(faded(theme.current().plot, 200))
        p.drawEllipse(at, 7.5, 7.5)
        p.setFont(font(11, bold=True))
        p.setPen(ink)
        p.drawText(QRectF(at.x() - 9, at.y() - 9, 18, 18), CENTRE, name)

    # hands ----------------------------------------------------------------------------------------------------
    def mouseMoveEvent(self, event: Any) -> None:
        found = self.under(event.position())
        vertex = None if found is None else found[1]
        if vertex != self.hot:
            self.point_at(vertex)
            self.pointed.emit(vertex)

    def mouseReleaseEvent(self, event: Any) -> None:
        if event.button() == Qt.MouseButton.LeftButton and (found := self.under(event.position())) is not None:
            self.picked.emit(found[1])

    def mouseDoubleClickEvent(self, event: Any) -> None:
        self._zoom(1.0)

    def wheelEvent(self, event: Any) -> None:
        turns = event.angleDelta().y() / 120
        if not self.looks or not turns:
            event.ignore()
            return
        self._zoom(self.zoom * 1.2**turns)
        event.accept()

    def _zoom(self, zoom: float) -> None:
        self.zoom = min(max(zoom, SOFTEST), MOST)
        self.update()

    def leaveEvent(self, event: object) -> None:
        self.point_at(None)
        self.pointed.emit(None)
