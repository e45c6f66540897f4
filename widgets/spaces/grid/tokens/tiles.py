"""Pictures side by side, each with a grid of tokens over it: shares as a veil of colour, tokens that are marked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QImage, QMouseEvent, QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsPathItem, QGraphicsRectItem, QWidget

from widgets.base.look.pixels import rgb_image
from widgets.base.look.theme import gate_map
from widgets.charts.items.heat import Cells
from widgets.charts.scene.board import BoardWidget, Pool
from widgets.charts.scene.labels import NO_PEN, Line, Still
from widgets.maps.diagram import colour, font

Array = NDArray[Any]
TITLE = 18.0  # pixels
GAP = 8.0
LARGEST = 340.0  # pixels of a side
BOTTOM = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom


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


class TileItem(QGraphicsRectItem):
    """A tile with its title and its note, and the grid, the hidden tokens and the marked one over it."""

    def __init__(self) -> None:
        super().__init__()
        self.setPen(NO_PEN)
        self.title, self.note = Line(self), Line(self)
        self.picture, self.heat = Still(self, smooth=False), Still(self, smooth=False)
        self.hidden, self.lines = Cells(), QGraphicsPathItem(self)
        self.hidden.setParentItem(self)
        self.hidden.setZValue(1)
        self.marked, self.frame = QGraphicsRectItem(self), QGraphicsRectItem(self)
        for item in (self.lines, self.marked, self.frame):
            item.setZValue(2)

    def show_tile(self, tile: Tile) -> None:
        """Show a tile where it is laid out."""
        box = tile.box
        room = QRectF(box.left(), box.top() - TITLE, max(box.width(), 40.0) + GAP / 2, TITLE - 2)
        self.title.write(tile.title, room, font(11, bold=True), colour(tile.role), BOTTOM)
        room = QRectF(box.left(), box.bottom() + 1, max(box.width(), 60.0), TITLE)
        self.note.write(tile.note, room, font(11), colour("muted"), Qt.AlignmentFlag.AlignTop)
        for item, there in ((self.picture, tile.picture is not None), (self.heat, tile.heat is not None)):
            item.setVisible(there)
        if tile.picture is not None:
            self.picture.show_image(as_image(tile.picture), box)
        if tile.heat is not None:
            self.heat.show_image(veil(tile.heat, tile.high, 1.0 if tile.picture is None else 0.82), box)
        self.frame.setRect(box)
        self.frame.setPen(colour("line"))
        self._show_grid(tile)

    def _show_grid(self, tile: Tile) -> None:
        (rows, columns), box = tile.grid, tile.box
        high, wide = box.height() / max(1, rows), box.width() / max(1, columns)
        lines = QPainterPath()
        if rows and columns and min(high, wide) >= 5:
            for k in range(1, rows):
                lines.moveTo(box.left(), box.top() + k * high)
                lines.lineTo(box.right(), box.top() + k * high)
            for k in range(1, columns):
                lines.moveTo(box.left() + k * wide, box.top())
                lines.lineTo(box.left() + k * wide, box.bottom())
        faint = colour("muted")
        faint.setAlphaF(0.35)
        self.lines.setPath(lines)
        self.lines.setVisible(not lines.isEmpty())  # in a PDF an empty path is an error of syntax
        self.lines.setPen(QPen(faint, 1))
        self.marked.setVisible(bool(rows and columns) and tile.marked is not None)
        if tile.marked is not None:
            row, column = tile.marked
            self.marked.setRect(box.left() + column * wide, box.top() + row * high, wide, high)
            self.marked.setPen(QPen(colour("bad"), 2))
        self.hidden.setVisible(bool(rows and columns) and tile.hidden is not None)
        if tile.hidden is not None:
            ground = np.zeros((*tile.hidden.shape, 4), np.uint8)
            ground[tile.hidden] = colour("raised").getRgb()
            self.hidden.setImage(ground, levels=None, rect=box)


class TileBoard(BoardWidget):
    """Lays tiles out as large as there is room, and says which token is clicked or pointed at."""

    picked = Signal(int, int, int)  # tile, row, column
    pointed = Signal(object)  # (tile, row, column) or None
    menu_asked = Signal(int, QPoint)  # tile, where on screen

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tiles: list[Tile] = []
        self.items = Pool(TileItem, self.board.root)
        self.columns = 0  # as many as fit best, unless somebody says how many
        self.setMouseTracking(True)
        self.setMinimumSize(120, 90)

    def sizeHint(self) -> QSize:
        return QSize(480, 240)

    def show_tiles(self, tiles: Sequence[Tile]) -> None:
        """Draw these from here on."""
        self.tiles = list(tiles)
        self._arrange()
        self.changed()

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

    def place(self) -> None:
        with self.items as pool:
            for tile in self.tiles:
                pool.take().show_tile(tile)

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

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if (place := self._at(QPointF(event.pos()))) is not None:
            self.menu_asked.emit(place[0], event.globalPos())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.pointed.emit(self._at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self.pointed.emit(None)
        super().leaveEvent(event)


def as_image(picture: Array) -> QImage:
    """Return (1 or 3, height, width) in [0, 1] as an image."""
    values = np.clip(np.nan_to_num(np.asarray(picture, np.float32)), 0.0, 1.0)
    rgb = np.repeat(values[:1], 3, 0) if len(values) < 3 else values[:3]
    return rgb_image(np.round(rgb.transpose(1, 2, 0) * 255).astype(np.uint8))


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
