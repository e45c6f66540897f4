"""Items over the panels while a hand points, and the places of the panels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath, QPen, QPolygonF

from widgets.base.look import theme
from widgets.maps.diagram import font
from widgets.spaces.graph.drawing.geometry import Strands, control

Array = NDArray[Any]
GAP = 12.0


def arrange(
    aspect: float, rows: list[int], width: float, height: float, header: float, line: float
) -> tuple[list[tuple[int, int, QRectF]], QRectF]:
    """Return (row, column, box) of each panel and the box of the legend.

    One model's panels stand as they are largest for a graph of that aspect, the legend in the place left over by
    three in two rows; of several models each has a row of its own.
    """
    most = max(rows, default=0)
    if not most:
        return [], QRectF()
    grids = [(len(rows), most)] if len(rows) > 1 else sorted({(-(-most // c), c) for c in range(1, most + 1)})
    best: tuple[float, int, int, bool] | None = None
    for down, across in grids:
        free = len(rows) == 1 and down * across > most
        room = height - GAP - (0 if free else line)
        w, h = (width - GAP * (across + 1)) / across, room / down - header - GAP / 2
        size = min(w / aspect, h)
        if best is None or size > best[0] * 1.02:
            best = (size, down, across, free)
    assert best is not None
    _, down, across, free = best
    room = height - GAP - (0 if free else line)
    w, h = (width - GAP * (across + 1)) / across, room / down - header - GAP / 2
    cells = []
    for r, count in enumerate(rows):
        for c in range(count):
            y, x = (r, c) if len(rows) > 1 else divmod(c, across)
            left, top = GAP + x * (w + GAP), y * room / down + header
            cells.append((r, c, QRectF(round(left), round(top), round(max(w, 8.0)), round(max(h, 8.0)))))
    if free:
        y, x = divmod(most, across)
        return cells, QRectF(GAP + x * (w + GAP) + 8, y * room / down + header, w - 8, h)
    return cells, QRectF(GAP, height - line, width - 2 * GAP, line)


def paint_target(
    p: QPainter, points: Array, lines: Strands, hot: tuple[str, int] | None, radius: float, to: QPointF | None = None
) -> None:
    """Outline what the hand is at; with `to`, an arrow leads there from a node whose number is to be swapped."""
    if hot is None:
        return
    ink = QColor(theme.current().accent)
    p.setBrush(Qt.BrushStyle.NoBrush)
    if hot[0] == "edge" and hot[1] < len(lines.start):
        p.setPen(QPen(ink, 3))
        k = np.array([hot[1]])
        a, b = points[lines.start[k]], points[lines.end[k]]
        path = QPainterPath(QPointF(*a[0]))
        path.quadTo(QPointF(*control(a, b, lines.lane[k])[0]), QPointF(*b[0]))
        p.drawPath(path)
    elif hot[0] == "node" and hot[1] < len(points):
        at = QPointF(*points[hot[1]])
        p.setPen(QPen(ink, 2))
        p.drawEllipse(at, radius + 3, radius + 3)
        if to is not None:
            p.setPen(QPen(ink, 2, Qt.PenStyle.DashLine))
            p.drawLine(at, to)
            p.setBrush(ink)
            p.drawEllipse(to, 4, 4)


def paint_lasso(p: QPainter, corners: list[QPointF]) -> None:
    ink = QColor(theme.current().accent)
    p.setPen(QPen(ink, 1.4, Qt.PenStyle.DashLine))
    ink.setAlpha(28)
    p.setBrush(ink)
    p.drawPolygon(QPolygonF(corners))


def paint_chip(p: QPainter, text: str, box: QRectF, low: bool = False) -> None:
    """Write what the lasso holds into the upper left corner of a panel, or something else into the lower one."""
    t, face = theme.current(), font(11, fixed=True)
    metrics = QFontMetricsF(face)
    text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, box.width() - 28)
    high = metrics.height() + 8
    top = box.bottom() - high - 6 if low else box.top() + 6
    rect = QRectF(box.left() + 6, top, metrics.horizontalAdvance(text) + 16, high)
    p.setPen(QPen(QColor(t.line if low else t.accent), 1))
    p.setBrush(QColor(t.raised))
    p.drawRoundedRect(rect, 4, 4)
    p.setFont(face)
    p.setPen(QColor(t.text))
    p.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)


def paint_words(p: QPainter, box: QRectF, title: str, line: str = "", size: int = 15) -> None:
    """Write a sentence, and a smaller one below it, into the middle of what is empty."""
    t, box = theme.current(), box.adjusted(24, 12, -24, -12)
    flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
    p.setFont(font(size))
    p.setPen(QColor(t.muted))
    p.drawText(box, flags, title)
    if line:
        below = p.boundingRect(box, flags, title).bottom() + 8
        p.setFont(font(12))
        p.drawText(QRectF(box.left(), below, box.width(), 40), Qt.AlignmentFlag.AlignHCenter, line)
