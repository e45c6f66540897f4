"""Responses of one vertex at every rotation, drawn round its circle of directions: before, and in the turned frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from widgets.base import theme
from widgets.base.words import figure
from widgets.charts.chart import draw_mark, faded
from widgets.maps.diagram import font
from widgets.mesh.charts.patch_geometry import Around, Array

ALIKE = 1e-3  # responses that differ by less, of the largest, are alike
LOW = 0.16  # of the radius: where the smallest response is drawn
HEADER, FOOTER = 22, 20
CENTRE = Qt.AlignmentFlag.AlignCenter
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True, slots=True)
class Rose:
    """What is drawn: F(x) and, where something was done, F(rho(g) x) at the same vertex, one channel picked out."""

    before: Around
    after: Around | None
    channel: int

    @property
    def span(self) -> tuple[float, float]:
        """Return the lowest and the highest response of the channel; those of others may lie beyond."""
        both = [self.before] if self.after is None else [self.before, self.after]
        found = np.nan_to_num(np.concatenate([one.values[self.channel] for one in both]))
        low, high = float(found.min()), float(found.max())
        if high - low <= ALIKE * max(abs(low), abs(high)):  # a circle, not the noise on it
            low, high = min(0.0, low), max(0.0, high)
        return (low, high) if high > low else (0.0, 1.0)


class RoseChart(QWidget):
    """The picked channel: filled for F(x), a line for F(rho(g) x); the others are thin. Direction 0 is the axis X.

    A click on a thin line picks its channel.
    """

    hovered = Signal(str)
    picked = Signal(int)  # a channel
    asked = Signal()  # for the layer that the message names

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rose: Rose | None = None
        self.message, self.link, self._span = "", "", (0.0, 1.0)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)

    def sizeHint(self) -> QSize:
        return QSize(220, 210)

    def minimumSizeHint(self) -> QSize:
        return QSize(150, 110)

    def show_rose(self, rose: Rose | None, message: str = "", link: str = "") -> None:
        """Show responses, or say why there are none; a `link` names a layer that has some."""
        self.rose, self.message, self.link = rose, message, link
        self._span = (0.0, 1.0) if rose is None else rose.span
        self.setCursor(Qt.CursorShape.PointingHandCursor if link else Qt.CursorShape.ArrowCursor)
        self.update()

    # geometry -------------------------------------------------------------------------------------------------
    def circle(self) -> tuple[QPointF, float]:
        """Return the middle and the radius of the highest response."""
        room = QRectF(self.rect()).adjusted(0, HEADER, 0, -FOOTER)
        return room.center(), max(8.0, min(room.width(), room.height()) / 2 - 14)

    def radius_at(self, value: float) -> float:
        """Return how far from the middle a response is drawn, in pixels."""
        return float(self._radii(np.array([value]))[0])

    def _radii(self, values: Array) -> Array:
        low, high = self._span
        return np.asarray(self.circle()[1] * np.maximum(0.0, LOW + (1 - LOW) * (values - low) / (high - low)))

    def spot(self, value: float, angle: float) -> QPointF:
        """Return where a response in a direction is drawn."""
        r, middle = self.radius_at(value), self.circle()[0]
        return middle + QPointF(r * np.cos(angle), -r * np.sin(angle))

    def ring(self, values: Array) -> list[QPointF]:
        """Return where the responses of a channel are drawn."""
        middle, angle = self.circle()[0], np.arange(len(values)) * (2 * np.pi / len(values))
        r = self._radii(np.nan_to_num(values))
        spots = np.stack([middle.x() + r * np.cos(angle), middle.y() - r * np.sin(angle)], 1)
        return [QPointF(x, y) for x, y in spots.tolist()]

    # painting -------------------------------------------------------------------------------------------------
    def paintEvent(self, event: object) -> None:
        p = QPainter(self)
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        t = theme.current()
        p.fillRect(self.rect(), QColor(t.panel))
        if self.rose is None:
            p.setFont(font(12))
            p.setPen(QColor(t.muted))
            box = QRectF(self.rect()).adjusted(12, 4, -12, -4)
            p.drawText(box, CENTRE | Qt.TextFlag.TextWordWrap, self.message)
            if self.link:
                p.setPen(QColor(t.accent))
                low = QRectF(box.left(), box.center().y() + 34, box.width(), 20)
                p.drawText(low, CENTRE, self.link)
        else:
            self._paint(p, self.rose)
        p.end()

    def _paint(self, p: QPainter, rose: Rose) -> None:
        t, (middle, radius) = theme.current(), self.circle()
        p.setFont(font(12, bold=True))
        p.setPen(QColor(t.text))
        words = p.fontMetrics().elidedText(self.title(), Qt.TextElideMode.ElideRight, self.width() - 16)
        p.drawText(QRectF(8, 0, self.width() - 16, HEADER), LEFT, words)
        low, high = self._span
        p.setBrush(Qt.BrushStyle.NoBrush)
        p.setPen(QPen(faded(t.line, 200), 1))
        p.drawEllipse(middle, radius, radius)
        if low < 0 <= high:  # where the response is zero
            p.setPen(QPen(QColor(t.muted), 1, Qt.PenStyle.DashLine))
            p.drawEllipse(middle, self.radius_at(0.0), self.radius_at(0.0))
        self._paint_axes(p, middle, radius)
        rim = QPainterPath()
        rim.addEllipse(middle, radius, radius)
        p.save()
        p.setClipPath(rim)
        p.setPen(QPen(faded(t.muted, 90), 1))
        for channel, values in enumerate(rose.before.values):
            if channel != rose.channel:
                p.drawPolygon(QPolygonF(self.ring(values)))
        p.restore()
        p.setPen(QPen(QColor(t.first), 1.6))
        p.setBrush(faded(t.first, 60))
        p.drawPolygon(QPolygonF(self.ring(rose.before.values[rose.channel])))
        p.setBrush(Qt.BrushStyle.NoBrush)
        self._paint_places(p, rose.before, t.first)
        if rose.after is not None:
            p.setPen(QPen(QColor(t.text), 1.6, Qt.PenStyle.SolidLine))
            p.drawPolygon(QPolygonF(self.ring(rose.after.values[rose.channel])))
            self._paint_places(p, rose.after, t.text)
        self._paint_winner(p, rose.before, t.first, "dot")
        if rose.after is not None:
            self._paint_winner(p, rose.after, t.text, "ring")
        self._paint_keys(p, f"{figure(low)} … {figure(high)}")

    def _paint_axes(self, p: QPainter, middle: QPointF, radius: float) -> None:
        t = theme.current()
        p.setFont(font(11))
        for name, ink, way in (("X", t.second, QPointF(1, 0)), ("Y", t.good, QPointF(0, -1))):
            p.setPen(QPen(QColor(ink), 1.5))
            p.drawLine(middle, middle + way * radius)
            at = middle + way * (radius + 8)
            p.drawText(QRectF(at.x() - 8, at.y() - 8, 16, 16), CENTRE, name)

    def _paint_places(self, p: QPainter, found: Around, ink: str) -> None:
        """Mark the layer's own directions; a band-limited function has none."""
        assert self.rose is not None
        if found.sampled:
            for spot in self.ring(found.values[self.rose.channel]):
                draw_mark(p, "dot", spot, ink, 2.0)
        p.setBrush(Qt.BrushStyle.NoBrush)

    def _paint_winner(self, p: QPainter, found: Around, ink: str, mark: str) -> None:
        values = self._picked_values(found)
        best = int(np.nan_to_num(values, nan=-np.inf).argmax())
        at = self.spot(float(values[best]), best * 2 * np.pi / len(values))
        p.setPen(QPen(faded(ink, 170), 1, Qt.PenStyle.DotLine))
        p.drawLine(self.circle()[0], at)
        draw_mark(p, mark, at, ink, 4.0 if mark == "dot" else 6.0)
        p.setBrush(Qt.BrushStyle.NoBrush)

    def _picked_values(self, found: Around) -> Array:
        assert self.rose is not None
        return np.asarray(found.values[self.rose.channel])

    def _paint_keys(self, p: QPainter, span: str) -> None:
        assert self.rose is not None
        t, y = theme.current(), self.height() - FOOTER / 2
        keys = [("dot", "F(x)", t.first)] + ([("ring", "F(ρ(g)x)", t.text)] if self.rose.after is not None else [])
        p.setFont(font(11))
        x = 8.0
        for mark, text, ink in keys:
            draw_mark(p, mark, QPointF(x + 5, y), ink, 3.6)
            p.setPen(QColor(t.muted))
            wide = p.fontMetrics().horizontalAdvance(text)
            p.drawText(QRectF(x + 13, y - 9, wide + 2, 18), LEFT, text)
            x += wide + 24
        wide = p.fontMetrics().horizontalAdvance(span)
        if x + wide + 8 < self.width():
            p.drawText(QRectF(self.width() - wide - 8, y - 9, wide + 2, 18), LEFT, span)

    # words and hands ------------------------------------------------------------------------------------------
    def title(self) -> str:
        """Return what is drawn, in a few words."""
        if self.rose is None:
            return ""
        count = self.rose.before.values.shape[1]
        return f"Channel {self.rose.channel} · {f'{count} rotations' if self.rose.before.sampled else 'by direction'}"

    def winners(self) -> tuple[int, int | None]:
        """Return the direction of the strongest response of the picked channel, before and after."""
        assert self.rose is not None
        before = int(self._picked_values(self.rose.before).argmax())
        after = self.rose.after
        return before, None if after is None else int(self._picked_values(after).argmax())

    def _at(self, at: QPointF) -> tuple[int, int] | None:
        """Return the channel nearest to a point and the direction, or None."""
        if self.rose is None:
            return None
        middle, radius = self.circle()
        away = at - middle
        size = float(np.hypot(away.x(), away.y()))
        values = self.rose.before.values
        if size > radius + 8 or size < 4:
            return None
        k = round(float(np.arctan2(-away.y(), away.x())) / (2 * np.pi) * values.shape[1]) % values.shape[1]
        apart = [abs(self.radius_at(float(v)) - size) for v in np.nan_to_num(values[:, k])]
        return int(np.argmin(apart)), k

    def read(self, at: QPointF) -> str:
        """Return the read-out at a point: the picked channel in the direction of the mouse, before and after."""
        found = self._at(at)
        if found is None or self.rose is None:
            return ""
        k, count = found[1], self.rose.before.values.shape[1]
        words = [f"{360 * k / count:.0f}°: F(x) {figure(float(self.rose.before.values[self.rose.channel, k]))}"]
        if self.rose.after is not None:
            words.append(f"F(ρ(g)x) {figure(float(self.rose.after.values[self.rose.channel, k]))}")
        return ", ".join(words)

    def mouseMoveEvent(self, event: object) -> None:
        at = event.position()  # type: ignore[attr-defined]
        text = self.read(at)
        self.hovered.emit(text)
        if text:
            QToolTip.showText(event.globalPosition().toPoint(), text, self)  # type: ignore[attr-defined]
        else:
            QToolTip.hideText()

    def mouseReleaseEvent(self, event: object) -> None:
        if self.rose is None:
            if self.link:
                self.asked.emit()
        elif (found := self._at(event.position())) is not None:  # type: ignore[attr-defined]
            self.picked.emit(found[0])

    def leaveEvent(self, event: object) -> None:
        self.hovered.emit("")
