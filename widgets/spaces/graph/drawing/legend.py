"""Paint the key to the colours and lines of a graph: a bar, swatches, and how many nodes and edges there are."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QLinearGradient, QPainter, QPen, QPolygonF

from widgets.base.look import theme
from widgets.base.look.shown import terms
from widgets.base.text.words import figure
from widgets.maps.diagram import font
from widgets.spaces.graph.drawing.look import Legend

LINE = 40.0  # pixels of a legend below the panels
BAR = 120.0


def paint_legend(p: QPainter, legend: Legend, box: QRectF) -> None:
    """Paint the parts side by side, or below each other where the box is high."""
    t, face = theme.current(), font(11, fixed=True)
    metrics = QFontMetricsF(face)
    p.setFont(face)
    tall = box.height() > 90
    x, y = box.left(), box.top() + (14 if tall else (box.height() - 18) / 2)

    def text(words: str, role: str = "muted", width: float = 0.0) -> float:
        p.setPen(QColor(getattr(t, role)))
        room = width or max(0.0, box.right() - x)
        shown = metrics.elidedText(words, Qt.TextElideMode.ElideRight, room)
        p.drawText(QRectF(x, y, room, 18), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
        return metrics.horizontalAdvance(shown)

    def break_line(down: float = 24.0) -> None:
        nonlocal x, y
        x, y = (box.left(), y + down) if tall else (x + 18, y)

    if legend.title:
        x += text(legend.title, "text") + 10
    if tall and legend.title:
        break_line(20)
    if legend.kind in ("signed", "error"):
        low = figure(-legend.limit) if legend.kind == "signed" else "0"
        x += text(low) + 6
        wide = max(24.0, min(BAR, box.right() - x - 8 - metrics.horizontalAdvance(figure(legend.limit))))
        bar = QRectF(x, y + 4, wide, 10)
        p.fillRect(bar, _ramp(bar, legend.kind))
        p.setPen(QPen(QColor(t.line), 1))
        p.setBrush(Qt.BrushStyle.NoBrush)
        p.drawRect(bar)
        x += wide + 6
        x += text(figure(legend.limit))
        break_line()
    for name, colour in legend.swatches:
        wide = metrics.horizontalAdvance(name) + 30
        if x + wide > box.right() - (0 if tall else 160):
            if not tall or y > box.bottom() - 60:
                break
            x, y = box.left(), y + 20
        p.setPen(Qt.PenStyle.NoPen)
        p.setBrush(QColor(colour))
        p.drawEllipse(QPointF(x + 5, y + 9), 5, 5)
        x += 15
        text(name)
        x += wide - 15
    if legend.swatches:
        break_line()
    if legend.edges:
        x += text(legend.edges, "text") + 8
        if tall:
            break_line(20)
        x += text("0") + 5
        wedge = QPolygonF(
            [QPointF(x, y + 8.7), QPointF(x + 72, y + 6.5), QPointF(x + 72, y + 11.5), QPointF(x, y + 9.4)]
        )
        p.setPen(Qt.PenStyle.NoPen)  # as the edges do, it widens and takes on colour
        shade = QLinearGradient(QPointF(x, y), QPointF(x + 72, y))
        shade.setColorAt(0, QColor(t.line))
        shade.setColorAt(1, QColor(t.accent))
        p.setBrush(shade)
        p.drawPolygon(wedge)
        x += 78
        x += text(figure(legend.edge_limit))
        break_line()
    if legend.rings:
        p.setPen(QPen(QColor(t.second), 1.8))
        p.setBrush(Qt.BrushStyle.NoBrush)
        p.drawEllipse(QPointF(x + 6, y + 9), 5, 5)
        x += 17
        x += text(legend.rings, "text")
        break_line()
    if legend.count:
        if not tall:
            wide = metrics.horizontalAdvance(legend.count)
            if x + wide > box.right():
                return
            x = box.right() - wide - 1
        text(legend.count)
    if tall and terms():  # on paper nobody can click
        y = max(y + 34, box.bottom() - 18 * len(legend.hints))
        for hint in legend.hints:
            if y + 18 <= box.bottom() + 2:
                x = box.left()
                text(hint)
            y += 18


def _ramp(bar: QRectF, kind: str) -> QLinearGradient:
    table = theme.signed_map() if kind == "signed" else theme.error_map()
    gradient = QLinearGradient(bar.topLeft(), bar.topRight())
    for k in range(17):
        gradient.setColorAt(k / 16, QColor(*(int(v) for v in table[round(k / 16 * 511)])))
    return gradient
