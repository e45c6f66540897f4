"""Values without places (class scores, pooled vectors) as horizontal bars from a common zero."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QFontMetricsF, QPen
from PySide6.QtWidgets import QGraphicsItem, QGraphicsLineItem, QGraphicsRectItem

from widgets.base.look.alignment import RIGHT
from widgets.base.look.theme import signed_map
from widgets.base.text.words import figure
from widgets.charts.items.marks import Columns
from widgets.charts.library import pg
from widgets.charts.scene.board import Pool
from widgets.charts.scene.labels import NO_PEN, Line
from widgets.maps.diagram import colour, font

SHORTEST = 46.0  # pixels for bars to both sides; names may have the rest
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
        self.label = min(longest + 6, max(box.width() * 0.35, box.width() - SHORTEST)) if self.written else 0.0
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


class BarsItem(pg.ItemGroup):
    """The bars, their names and their values, and a ground under those that are marked."""

    def __init__(self, parent: QGraphicsItem) -> None:
        super().__init__()
        self.setParentItem(parent)
        self._grounds, self._words = Pool(QGraphicsRectItem, self), Pool(Line, self)
        self._columns, self._zero = Columns(), QGraphicsLineItem(self)
        self._columns.setParentItem(self)
        self.setVisible(False)

    def show_bars(self, bars: Bars, selected: int | None, marked: set[int]) -> None:
        """Show bars; -1 among the marked channels means all of them."""
        field = bars.box.adjusted(bars.label, 0, -bars.number, 0)
        middle, half = round(field.center().x()), field.width() / 2 - 1
        shares = np.clip(np.nan_to_num(bars.values / bars.scale, nan=0.0, posinf=1.0, neginf=-1.0), -1.0, 1.0)
        rows = np.array([bars.row(k).top() for k in range(len(shares))])
        tops, ends = np.round(rows + 0.12 * bars.step), np.round(rows + 0.88 * bars.step)
        left, right = np.sort([np.full(len(shares), middle), np.round(middle + shares * half)], axis=0)
        self._columns.set_columns(left, right, tops, ends)
        table = signed_map()
        inks = table[np.round((0.5 + 0.5 * np.sign(shares) * (0.4 + 0.6 * np.abs(shares))) * 511).astype(int)]
        self._columns.setOpts(brushes=[QColor(*row[:3]) for row in inks.tolist()])
        self._zero.setPen(QPen(colour("line"), 1))
        self._zero.setLine(middle, bars.top, middle, bars.top + bars.step * len(shares))
        with self._grounds, self._words:
            for channel, value in enumerate(bars.values.tolist()):
                chosen = channel == selected or channel in marked or -1 in marked
                if chosen:
                    ground = self._grounds.take()
                    ground.setRect(bars.row(channel))
                    ground.setPen(NO_PEN)
                    ground.setBrush(colour("raised"))
                    ground.setZValue(-1)  # it is made after the bars
                if bars.written:
                    self._write(bars, channel, value, colour("text" if chosen else "muted"))

    def _write(self, bars: Bars, channel: int, value: float, ink: QColor) -> None:
        row, face = bars.row(channel), font(bars.size)
        name = QRectF(row.left(), row.top(), bars.label - 5, row.height())
        self._words.take().write(bars.names[channel], name, face, ink, RIGHT)
        if bars.number or math.isnan(value):
            text = "nan" if math.isnan(value) else figure(value)
            self._words.take().write(text, row.adjusted(0, 0, -2, 0), face, ink, RIGHT)
