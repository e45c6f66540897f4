"""Pictures side by side, each with a grid of tokens over it: shares as a veil of colour, tokens that are marked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QImage, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from widgets.base.look.theme import gate_map
from widgets.maps.diagram import colour, font

Array = NDArray[Any]
TITLE = 18.0  # pixels
GAP = 8.0
LARGEST = 340.0  # pixels of a side


@dataclass(eq=False)
class Tile:
    """One picture.

    Attributes:
        picture: (1 or 3, height, width) in [0, 1], or None for an even ground.
        heat: (rows, columns), from 0 to `high`.
        grid: rows and columns of tokens; (0, 0) for none.
        marked: the token that is asked about, row and column.
        hidden: (rows, columns), the tokens that are not there yet.
        note: a line below.
        role: of the title's colour.
    """

    title: str
    picture: Array | None = None
    heat: Array | None = None
    high: float = 0.0
    grid: tuple[int, int] = (0, 0)
    marked: tuple[int, int] | None = None
    hidden: NDArray[np.bool_] | None = None
    note: str = ""
    role: str = "text"
    box: QRectF = field(default_factory=QRectF)  # of the picture, once it is laid out

    @property
    def shape(self) -> tuple[int, int]:
        """Return rows and columns of what is pointed at."""
        if self.grid != (0, 0):
            return self.grid
        values = self.heat if self.heat is not None else self.picture
        return (1, 1) if values is None else (int(values.shape[-2]), int(values.shape[-1]))

    def place_at(self, at: QPointF) -> tuple[int, int] | None:
        """Return row and column under a point, None outside."""
        if not self.box.contains(at):
            return None
        rows, columns = self.shape
        row = int((at.y() - self.box.top()) / self.box.height() * rows)
        column = int((at.x() - self.box.left()) / self.box.width() * columns)
        return min(row, rows - 1), min(column, columns - 1)


class TileBoard(QWidget):
    """Lays tiles out as large as there is room, and says which token is clicked or pointed at."""

    picked = Signal(int, int, int)  # tile, row, column
    pointed = Signal(object)  # (tile, row, column) or None

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tiles: list[Tile] = []
        self.columns = 0  # as many as fit best, unless somebody says how many
        self.setMouseTracking(True)
        self.setMinimumSize(120, 90)

    def sizeHint(self) -> QSize:
        return QSize(480, 240)

    def show_tiles(self, tiles: Sequence[Tile]) -> None:
        """Draw these from here on."""
        self.tiles = list(tiles)
        self._arrange()
        self.update()

    # layout ---------------------------------------------------------------------------------------------------
    def _arrange(self) -> None:
        count = len(self.tiles)
        if not count:
            return
        below = TITLE if any(t.note for t in self.tiles) else 0.0
        best, across = 0.0, 1
        for columns in [self.columns] if self.columns else range(1, count + 1):
            rows = math.ceil(count / columns)
            side = min(
                (self.width() - GAP) / columns - GAP, (self.height() - GAP) / rows - GAP - TITLE - below, LARGEST
            )
            if side > best:
                best, across = side, columns
        side = max(best, 8.0)
        for k, tile in enumerate(self.tiles):
            row, column = divmod(k, across)
            h, w = (1, 1) if tile.picture is None else tile.picture.shape[-2:]
            if tile.picture is None and tile.heat is not None:
                h, w = tile.heat.shape
            scale = side / max(h, w)
            left = GAP + column * (side + GAP)
            top = GAP + row * (side + GAP + TITLE + below) + TITLE
            tile.box = QRectF(left, top, w * scale, h * scale)

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._arrange()

    # painting -------------------------------------------------------------------------------------------------
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), colour("panel"))
        for tile in self.tiles:
            self._paint(painter, tile)
        painter.end()

    def _paint(self, painter: QPainter, tile: Tile) -> None:
        box = tile.box
        painter.setFont(font(11, bold=True))
        painter.setPen(colour(tile.role))
        metrics = QFontMetricsF(painter.font())
        room = QRectF(box.left(), box.top() - TITLE, max(box.width(), 40.0) + GAP / 2, TITLE - 2)
        title = metrics.elidedText(tile.title, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignLeft, title)
        if tile.note:
            painter.setFont(font(11))
            painter.setPen(colour("muted"))
            painter.drawText(QRectF(box.left(), box.bottom() + 1, max(box.width(), 60.0), TITLE), 0, tile.note)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        if tile.picture is not None:
            painter.drawImage(box, as_image(tile.picture))
        if tile.heat is not None:
            painter.drawImage(box, veil(tile.heat, tile.high, 1.0 if tile.picture is None else 0.82))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        self._paint_grid(painter, tile)

    def _paint_grid(self, painter: QPainter, tile: Tile) -> None:
        rows, columns = tile.grid
        box = tile.box
        if rows and columns:
            high, wide = box.height() / rows, box.width() / columns
            if tile.hidden is not None:
                ground = colour("raised")
                for row, column in np.argwhere(tile.hidden):
                    painter.fillRect(QRectF(box.left() + column * wide, box.top() + row * high, wide, high), ground)
            if min(high, wide) >= 5:
                line = colour("muted")
                line.setAlphaF(0.35)
                painter.setPen(QPen(line, 1))
                for k in range(1, rows):
                    painter.drawLine(
                        QPointF(box.left(), box.top() + k * high), QPointF(box.right(), box.top() + k * high)
                    )
                for k in range(1, columns):
                    painter.drawLine(
                        QPointF(box.left() + k * wide, box.top()), QPointF(box.left() + k * wide, box.bottom())
                    )
            if tile.marked is not None:
                row, column = tile.marked
                painter.setPen(QPen(colour("bad"), 2))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(QRectF(box.left() + column * wide, box.top() + row * high, wide, high))
        painter.setPen(QPen(colour("line"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(box)

    # mouse ----------------------------------------------------------------------------------------------------
    def _at(self, at: QPointF) -> tuple[int, int, int] | None:
        for k, tile in enumerate(self.tiles):
            if (place := tile.place_at(at)) is not None:
                return (k, *place)
        return None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and (place := self._at(event.position())) is not None:
            self.picked.emit(*place)
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.pointed.emit(self._at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self.pointed.emit(None)
        super().leaveEvent(event)


def as_image(picture: Array) -> QImage:
    """Return (1 or 3, height, width) in [0, 1] as an image."""
    values = np.clip(np.nan_to_num(np.asarray(picture, np.float32)), 0.0, 1.0)
    rgb = np.repeat(values[:1], 3, 0) if len(values) < 3 else values[:3]
    data = np.ascontiguousarray(np.round(rgb.transpose(1, 2, 0) * 255).astype(np.uint8))
    h, w = data.shape[:2]
    return QImage(data.data, w, h, 3 * w, QImage.Format.Format_RGB888).copy()


def veil(heat: Array, high: float, opacity: float) -> QImage:
    """Return shares from 0 to `high` as an image that is clear where they are 0 and over a picture."""
    table = gate_map()
    share = np.clip(np.nan_to_num(np.asarray(heat, np.float64)) / (high or 1.0), 0.0, 1.0)
    data = table[np.round(share * (len(table) - 1)).astype(int)].copy()
    if opacity < 1.0:
        data[..., :3] = (255, 140, 26)
        data[..., 3] = np.round(255 * opacity * np.sqrt(share))
    data = np.ascontiguousarray(data)
    h, w = data.shape[:2]
    return QImage(data.data, w, h, 4 * w, QImage.Format.Format_RGBA8888).copy()
