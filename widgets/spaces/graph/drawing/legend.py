"""The key to the colours and lines of a graph: a scale, swatches, and how many nodes and edges there are."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QLinearGradient, QPen, QPolygonF
from PySide6.QtWidgets import QGraphicsEllipseItem, QGraphicsPolygonItem

from widgets.base.look import theme
from widgets.base.look.switched_parts import terms
from widgets.base.text.words import figure
from widgets.charts.library import pg
from widgets.charts.scene.board import Pool, words_now
from widgets.charts.scene.labels import NO_PEN, Line, Scale, circle
from widgets.maps.diagram import font
from widgets.spaces.graph.drawing.look import Legend

LINE = 40.0  # pixels of a legend below the panels
HIGH = 18.0  # of a line of text
WEDGE = QPolygonF([QPointF(0, 8.7), QPointF(72, 6.5), QPointF(72, 11.5), QPointF(0, 9.4)])


class LegendItem(pg.ItemGroup):
    """Parts stand side by side, or below each other where the box is high."""

    def __init__(self) -> None:
        super().__init__()
        self._lines = Pool(Line, self)
        self._dots: Pool[QGraphicsEllipseItem] = Pool(QGraphicsEllipseItem, self)
        self._scale = Scale(self)
        self._wedge = QGraphicsPolygonItem(WEDGE, self)  # as the edges do, it widens and takes on colour
        self._wedge.setPen(NO_PEN)
        self._placed: tuple[object, ...] = ()

    def show_legend(self, legend: Legend, box: QRectF) -> None:
        """Place all parts that there is room for."""
        key = (legend, box.getRect(), *words_now())
        if key != self._placed:
            self._placed = key
            with self._lines, self._dots:
                self._place(legend, box)

    def _place(self, legend: Legend, box: QRectF) -> None:
        t, face = theme.current(), font(11, fixed=True)
        metrics = QFontMetricsF(face)
        tall = box.height() > 90
        x, y = box.left(), box.top() + (14 if tall else (box.height() - HIGH) / 2)

        def text(words: str, role: str = "muted") -> float:
            """Write words at the place that has been reached, and return where they end."""
            place = QRectF(x, y, max(0.0, box.right() - x), HIGH)
            return self._lines.take().write(words, place, face, QColor(getattr(t, role)))

        def break_line(down: float = 24.0) -> None:
            nonlocal x, y
            x, y = (box.left(), y + down) if tall else (x + 18, y)

        if legend.title:
            x = text(legend.title, "text") + 10
            if tall:
                break_line(20)
        coloured = legend.kind in ("signed", "error")
        self._scale.setVisible(coloured)
        if coloured:
            low, table = ("0", theme.error_map()) if legend.kind == "error" else (
                figure(-legend.limit), theme.signed_map())  # fmt: skip
            inks = QColor(t.muted), QColor(t.text), QColor(t.line)
            ends, place = (low, figure(legend.limit)), QRectF(x, y, max(0.0, box.right() - x), HIGH)
            x = self._scale.show_scale(ends, table, place, face, inks)
            break_line()
        for name, colour in legend.swatches:
            wide = metrics.horizontalAdvance(name) + 30
            if x + wide > box.right() - (0 if tall else 160):
                if not tall or y > box.bottom() - 60:
                    break
                x, y = box.left(), y + 20
            self._dot(QPointF(x + 5, y + 9), NO_PEN, QColor(colour))
            x += 15
            text(name)
            x += wide - 15
        if legend.swatches:
            break_line()
        self._wedge.setVisible(bool(legend.edges))
        if legend.edges:
            x = text(legend.edges, "text") + 8
            if tall:
                break_line(20)
            x = text("0") + 5
            shade = QLinearGradient(QPointF(0, 0), QPointF(72, 0))
            shade.setColorAt(0, QColor(t.line))
            shade.setColorAt(1, QColor(t.accent))
            self._wedge.setBrush(shade)
            self._wedge.setPos(x, y)
            x += 78
            x = text(figure(legend.edge_limit))
            break_line()
        if legend.rings:
            self._dot(QPointF(x + 6, y + 9), QPen(QColor(t.second), 1.8), QColor(0, 0, 0, 0))
            x += 17
            x = text(legend.rings, "text")
            break_line()
        wide = metrics.horizontalAdvance(legend.count)
        if legend.count and (tall or x + wide <= box.right()):
            x = x if tall else box.right() - wide - 1
            text(legend.count)
        if tall and terms():  # on paper nobody can click
            y = max(y + 34, box.bottom() - HIGH * len(legend.hints))
            for hint in legend.hints:
                if y + HIGH <= box.bottom() + 2:
                    x = box.left()
                    text(hint)
                y += HIGH

    def _dot(self, at: QPointF, pen: QPen, fill: QColor) -> None:
        dot = self._dots.take()
        dot.setPen(pen)
        dot.setBrush(fill if fill.alpha() else Qt.BrushStyle.NoBrush)
        circle(dot, at, 5)
