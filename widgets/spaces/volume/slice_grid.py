"""Slices beside each other, with ticks at their borders that point at the marked voxel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter

from widgets.base.camera import Camera
from widgets.base.look.colours import paint_ticks
from widgets.charts.scene.board import Pool
from widgets.charts.scene.labels import Tag
from widgets.maps.diagram import colour, font
from widgets.maps.map_grid import MapGrid
from widgets.maps.map_item import MapItem

SMALL = 9  # points of the letters at the ends of axes
ROOM = 5.0  # times their height is the least side of a slice that has them


def _letter() -> Tag:
    made = Tag(2.0)
    made.setAcceptedMouseButtons(Qt.MouseButton.NoButton)  # a click is meant for the voxel below
    return made


class SliceItem(MapItem):
    """Maps whose mark is one value among thousands: ticks lead the eye to it and cover no values."""

    def __init__(self, camera: Camera) -> None:
        super().__init__(camera)
        self.ends: tuple[tuple[str, str, str, str], ...] = ()  # left, right, top, bottom of each slice
        self.letters = Pool(_letter, self.over)
        self.box.sigRangeChanged.connect(self.write_ends)

    def _paint_marks(self, painter: QPainter) -> None:
        super()._paint_marks(painter)
        if self.tiling is not None and self._shown is not None:
            paint_ticks(painter, [(self._slice(mark[0]), self.rect_of(mark)) for mark in self.marks])

    def write_ends(self) -> None:
        """Place the letters where the slices are now."""
        with self.letters:
            for which, words in enumerate(self.ends if self.tiling is not None and self._shown is not None else ()):
                for word, box in self.boxes_of_ends(which, words):
                    self.letters.take().write(word, box, font(SMALL), colour("text"), colour("panel"))

    def boxes_of_ends(self, which: int, words: Sequence[str]) -> Iterator[tuple[str, QRectF]]:
        """Yield the letters of a slice with their places: at the middle of each border, beside the tick of a mark."""
        metrics, whole = QFontMetricsF(font(SMALL)), self._slice(which).intersected(self.frame())
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

    def arrange(self) -> None:
        super().arrange()
        self.item.write_ends()

    def apply_theme(self) -> None:
        super().apply_theme()
        self.item.write_ends()

    def set_ends(self, ends: tuple[tuple[str, str, str, str], ...]) -> None:
        """Write at the borders of each slice what lies there: left, right, top and bottom."""
        self.item.ends = ends
        self.item.write_ends()
