"""What the charts share: a logarithmic scale, ticks, and a widget with a plot rectangle that can be zoomed.

Charts are painted, not assembled from plot items: nothing is created on a frame, a bar knows its pixel, and an
export to SVG or PDF gets the same text and lines as the screen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
    QPaintEngine,
    QPainter,
    QPen,
    QPixmap,
    QPolygonF,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from widgets.base import theme
from widgets.base.theme import Theme
from widgets.charts.adaptive import Adaptive
from widgets.charts.inks import faded, mixed, quiet_selection
from widgets.charts.scales import LogScale, linear_ticks, power, scale_for

LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
CENTRE = Qt.AlignmentFlag.AlignCenter

__all__ = [
    "CENTRE", "LEFT", "RIGHT", "Adaptive", "Chart", "LogScale", "draw_hair", "draw_mark", "faded", "linear_ticks",
    "mixed", "power", "quiet_selection", "scale_for",
]  # fmt: skip


class Chart(QWidget):
    """A header line, a plot rectangle with an error axis on its left, and a horizontal range.

    The wheel zooms the horizontal range about the cursor, a drag pans when zoomed, a double click shows all.
    Subclasses paint (`paint`), read out (`read`) and answer clicks (`clicked_at`).
    """

    hovered = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.scale = LogScale()
        self.axis = True  # whether the error axis is labelled
        self.message = ""  # shown instead of a plot: the designed empty state
        self._whole = (0.0, 1.0)
        self._range = (0.0, 1.0)
        self._press: QPointF | None = None
        self._panned = False
        self._mouse: QPointF | None = None
        self._small: QFont | None = None
        self._kept: dict[str, tuple[object, QPixmap]] = {}
        self._drawn: QRectF | None = None  # the plot rectangle while painting, asked for at every point

    def minimumSizeHint(self) -> QSize:
        return QSize(80, 60)

    def sizeHint(self) -> QSize:
        return QSize(420, 160)

    # geometry -------------------------------------------------------------------------------------------------
    def small(self) -> QFont:
        """Return the font of labels."""
        if self._small is None:
            self._small = QFont(self.font())
            if self._small.pointSizeF() > 0:
                self._small.setPointSizeF(max(6.5, self._small.pointSizeF() * 0.88))
        return QFont(self._small)

    def changeEvent(self, event: Any) -> None:
        self._small = None
        super().changeEvent(event)

    def line(self) -> float:
        return QFontMetricsF(self.small()).height()

    def plot(self) -> QRectF:
        """Return the plot rectangle in widget coordinates."""
        line = self.line()
        left = QFontMetricsF(self.small()).horizontalAdvance("10⁻¹⁷") + 8 if self.axis else 4
        return QRectF(self.rect()).adjusted(left, line + 7, -6, -(line + 6))

    def set_whole(self, low: float, high: float) -> None:
        """Set the whole horizontal range; the zoom is kept unless the range is another one."""
        if (low, high) != self._whole:
            self._whole = self._range = (low, high)

    def x_of(self, value: float) -> float:
        plot, (low, high) = self._drawn or self.plot(), self._range
        return plot.left() + (value - low) / (high - low) * plot.width()

    def value_at(self, x: float) -> float:
        plot, (low, high) = self.plot(), self._range
        return low + (x - plot.left()) / max(1.0, plot.width()) * (high - low)

    def y_of(self, value: float) -> float:
        plot = self._drawn or self.plot()
        return plot.bottom() - self.scale.fraction(value) * plot.height()

    @property
    def zoomed(self) -> bool:
        return self._range != self._whole

    # painting -------------------------------------------------------------------------------------------------
    def paintEvent(self, event: Any) -> None:
        p = QPainter(self)
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        p.setFont(self.small())
        t = theme.current()
        if self.message:
            p.setPen(QColor(t.muted))
            rect = QRectF(self.rect()).adjusted(12, 4, -12, -4)
            p.drawText(rect, CENTRE | Qt.TextFlag.TextWordWrap, self.message)
        elif (plot := self.plot()).width() > 8 and plot.height() > 8:
            self._drawn = plot
            try:
                self.paint(p, t)
            finally:
                self._drawn = None
        p.end()

    def paint(self, p: QPainter, t: Theme) -> None:
        """Draw the chart; only called when there is something to draw and room for it."""

    def keep(self, p: QPainter, name: str, key: object, draw: Callable[[QPainter], None]) -> None:
        """Draw what is the same in most frames of a drag: a picture of it, until `key` (or size or theme) changes.

        Only on the screen. A file gets lines and text, at whatever size.
        """
        turn, ratio = p.deviceTransform(), self.devicePixelRatioF()
        plain = turn.m11() == turn.m22() == ratio and not turn.m12() and not turn.m21()
        if not plain or p.paintEngine().type() != QPaintEngine.Type.Raster:
            draw(p)
            return
        key = (key, self.size(), ratio, theme.current().name, self.font().key())
        if name not in self._kept or self._kept[name][0] != key:
            picture = QPixmap(self.size() * ratio)
            picture.setDevicePixelRatio(ratio)
            picture.fill(Qt.GlobalColor.transparent)
            inner = QPainter(picture)
            inner.setRenderHints(p.renderHints())
            inner.setFont(self.small())
            draw(inner)
            inner.end()
            self._kept[name] = (key, picture)
        p.drawPixmap(0, 0, self._kept[name][1])

    def paint_ground(self, p: QPainter, t: Theme) -> None:
        """Draw the plot's ground and the error axis with its grid lines."""
        self.keep(p, "ground", (self.plot().getRect(), self.scale, self.axis), lambda q: self._paint_ground(q, t))

    def _paint_ground(self, p: QPainter, t: Theme) -> None:
        plot = self.plot()
        p.fillRect(plot, QColor(t.plot))
        for tick in self.scale.ticks(plot.height(), self.line()):
            y = self.y_of(tick)
            p.setPen(QPen(faded(t.line, 150), 1))
            draw_hair(p, QPointF(plot.left(), y), QPointF(plot.right(), y))
            if self.axis:
                p.setPen(QColor(t.muted))
                p.drawText(QRectF(0, y - 10, plot.left() - 5, 20), RIGHT, power(tick))

    def paint_frame(self, p: QPainter, t: Theme) -> None:
        p.setBrush(Qt.BrushStyle.NoBrush)
        p.setPen(QPen(QColor(t.line), 1))
        p.drawRect(self.plot())

    def paint_header(
        self, p: QPainter, parts: Sequence[tuple[str, str, bool]], keys: Sequence[tuple[str, str, str]] = ()
    ) -> None:
        """Write (text, colour, bold) parts above the plot, and the (mark, text, colour) keys at its right end.

        The keys give way to the first two parts where there is no room for both, the other parts to the keys.
        """
        x, end = self.plot().left(), self.plot().right()
        plain, bold = QFontMetricsF(self.small()), QFontMetricsF(self._bold())
        needed = sum((bold if heavy else plain).horizontalAdvance(text) + 9 for text, _, heavy in parts[:2])
        if (width := sum(plain.horizontalAdvance(text) + 28 for _, text, _ in keys)) <= end - x - needed:
            end -= width
            self._paint_keys(p, end, keys)
        for text, colour, heavy in parts:
            metrics, room = bold if heavy else plain, end - x
            if room < 24 or not text:
                continue
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
            p.setFont(self._bold() if heavy else self.small())
            p.setPen(QColor(colour))
            p.drawText(QRectF(x, 2, room, self.line() + 2), LEFT, shown)
            x += metrics.horizontalAdvance(shown) + 9
        p.setFont(self.small())

    def _bold(self) -> QFont:
        font = self.small()
        font.setBold(True)
        return font

    def _paint_keys(self, p: QPainter, x: float, keys: Sequence[tuple[str, str, str]]) -> None:
        metrics, y = QFontMetricsF(self.small()), 2 + (self.line() + 2) / 2
        for mark, text, colour in keys:
            draw_mark(p, mark, QPointF(x + 10, y), colour, 3.6)
            p.setPen(QColor(theme.current().muted))
            advance = metrics.horizontalAdvance(text)
            p.drawText(QRectF(x + 20, 2, advance + 4, self.line() + 2), LEFT, text)
            x += advance + 28

    # the mouse ------------------------------------------------------------------------------------------------
    def read(self, at: QPointF) -> str:
        """Return the read-out at a position in the plot, "" when there is none; lines are split by newlines."""
        return ""

    def clicked_at(self, at: QPointF) -> None:
        """Answer a click."""

    def under(self, at: QPointF | None) -> object:
        """Return what is highlighted under the mouse, None for nothing; the chart is redrawn when it changes."""
        return None

    def grabbed(self, at: QPointF) -> bool:
        """Return whether a press begins a drag of something in the chart; then `dragged` follows."""
        return False

    def dragged(self, at: QPointF, done: bool) -> None:
        """Follow the drag of what was grabbed."""

    _holding = False

    def wheelEvent(self, event: Any) -> None:
        turns = event.angleDelta().y() / 120
        if self.message or not turns:
            event.ignore()
            return
        centre = self.value_at(event.position().x())
        factor = 0.8**turns
        (low, high), (first, last) = self._range, self._whole
        low, high = centre + (low - centre) * factor, centre + (high - centre) * factor
        if high - low >= last - first:
            low, high = first, last
        elif high - low < (last - first) / 500:
            return
        self._slide(low, high)
        event.accept()

    def _slide(self, low: float, high: float) -> None:
        """Show [low, high], pushed back inside the whole range."""
        shift = max(0.0, self._whole[0] - low) - max(0.0, high - self._whole[1])
        self._range = (low + shift, high + shift)
        self.update()

    def mousePressEvent(self, event: Any) -> None:
        if event.button() == Qt.MouseButton.LeftButton and not self.message:
            self._press, self._panned = event.position(), False
            self._holding = self.grabbed(self._press)

    def mouseMoveEvent(self, event: Any) -> None:
        at = event.position()
        before, self._mouse = self.under(self._mouse), at
        if self._holding:
            self.dragged(at, False)
        elif self._press is not None:
            moved = at.x() - self._press.x()
            if self.zoomed and (self._panned or abs(moved) > 4):
                low, high = self._range
                by = moved / max(1.0, self.plot().width()) * (high - low)
                self._slide(low - by, high - by)
                self._press, self._panned = at, True
        text = self.read(at) if not self.message and self.rect().contains(at.toPoint()) else ""
        self.hovered.emit(text.replace("\n", " · "))
        if text and not self._holding:
            QToolTip.showText(event.globalPosition().toPoint(), text, self)
        else:
            QToolTip.hideText()
        if self.under(at) != before:
            self.update()

    def mouseReleaseEvent(self, event: Any) -> None:
        if event.button() != Qt.MouseButton.LeftButton or self._press is None:
            return
        held, self._holding, self._press = self._holding, False, None
        if held:
            self.dragged(event.position(), True)
        elif not self._panned:
            self.clicked_at(event.position())

    def mouseDoubleClickEvent(self, event: Any) -> None:
        self._range = self._whole
        self.update()

    def leaveEvent(self, event: Any) -> None:
        self._mouse = None
        self.hovered.emit("")
        self.update()


def draw_hair(p: QPainter, start: QPointF, end: QPointF) -> None:
    """Draw a grid line: level or upright, and so sharper (and ten times faster) without smoothing."""
    p.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    p.drawLine(start, end)
    p.setRenderHint(QPainter.RenderHint.Antialiasing, True)


def draw_mark(p: QPainter, mark: str, at: QPointF, colour: str, r: float) -> None:
    """Draw a "dot", "ring", "diamond", "up", "down", "tick", "line", "dashes" or "band" at a point."""
    ink = QColor(colour)
    p.setPen(QPen(ink, 1.4))
    p.setBrush(QBrush(ink))
    x, y = at.x(), at.y()
    match mark:
        case "dot":
            p.setPen(Qt.PenStyle.NoPen)
            p.drawEllipse(at, r, r)
        case "ring":
            p.setBrush(Qt.BrushStyle.NoBrush)
            p.drawEllipse(at, r, r)
        case "diamond":
            p.setBrush(QBrush(QColor(theme.current().plot)))
            s = r * 1.2
            p.drawPolygon(QPolygonF([QPointF(x, y - s), QPointF(x + s, y), QPointF(x, y + s), QPointF(x - s, y)]))
        case "up" | "down":
            s = r if mark == "down" else -r
            p.setBrush(QBrush(QColor(theme.current().plot)))
            p.drawPolygon(QPolygonF([QPointF(x - r, y - s), QPointF(x + r, y - s), QPointF(x, y + s * 0.8)]))
        case "tick" | "line" | "dashes":
            style = Qt.PenStyle.DashLine if mark == "dashes" else Qt.PenStyle.SolidLine
            p.setPen(QPen(ink, 1.6, style, Qt.PenCapStyle.FlatCap))
            half = 4 if mark == "tick" else 8
            p.drawLine(QPointF(x - half, y), QPointF(x + half, y))
        case "band":
            p.fillRect(QRectF(x - 8, y - 4, 16, 8), ink)
