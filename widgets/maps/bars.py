"""Values without places (class scores, pooled vectors) as horizontal bars from a common zero."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from widgets.base.look.theme import signed_map
from widgets.base.text.words import figure
from widgets.maps.diagram import colour, font

THINNEST = 4.0  # pixels; thinner bars cannot be told apart, and cells are drawn instead


class Bars:
    """The layout of one bar for each of (channels,) values in a box."""

    def __init__(self, values: NDArray[Any], scale: float, names: Sequence[str], box: QRectF) -> None:
        self.values = values
        self.scale = scale if scale > 0 and math.isfinite(scale) else 1.0
        self.names = tuple(names) if len(names) == len(values) else tuple(map(str, range(len(values))))
        self.box = box
        self.step = min(box.height() / len(values), 26.0)
        self.top = box.center().y() - self.step * len(values) / 2
        self.written = self.step >= 9.5
        size = min(11.0, max(8.0, self.step - 1.5))
        metrics = QFontMetricsF(font(size))
        longest = max(metrics.horizontalAdvance(name) for name in self.names) if self.written else 0.0
        self.label = min(longest + 6, box.width() * 0.35) if self.written else 0.0
        number = metrics.horizontalAdvance("−8.8e−88") + 4
        self.number = number if self.written and box.width() - self.label - number > 90 else 0.0
        self.size = size

    @staticmethod
    def legible(channels: int, box: QRectF) -> bool:
        return channels * THINNEST <= box.height()

    def row(self, channel: int) -> QRectF:
        return QRectF(self.box.left(), self.top + channel * self.step, self.box.width(), self.step)

    def hit(self, point: QPointF) -> int | None:
        channel = math.floor((point.y() - self.top) / self.step)
        return channel if 0 <= channel < len(self.values) else None

    def paint(self, painter: QPainter, selected: int | None, marked: set[int]) -> None:
        table = signed_map()
        field = self.box.adjusted(self.label, 0, -self.number, 0)
        middle, half = field.center().x(), field.width() / 2 - 1
        metrics = QFontMetricsF(font(self.size))
        painter.setFont(font(self.size))
        for channel, value in enumerate(self.values.tolist()):
            row = self.row(channel)
            chosen = channel == selected or channel in marked or -1 in marked
            if chosen:
                painter.fillRect(row, colour("raised"))
            share = 0.0 if math.isnan(value) else min(max(value / self.scale, -1.0), 1.0)
            r, g, b, _ = (int(v) for v in table[round((0.5 + 0.5 * np.sign(share) * (0.4 + 0.6 * abs(share))) * 511)])
            bar = QRectF(middle, row.top() + 0.12 * self.step, share * half, 0.76 * self.step).normalized()
            painter.fillRect(bar, QColor(r, g, b))
            if not self.written:
                continue
            painter.setPen(colour("text" if chosen else "muted"))
            name = metrics.elidedText(self.names[channel], Qt.TextElideMode.ElideRight, self.label - 4)
            box = QRectF(row.left(), row.top(), self.label - 5, row.height())
            painter.drawText(box, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), name)
            if self.number or math.isnan(value):
                text = "nan" if math.isnan(value) else figure(value)
                box = row.adjusted(0, 0, -2, 0)
                painter.drawText(box, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), text)
        painter.setPen(QPen(colour("line"), 1))
        painter.drawLine(QPointF(middle, self.top), QPointF(middle, self.top + self.step * len(self.values)))
