"""Slices beside each other, with ticks at their borders that point at the marked voxel."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from widgets.base.look.colours import paint_ticks
from widgets.maps.map_grid import MapGrid
from widgets.maps.map_item import MapItem


class SliceItem(MapItem):
    """Maps whose mark is one value among thousands: ticks lead the eye to it and cover no values."""

    def _paint_marks(self, painter: QPainter) -> None:
        super()._paint_marks(painter)
        if self.tiling is not None and self._shown is not None:
            paint_ticks(painter, [(self._slice(mark[0]), self.rect_of(mark)) for mark in self.marks])

    def _slice(self, which: int) -> QRectF:
        """Return the box of one slice on the item."""
        assert self.tiling is not None
        last = (which, self.tiling.height - 1, self.tiling.width - 1)
        return self.rect_of((which, 0, 0)).united(self.rect_of(last))


class SliceGrid(MapGrid):
    """The panel of one volume: three slices, a title and a scale."""

    ITEM = SliceItem
