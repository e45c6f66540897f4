"""Slices beside each other, with ticks at their borders that point at the marked voxel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen

from widgets.base.look.colours import colour, paint_ticks
from widgets.maps.diagram import font
from widgets.maps.map_grid import MapGrid
from widgets.maps.map_item import MapItem

SMALL = 9  # points of the letters at the ends of axes
ROOM = 5.0  # times their height is the least side of a slice that has them


class SliceItem(MapItem):
    """Maps whose mark is one value among thousands: ticks lead the eye to it and cover no values."""

    ends: tuple[tuple[str, str, str, str], ...] = ()  # left, right, top, bottom of each slice

    def _paint_marks(self, painter: QPainter) -> None:
        super()._paint_marks(painter)
        if self.tiling is not None and self._shown is not None:
            paint_ticks(painter, [(self._slice(mark[0]), self.rect_of(mark)) for mark in self.marks])
            painter.setFont(font(SMALL))
            for which, words in enumerate(self.ends):
                for word, box in self.boxes_of_ends(which, words):
                    painter.fillRect(box, colour("panel"))
                    painter.setPen(QPen(colour("text")))
                    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, word)

    def boxes_of_ends(self, which: int, words: Sequence[str]) -> Iterator[tuple[str, QRectF]]:
        """Yield the letters of a slice with their places: at the middle of each border, beside the tick of a mark."""
        metrics, whole = QFontMetricsF(font(SMALL)), self._slice(which)
        high = metrics.height()
        if min(whole.width(), whole.height()) < ROOM * high:
            return
        wide = max(metrics.horizontalAdvance(word) for word in words) + 4
        tick = next((self.rect_of(mark).center() for mark in self.marks if mark[0] == which), None)

        def beside(at: float, ticked: float, size: float) -> float:
            return min(at, ticked - size / 2 - 3) if abs(at - ticked) < size / 2 + 3 else at

        middle = whole.center()
        x = middle.x() if tick is None else beside(middle.x(), tick.x(), wide)
        y = middle.y() if tick is None else beside(middle.y(), tick.y(), high)
        places = (
            QPointF(whole.left() + wide / 2 + 1, y), QPointF(whole.right() - wide / 2 - 1, y),
            QPointF(x, whole.top() + high / 2 + 1), QPointF(x, whole.bottom() - high / 2 - 1),
        )  # fmt: skip
        for word, at in zip(words, places, strict=True):
            yield word, QRectF(at.x() - wide / 2, at.y() - high / 2, wide, high)

    def _slice(self, which: int) -> QRectF:
        """Return the box of one slice on the item."""
        assert self.tiling is not None
        last = (which, self.tiling.height - 1, self.tiling.width - 1)
        return self.rect_of((which, 0, 0)).united(self.rect_of(last))


class SliceGrid(MapGrid):
    """The panel of one volume: three slices, a title and a scale."""

    ITEM = SliceItem
    item: SliceItem

    def set_ends(self, ends: tuple[tuple[str, str, str, str], ...]) -> None:
        """Write at the borders of each slice what lies there: left, right, top and bottom."""
        if ends != self.item.ends:
            self.item.ends = ends
            self.item.over.update()
