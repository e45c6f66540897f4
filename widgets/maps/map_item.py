"""One picture of feature maps: a mosaic of tiles, or bars for values without places, to zoom and to read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QGraphicsItem, QGraphicsObject, QGraphicsSceneHoverEvent

from widgets.base.camera import Camera
from widgets.base.look.colours import heat_pixels, paint_marks
from widgets.charts.items.marks import ink
from widgets.charts.library import pg
from widgets.charts.scene.box import CameraBox
from widgets.maps.bars import Bars, BarsItem
from widgets.maps.diagram import colour, font
from widgets.maps.mosaic import Tiling, blank, compose, outline, tiling
from widgets.maps.mosaic_image import Mosaic

Place = tuple[int, int, int]  # channel, row, column
NOTCH = 1.2  # of the wheel
NOTHING = 1e-6  # of the largest: below it is rounding; a weight of a thousandth is one


class Over(QGraphicsItem):
    """Marks over a picture, and the names of orientations above its columns."""

    def __init__(self, item: MapItem) -> None:
        super().__init__(item)
        self._item = item
        self.setZValue(10)

    def boundingRect(self) -> QRectF:
        return self._item.boundingRect()

    def paint(self, painter: QPainter, option: Any, widget: Any = None) -> None:
        self._item.paint_over(painter)


class MapItem(QGraphicsObject):
    """A panel. Its box is set by the layout; its values, levels and marks by the view; nothing is rebuilt."""

    hovered = Signal(object)  # Place or None
    picked = Signal(int, int, int)  # channel, row, column of a click
    dragged = Signal(float, float, object, bool)  # pixels right and down since the press, modifiers, released

    def __init__(self, camera: Camera) -> None:
        super().__init__()
        self.setAcceptHoverEvents(True)
        self.camera = camera
        self.box = CameraBox(camera, NOTCH, self._grab, self._drag)
        self.box.setParentItem(self)
        self.image = Mosaic()
        self.box.addItem(self.image, ignoreBounds=True)
        self.over = Over(self)
        self.box.sigRangeChanged.connect(lambda *changed: self.over.update())
        self.draggable = False
        self.values: NDArray[Any] | None = None
        self.channel: int | None = None
        self.marks: tuple[Place, ...] = ()  # outlined; channel -1 means every tile
        self.tile: int | None = None  # the channel whose tile is outlined, among several
        self.tiling: Tiling | None = None
        self.labels: tuple[str, ...] = ()  # of the orientation channels
        self._box = QRectF(0, 0, 10, 10)
        self._levels = (-1.0, 1.0, "signed")
        self._shown: NDArray[Any] | None = None
        self._bars: Bars | None = None
        self._bars_item = BarsItem(self)
        self._layout: tuple[object, float, QRectF] | None = None  # for what, height of the strip, frame
        self._framed: object = None  # for what the view box has its frame
        self.names: tuple[str, ...] = ()
        self._order = 1
        self._cells: NDArray[np.uint8] | None = None
        self.heat_lines: NDArray[np.float64] | None = None
        self._wide, self._alone = 1, False
        self.grabbed: Place | None = None  # where the drag began
        self._from = QPointF()
        self.box.setVisible(False)

    # what is shown ----------------------------------------------------------------------------------------
    def set_values(
        self, values: NDArray[Any] | None, low: float = -1.0, high: float = 1.0, kind: str = "signed",
        order: int = 1, labels: Sequence[str] = (), names: Sequence[str] = (), wide: int = 1,
    ) -> None:  # fmt: skip
        """Show (channels, height, width), or nothing.

        Args:
            kind: "signed", "grey", "error", or "rgb" (three channels are one coloured picture).
            order: channels of one field (orientations), which lie in one row under `labels`.
            names: names of the channels, for bars.
            wide: a value is drawn this many times as wide as high (a matrix of many nodes by few channels).
        """
        levels, labels, names = (low, high, kind), tuple(labels), tuple(names)
        known = (self._levels, self._order, self.labels, self.names, self._wide)
        same = (levels, order, labels, names, wide) == known
        if same and values is not None and self.values is not None and np.array_equal(values, self.values):
            return  # x and F(x) do not change while a hand turns the ring
        self.values = values
        self._levels, self._order, self.labels, self.names, self._wide = levels, order, labels, names, wide
        self._compose()

    def set_channel(self, channel: int | None) -> None:
        """Show one channel alone, or all."""
        if channel != self.channel:
            self.channel = channel
            self._compose()

    def set_marks(self, marks: tuple[Place, ...], tile: int | None = None) -> None:
        if (marks, tile) != (self.marks, self.tile):
            self.marks, self.tile = marks, tile
            self._show_bars()
            self.over.update()

    @cached_property
    def heat(self) -> pg.ImageItem:
        """Return the layer over the picture."""
        made = pg.ImageItem()
        self.box.addItem(made, ignoreBounds=True)
        return made

    @cached_property
    def lines(self) -> pg.PlotCurveItem:
        """Return the outline round what is not 0 in that layer."""
        made = pg.PlotCurveItem(connect="pairs", antialias=False)
        self.box.addItem(made, ignoreBounds=True)
        return made

    def set_heat(self, heat: NDArray[Any] | None, role: str = "accent") -> None:
        """Lay a magnitude (height, width) over the picture: translucent, outlined where it is not 0."""
        top = float(np.nanmax(heat)) if heat is not None and heat.size and np.isfinite(heat).any() else 0.0
        if heat is None or not np.isfinite(top) or top <= 0:
            if self.heat_lines is not None:
                self.heat_lines = None
                self.heat.clear()
                self.lines.setData([], [])
            return
        share, cell = np.nan_to_num(heat / top), self.tiling.cell if self.tiling else 1
        self.heat_lines = outline(share > NOTHING)
        rect = QRectF(0, 0, share.shape[1] * cell, share.shape[0] * cell)
        self.heat.setImage(heat_pixels(share, colour(role)), autoLevels=False, rect=rect)
        self.lines.setData(*(cell * self.heat_lines.reshape(-1, 2).T))
        self.lines.setPen(ink(colour(role).name(), 1.5))

    def place(self, box: QRectF) -> None:
        """Set where the panel lies in the scene."""
        self.setPos(box.topLeft())
        if box.size() != self._box.size():
            self.prepareGeometryChange()
            self._box = QRectF(0, 0, box.width(), box.height())
            self._compose()

    def refresh_colours(self) -> None:
        if self.image.image is not None:
            self.image.setImage(self.image.image, autoLevels=False)  # draw it anew
        self.box.borderRect.setPen(QPen(colour("line"), 1))
        self._show_bars()
        self.over.update()

    def _compose(self) -> None:
        values = self.values
        self._bars = None
        if values is None or not values.size:
            self.tiling, self._shown = None, None
            self._frame_box()
            return
        low, high, kind = self._levels
        channels, h, w = values.shape
        if kind == "rgb":
            self._compose_rgb(values, low, high, kind)
            return
        alone = self.channel is not None and 0 <= self.channel < channels and h * w > 1
        shown = values[self.channel : self.channel + 1] if alone and self.channel is not None else values
        if h * w == 1 and Bars.legible(channels, self._box):
            self._bars = Bars(values[:, 0, 0], max(abs(low), abs(high)), self.names, self._box)
        self._alone = alone
        shown = shown if self._wide == 1 else np.repeat(shown, self._wide, axis=2)
        self._shown = shown
        aspect = self._box.width() / max(1.0, self._box.height())
        layout = tiling(*shown.shape, 1 if alone else self._order, round(aspect, 2))
        if layout != self.tiling or self._cells is None:
            self.tiling, self._cells = layout, blank(layout)
        compose(shown, layout, low, high, self._cells)
        # with the padding, which the box does not show: an image needs its rows in one piece
        self.image.show_cells(self._cells, kind, QRectF(0, 0, *self._cells.shape[::-1]))
        self._frame_box()

    def _compose_rgb(self, values: NDArray[Any], low: float, high: float, kind: str) -> None:
        _, h, w = values.shape
        self.tiling, self._shown, self._alone = tiling(1, h, w), values, False
        share = np.clip(np.nan_to_num((values - low) / ((high - low) or 1.0)), 0, 1)
        pixels = np.ascontiguousarray((share.transpose(1, 2, 0) * 255 + 0.5).astype(np.uint8))
        self.image.show_cells(pixels, kind, QRectF(0, 0, *self.tiling.size))
        self._frame_box()

    def _frame_box(self) -> None:
        """Give the view box the frame of the picture."""
        there = self.tiling is not None and not self._bars
        if self._framed != (asked := (there, self._layout_key())):  # values that change in place need no new frame
            self._framed = asked
            self.box.setVisible(there)
            if there and self.tiling is not None:
                self.box.setGeometry(self.frame())
                self.box.borderRect.setPen(QPen(colour("line"), 1))
                self.box.show_size(*map(float, self.tiling.size))
        self._show_bars()
        self.over.update()

    def _show_bars(self) -> None:
        """Show bars in place of the picture, where there are any."""
        self._bars_item.setVisible(self._bars is not None)
        if self._bars is not None:
            self._bars_item.show_bars(self._bars, self.channel, {mark[0] for mark in self.marks})

    # where things are -------------------------------------------------------------------------------------
    def strip(self) -> float:
        """Return the height of the strip of orientation labels; 0 when they would not be legible."""
        return self._lay_out()[1]

    def frame(self) -> QRectF:
        """Return the part of the box that the picture fills at zoom 1."""
        return QRectF(self._lay_out()[2])

    def _layout_key(self) -> object:
        return self.tiling, self.labels, self._box.getRect(), self._bars is not None

    def _lay_out(self) -> tuple[object, float, QRectF]:
        if self._layout is None or self._layout[0] != self._layout_key():
            strip = self._strip()
            self._layout = (self._layout_key(), strip, self._frame(strip))
        return self._layout

    def _strip(self) -> float:
        layout = self.tiling
        if layout is None or layout.order == 1 or len(self.labels) != layout.order or self._bars:
            return 0.0
        wide, high = layout.size
        scale = min(self._box.width() / wide, (self._box.height() - 14) / high)
        metrics = QFontMetricsF(font(9))
        lines = self._label_lines(metrics, scale * layout.step_x - 3)
        return 3.0 + 11.0 * lines if lines else 0.0

    def _label_lines(self, metrics: QFontMetricsF, width: float) -> int:
        """Return on how many lines "m r270" is written in that width; 0 when it cannot be read."""
        if max(metrics.horizontalAdvance(text) for text in self.labels) <= width:
            return 1
        words = [word for text in self.labels for word in text.split()]
        return 2 if max(map(metrics.horizontalAdvance, words)) <= width else 0

    def _frame(self, strip: float) -> QRectF:
        if self.tiling is None or self._bars:
            return QRectF(self._box)
        wide, high = self.tiling.size
        room = self._box.adjusted(0, strip, 0, 0)
        scale = min(room.width() / wide, room.height() / high)
        frame = QRectF(0, 0, wide * scale, high * scale)
        frame.moveCenter(room.center())
        return frame

    def pixel(self) -> float:
        """Return how many screen pixels one data pixel has."""
        return self._cell_pixel() * self.tiling.cell if self.tiling else 1.0

    def _cell_pixel(self) -> float:
        """Return how many screen pixels one pixel of the mosaic has."""
        return self.frame().width() / self.tiling.size[0] * self.camera.zoom if self.tiling else 1.0

    def _target(self) -> QRectF:
        """Return where the whole mosaic would lie, parts outside of the frame included."""
        frame, camera = self.frame(), self.camera
        wide, high = frame.width() * camera.zoom, frame.height() * camera.zoom
        return QRectF(frame.center().x() - camera.x * wide, frame.center().y() - camera.y * high, wide, high)

    def place_at(self, point: QPointF) -> Place | None:
        """Return the channel, row and column under a point of the item."""
        if self.tiling is None or not self.frame().contains(point):
            return None
        if self._bars:
            at = self._bars.hit(point)
            return None if at is None else (at, 0, 0)
        target, pixel = self._target(), self._cell_pixel()
        hit = self.tiling.hit((point.x() - target.left()) / pixel, (point.y() - target.top()) / pixel)
        if hit is None or self.values is None:
            return None
        return (self.channel or 0) if self._alone else hit[0], hit[1], hit[2] // self._wide

    def rect_of(self, place: Place) -> QRectF:
        """Return the box of one data pixel on the item; of its bar, for values without places."""
        if self.tiling is None or self.values is None:
            return QRectF()
        channel, row, column = place
        if self._bars:
            return self._bars.row(channel)
        if self._alone:
            channel = 0
        target, pixel, cell = self._target(), self.pixel(), self._cell_pixel()
        x, y = self.tiling.origin(channel)
        wide = pixel * self._wide
        return QRectF(target.left() + x * cell + column * wide, target.top() + y * cell + row * pixel, wide, pixel)

    def tile_rect(self) -> QRectF:
        """Return the box of the tile that is outlined, empty where none is, or none beside others."""
        if self.tile is None or self._alone or self._shown is None or not self.tile < len(self._shown) > 1:
            return QRectF()
        far = (self.tile, *(side - 1 for side in self._shown.shape[1:]))
        return self.rect_of((self.tile, 0, 0)).united(self.rect_of(far))

    def value_at(self, place: Place) -> float | None:
        """Return the value at (channel, row, column), or None outside of the array."""
        channel, row, column = place
        if self.values is None or channel >= self.values.shape[0]:
            return None
        inside = 0 <= row < self.values.shape[1] and 0 <= column < self.values.shape[2]
        return float(self.values[channel, row, column]) if inside else None

    # painting ---------------------------------------------------------------------------------------------
    def boundingRect(self) -> QRectF:
        return self._box

    def paint(self, painter: QPainter, option: Any, widget: Any = None) -> None:
        """Leave the picture to the items below."""

    def paint_over(self, painter: QPainter) -> None:
        """Draw marks and names over the picture."""
        if self.tiling is None or self._bars:
            return
        frame = self.frame()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.save()
        painter.setClipRect(frame, Qt.ClipOperation.IntersectClip)
        self._paint_marks(painter)
        painter.restore()
        self._paint_labels(painter, frame)

    def _paint_marks(self, painter: QPainter) -> None:
        if not self.marks or self._shown is None:
            return
        every = range(len(self._shown))
        places = [(c, *m[1:]) for m in self.marks for c in (every if m[0] < 0 else (m[0],))]
        paint_marks(painter, [self.rect_of(place) for place in places])
        if not (tile := self.tile_rect()).isEmpty():
            paint_marks(painter, [tile])

    def _paint_labels(self, painter: QPainter, frame: QRectF) -> None:
        strip = self.strip()
        if not strip or self.tiling is None:
            return
        target, cell, layout = self._target(), self._cell_pixel(), self.tiling
        painter.setFont(font(9))
        painter.setPen(colour("muted"))
        for column in range(min(layout.blocks * layout.order, layout.channels)):
            x = target.left() + layout.origin(column)[0] * cell
            box = QRectF(x - 1, frame.top() - strip, layout.width * self.pixel() + 2, strip - 2)
            if box.left() >= frame.left() - 2 and box.right() <= frame.right() + 2:
                text = self.labels[column % layout.order]
                text = text.replace(" ", "\n") if strip > 14 else text
                below = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom
                painter.drawText(box, int(below), text)

    # mouse ------------------------------------------------------------------------------------------------
    def hoverMoveEvent(self, event: QGraphicsSceneHoverEvent) -> None:
        self.hovered.emit(self.place_at(event.pos()))

    def hoverLeaveEvent(self, event: QGraphicsSceneHoverEvent) -> None:
        self.hovered.emit(None)

    def mouseClickEvent(self, event: Any) -> None:
        """Answer a click that the box leaves to its panel: pyqtgraph's scene asks every item below the cursor."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        place = self.place_at(self.mapFromScene(event.scenePos()))
        event.accept()
        if event.double():
            self.camera.reset()
        elif place is not None:
            self.picked.emit(*place)

    def _grab(self, at: QPointF) -> bool:
        """Begin a drag at a point of the mosaic: of what is shown, or of the picture."""
        point = self.box.mapToParent(self.box.mapFromView(at))
        self.grabbed, self._from = self.place_at(point), at
        return self.draggable

    def _drag(self, at: QPointF, done: bool) -> None:
        moved = (at - self._from) * self._cell_pixel()
        self.dragged.emit(moved.x(), moved.y(), self.box.keys, done)
