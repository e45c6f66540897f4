"""One pair matrix as it is drawn: picture, labels, sums along its edges, boundaries, selection, colour bar."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPaintEngine, QPainter, QPen

from explorer.spaces.graph.pairs.matrix import PairMatrix, Pool, Range
from widgets.base.camera import Camera
from widgets.base.colours import colour_table, paint_marks
from widgets.base.theme import current
from widgets.maps.diagram import colour
from widgets.pairs import marks
from widgets.pairs.fields import Ordered
from widgets.pairs.tiles import HIDDEN, Style, TileStore, make_style

NEAREST = 36.0  # pixels of a cell when zoomed in as far as it goes
DRAWN_CELLS = 20_000  # up to so many are rectangles in a file of vectors
LABELLED = 11.0  # pixels of a row from which each can bear its name


class PairCamera(Camera):
    """What part of the matrices is seen; all panels share it. The zoom goes as far as cells can be read."""

    most = 64.0

    def set(self, zoom: float, x: float, y: float) -> None:
        zoom = min(max(zoom, 1.0), self.most)
        half = 0.5 / zoom
        x, y = min(max(x, half), 1 - half), min(max(y, half), 1 - half)
        if (zoom, x, y) != (self.zoom, self.x, self.y):
            self.zoom, self.x, self.y = zoom, x, y
            self.changed.emit()


@dataclass(eq=False)
class Panel:
    """A matrix with all that its picture depends on.

    `small` panels (heads side by side) have a `short` title and nothing else round them; `heading` stands once above
    all of them. `high` is the end of a scale that is shared; 0 for the matrix's own.
    """

    matrix: PairMatrix
    head: int
    title: str
    view: Ordered
    names: tuple[str, ...]
    role: str = ""
    small: bool = False
    log: bool = False
    threshold: float = 0.0
    pool: Pool = "max"
    high: float = 0.0
    sum_high: float = 0.0  # the same for the sums
    short: str = ""
    heading: str = ""
    signed: bool = False  # a difference has two signs, even where only one occurs
    box: QRectF = field(default_factory=QRectF)
    frame: QRectF = field(default_factory=QRectF)  # of the picture
    left: float = 0.0  # room of the labels
    above: float = 0.0
    strip: float = 0.0  # of the sums
    bar: float = 0.0
    complete: bool = True  # whether all tiles were there
    waits: bool = False  # for the sums
    kept: tuple[Any, QImage] | None = None

    # where things are -------------------------------------------------------------------------------------------
    def place(self, box: QRectF) -> None:
        """Lay the panel out in a box."""
        self.box = box
        roomy = not self.small and min(box.width(), box.height()) >= 300
        slim = not self.small and not roomy and min(box.width(), box.height()) >= 130
        long = marks.name_room(self.names, self.matrix.n)
        self.left = max(68.0, min(long, 124.0)) if roomy else min(long, 84.0) if slim else 0.0
        self.above = max(58.0, min(long, 92.0)) if roomy else 0.0
        self.strip = 30.0 if roomy else 14.0 if slim else 0.0
        title = marks.SMALL_TITLE if self.small else marks.TITLE
        self.bar = marks.BAR if not self.small and box.width() >= 200 else 0.0
        gap = 5.0 if self.strip else 0.0
        wide = box.width() - self.left - self.strip - gap - self.bar
        high = box.height() - title - self.above - self.strip - gap
        side = max(8.0, min(wide, high))
        x = box.left() + self.left + max(0.0, (wide - side) / 2)
        y = box.top() + title + self.above + (max(0.0, (high - side) / 2) if self.small else 0.0)
        self.frame = QRectF(round(x), round(y), side, side)

    def cell(self, camera: Camera) -> float:
        """Return how many pixels one entry has."""
        return self.frame.width() * camera.zoom / max(1, self.matrix.n)

    def corner(self, camera: Camera) -> QPointF:
        """Return where the first entry's corner lies, within the frame or not."""
        whole = self.frame.width() * camera.zoom
        centre = self.frame.center()
        return QPointF(centre.x() - camera.x * whole, centre.y() - camera.y * whole)

    def seen(self, camera: Camera) -> tuple[Range, Range]:
        """Return which rows and columns are seen, parts included."""
        cell, corner = self.cell(camera), self.corner(camera)
        spans = []
        for low, high, start in (
            (self.frame.top(), self.frame.bottom(), corner.y()), (self.frame.left(), self.frame.right(), corner.x()),
        ):  # fmt: skip
            first = int(np.floor((low - start) / cell + 1e-6))
            last = int(np.ceil((high - start) / cell - 1e-6))
            spans.append((max(0, first), min(self.matrix.n, max(first + 1, last))))
        return spans[0], spans[1]

    def level(self, camera: Camera, ratio: float = 1.0) -> int:
        """Return the level of pooling at which a place has one to two pixels; 0 where an entry has more."""
        return max(0, int(np.ceil(-np.log2(max(1e-9, self.cell(camera) * ratio)) - 1e-6)))

    def rect(self, row: int, column: int, camera: Camera) -> QRectF:
        """Return the box of an entry."""
        cell, corner = self.cell(camera), self.corner(camera)
        return QRectF(corner.x() + column * cell, corner.y() + row * cell, cell, cell)

    def place_at(self, point: QPointF, camera: Camera) -> tuple[int, int] | None:
        """Return the row and column under a point."""
        if not self.frame.contains(point):
            return None
        cell, corner = self.cell(camera), self.corner(camera)
        row, column = int((point.y() - corner.y()) // cell), int((point.x() - corner.x()) // cell)
        return (row, column) if 0 <= row < self.matrix.n and 0 <= column < self.matrix.n else None

    def row_label_at(self, point: QPointF, camera: Camera) -> int | None:
        """Return the row whose label is at a point."""
        reach = QRectF(self.frame.left() - self.left, self.frame.top(), self.left, self.frame.height())
        if not self.left or not reach.contains(point):
            return None
        row = int((point.y() - self.corner(camera).y()) // self.cell(camera))
        return row if 0 <= row < self.matrix.n else None

    def name(self, place: int) -> str:
        """Return what the node in a place is called: its name, else its number as in x."""
        node = int(self.view.nodes[place])
        return self.names[node] if self.names else str(node)

    def places(self, node: int | None) -> int | None:
        """Return the place of a node numbered as in x, None where it is not shown."""
        if node is None or not 0 <= node < len(self.view.place_of):
            return None
        found = int(self.view.place_of[node])
        return found if found >= 0 else None

    def style(self, store: TileStore, level: int) -> Style:
        """Return the scale at a level: means have one of their own, or all would be pale."""
        high = store.peak(self.matrix, level) if self.pool == "mean" and level else self.high
        made = make_style(self.matrix, self.log, self.threshold, high)
        return replace(made, signed=True) if self.signed else made

    # painting ---------------------------------------------------------------------------------------------------
    def paint(
        self, p: QPainter, camera: Camera, store: TileStore, selected: tuple[int | None, int | None],
        hover: tuple[int, int] | None, until: float,
    ) -> None:  # fmt: skip
        """Draw everything; new tiles are made until the clock passes `until`, then `complete` is False."""
        frame = self.frame
        p.fillRect(frame, QColor(current().plot))
        p.save()
        p.setClipRect(frame)
        style = self._paint_picture(p, camera, store, until)
        marks.paint_breaks(p, self, camera)
        self._paint_selection(p, camera, selected, hover)
        if not self.small:
            marks.paint_values(p, self, camera, style)
        p.restore()
        p.setBrush(Qt.BrushStyle.NoBrush)
        p.setPen(QPen(colour("line"), 1))
        p.drawRect(frame)
        marks.paint_title(p, self)
        if self.bar and self.small:
            marks.paint_bar(p, self, style, 0)
        if self.small:
            return
        marks.paint_thumbs(p, self, camera)
        if self.left:
            marks.paint_labels(p, self, camera, selected, hover)
        if self.strip:
            known = self.matrix.advance_sums(self.head)
            while not known and time.perf_counter() < until:
                known = self.matrix.advance_sums(self.head)
            if known:
                marks.paint_sums(p, self, camera, hover)
            self.waits = not known
        if self.bar:
            level = self.level(camera, _ratio(p))
            marks.paint_bar(p, self, style, level)

    def _paint_picture(self, p: QPainter, camera: Camera, store: TileStore, until: float) -> Style:
        ratio = _ratio(p)
        level = self.level(camera, ratio)
        rows, columns = ((a >> level, -(-b >> level)) for a, b in self.seen(camera))
        key = (self.matrix.token, self.head, level, rows, columns, self.pool)
        raster = p.paintEngine().type() == QPaintEngine.Type.Raster
        style = self.style(store, level)
        # another panel of this turn may have had the time for more tiles
        if self.kept is None or self.kept[0] != (*key, style, current().name) or not self.complete:
            cells, self.complete = store.picture(self.matrix, self.head, level, rows, columns, self.pool, style, until)
            if self.style(store, level) != style:  # the means that came reach higher than those before
                style = self.style(store, level)
                cells, self.complete = store.picture(
                    self.matrix, self.head, level, rows, columns, self.pool, style, time.perf_counter()
                )
            self.kept = ((*key, style, current().name), _image(cells, style.kind))
        image = self.kept[1]
        step = self.cell(camera) * 2**level
        corner = self.corner(camera)
        target = QRectF(
            corner.x() + columns[0] * step, corner.y() + rows[0] * step, image.width() * step, image.height() * step
        )
        if not raster and image.width() * image.height() <= DRAWN_CELLS:
            _paint_rectangles(p, image, target.topLeft(), step)
        else:
            # below four pixels some rows would be drawn twice as thick as others
            p.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, step * ratio < 4 and step * ratio % 1 > 1e-3)
            p.drawImage(target, image)
        return style

    def _paint_selection(
        self, p: QPainter, camera: Camera, selected: tuple[int | None, int | None], hover: tuple[int, int] | None
    ) -> None:
        cell, corner, frame = self.cell(camera), self.corner(camera), self.frame
        node, other = (self.places(one) for one in selected)
        if node is not None:
            ink = colour("accent")
            thick = max(cell, 2.0)
            bands = (
                QRectF(frame.left(), corner.y() + node * cell, frame.width(), thick),
                QRectF(corner.x() + node * cell, frame.top(), thick, frame.height()),
            )
            for band in bands:
                faint = QColor(ink)
                faint.setAlpha(46 if cell >= 4 else 150)
                p.fillRect(band, faint)
                if cell >= 4:
                    p.setPen(QPen(ink, 1))
                    p.setBrush(Qt.BrushStyle.NoBrush)
                    p.drawRect(band)
            if other is not None:
                paint_marks(p, [self.rect(node, other, camera)])
        if hover is not None:
            row, column = (self.places(one) for one in hover)
            pen = QPen(colour("muted"), 1, Qt.PenStyle.DotLine)
            p.setPen(pen)
            if row is not None and cell < frame.height() / 2:
                y = corner.y() + (row + 0.5) * cell
                p.drawLine(QPointF(frame.left(), y), QPointF(frame.right(), y))
            if column is not None and cell < frame.width() / 2:
                x = corner.x() + (column + 0.5) * cell
                p.drawLine(QPointF(x, frame.top()), QPointF(x, frame.bottom()))
            if row is not None and column is not None and cell >= 4:
                p.setPen(QPen(colour("text"), 1))
                p.setBrush(Qt.BrushStyle.NoBrush)
                p.drawRect(self.rect(row, column, camera))


def _ratio(p: QPainter) -> float:
    raster = p.paintEngine().type() == QPaintEngine.Type.Raster
    return float(p.device().devicePixelRatio()) if raster else 1.0


def _image(cells: NDArray[np.uint8], kind: str) -> QImage:
    high, wide = cells.shape
    cells = np.ascontiguousarray(cells)
    made = QImage(cells.data, wide, high, wide, QImage.Format.Format_Indexed8)
    made.setColorTable(colour_table(kind))
    return made.copy()


def _paint_rectangles(p: QPainter, image: QImage, corner: QPointF, step: float) -> None:
    """Draw cells as vectors: a picture of few pixels would be blurred by programs that read the file."""
    p.setPen(Qt.PenStyle.NoPen)
    for i in range(image.height()):
        for j in range(image.width()):
            if image.pixelIndex(j, i) != HIDDEN:
                p.fillRect(QRectF(corner.x() + j * step, corner.y() + i * step, step, step), image.pixelColor(j, i))
