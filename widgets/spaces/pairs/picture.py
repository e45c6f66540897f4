"""The picture of one pair matrix: tiles in a view box, with lines and marks for clusters, selection and pointer."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QGraphicsRectItem

from widgets.base.camera import Camera
from widgets.base.look.colours import lookup_table
from widgets.base.look.theme import current
from widgets.charts.inks import faded
from widgets.charts.items.heat import Cells
from widgets.charts.items.marks import fill, ink
from widgets.charts.library import pg
from widgets.charts.scene.box import CameraBox
from widgets.maps.diagram import Label
from widgets.spaces.pairs.edges import Edges, PairBar
from widgets.spaces.pairs.panel import BAR, Panel
from widgets.spaces.pairs.tiles import Style, TileStore

FEW_LINES = 10  # between clusters: more of them are fainter


class Tiles(Cells):
    """The visible part of the matrix as an image of colour indices, pooled to one or two places a pixel."""

    def __init__(self) -> None:
        super().__init__(even=True)
        self.complete = True
        self._shown: tuple[Any, ...] = ()

    def fill(self, panel: Panel, camera: Camera, store: TileStore, level: int, until: float) -> Style:
        """Show what is seen, making tiles until the clock passes `until`; return its scale."""
        rows, columns = ((a >> level, -(-b >> level)) for a, b in panel.seen(camera))
        what = (panel.matrix, panel.head, level, rows, columns, panel.pool)
        style = panel.style(store, level)
        # another panel of this turn may have had the time for more tiles
        if self._shown == (*what, style, current().name) and self.complete:
            return style
        cells, self.complete = store.picture(*what, style, until)
        if panel.style(store, level) != style:  # the means that came reach higher than those before
            style = panel.style(store, level)
            cells, self.complete = store.picture(*what, style, time.perf_counter())
        self._shown = (*what, style, current().name)
        step = 2**level
        if cells.size:
            rect = QRectF(columns[0] * step, rows[0] * step, cells.shape[1] * step, cells.shape[0] * step)
            self.setImage(np.ascontiguousarray(cells), autoLevels=False, rect=rect, lut=lookup_table(style.kind))
        else:
            self.clear()
        return style


class CellMark(pg.ROI):
    """The outline of one cell; where it has a `halo`, it is seen on every colour."""

    def __init__(self, halo: bool = False) -> None:
        self._halo = halo
        super().__init__((0, 0), (1, 1), movable=False, rotatable=False, resizable=False)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def show_at(self, row: int | None, column: int | None, side: float = 1.0) -> None:
        """Stand round a cell, at least `side` cells wide, or nowhere."""
        self.setVisible(row is not None and column is not None)
        if row is not None and column is not None:
            self.setSize((side, side), update=False)
            self.setPos(column + 0.5 - side / 2, row + 0.5 - side / 2)

    def paint(self, p: QPainter, *rest: Any) -> None:
        p.setBrush(Qt.BrushStyle.NoBrush)
        for pen in (ink(current().panel, 3.0), ink(current().text))[0 if self._halo else 1 :]:
            p.setPen(pen)
            p.drawRect(QRectF(0, 0, *self.state["size"]))


class Picture(pg.GraphicsWidget):
    """One panel in a scene; made once and shown with one panel after another."""

    dragged = Signal(int, float, bool)  # a row's label: the row, pixels below the top, whether it was let go

    def __init__(self, camera: Camera) -> None:
        super().__init__()
        self.panel: Panel
        self.camera = camera
        self.complete = True
        self.selected: tuple[int | None, int | None] = (None, None)  # nodes, as numbered in x
        self.hover: tuple[int, int] | None = None
        self.box = CameraBox(camera)
        self.box.setParentItem(self)
        self.tiles = Tiles()
        self.breaks = pg.PlotCurveItem(connect="pairs", antialias=False)
        self.bands = tuple(pg.LinearRegionItem(orientation=way, movable=False) for way in ("horizontal", "vertical"))
        self.cross = tuple(pg.InfiniteLine(angle=angle) for angle in (0, 90))
        self.pair, self.under = CellMark(halo=True), CellMark()
        for z, item in enumerate((self.tiles, self.breaks, *self.bands, self.pair, *self.cross, self.under)):
            self.box.addItem(item, ignoreBounds=True)
            item.setZValue(z)
        self.thumbs = tuple(QGraphicsRectItem(self.box) for _ in range(2))
        self.title = Label()
        self.title.setParentItem(self)
        self.edges: Edges | None = None
        self.bar: PairBar | None = None
        self.box.sigRangeChanged.connect(self.follow)

    # what is shown ----------------------------------------------------------------------------------------------
    def show_panel(self, panel: Panel) -> None:
        """Show a panel where it was placed."""
        self.panel = panel
        self.setVisible(True)
        n = max(1, panel.matrix.n)
        self.box.setGeometry(panel.frame)
        lines = panel.view.breaks.tolist()
        along = np.array([(0, n, at, at) for at in lines], float).ravel()
        across = np.array([(at, at, 0, n) for at in lines], float).ravel()
        self.breaks.setData(along, across, connect="pairs")
        self.breaks.setVisible(0 < len(lines) * 6 <= panel.frame.width())
        if self.edges is None and not panel.small:
            self.edges = Edges(self.box)
            self.edges.setParentItem(self)
            self.edges.rows.dragged.connect(self.dragged)
        if self.edges is not None:
            self.edges.setVisible(not panel.small)
            if not panel.small:
                self.edges.show_panel(panel, self.camera)
        panel.write_title(self.title)
        self._place_bar()
        self.dress()
        self.box.show_size(n, n)
        self.follow()

    def _place_bar(self) -> None:
        panel, frame = self.panel, self.panel.frame
        left = panel.box.right() + 8 if panel.small else frame.right() + panel.strip + 14
        height = min(frame.height(), 260.0)
        there = panel.bar > 0 and height >= 31
        if there and self.bar is None:
            self.bar = PairBar()
            self.bar.setParentItem(self)
            self.bar.adopt(self.getViewWidget())
        if self.bar is not None:
            self.bar.setVisible(there)
            self.bar.setGeometry(QRectF(left, frame.top(), BAR, height))

    def fill(self, store: TileStore, ratio: float, until: float) -> None:
        """Bring tiles, sums and the bar up to date; new tiles are made until the clock passes `until`."""
        panel, level = self.panel, self.panel.level(self.camera, ratio)
        style = self.tiles.fill(panel, self.camera, store, level, until)
        known = True
        if self.edges is not None and not panel.small:
            self.edges.style = style
            known = not panel.strip or self._sum(until)
            self.edges.tell_pooling(level)
        if self.bar is not None and panel.bar:
            self.bar.follow(style, bool(level) and panel.pool == "mean" and not panel.small)
        self.complete = self.tiles.complete and known

    def _sum(self, until: float) -> bool:
        known = self.panel.matrix.advance_sums(self.panel.head)
        while not known and time.perf_counter() < until:
            known = self.panel.matrix.advance_sums(self.panel.head)
        if known and self.edges is not None:
            self.edges.show_sums(self.hover)
        return known

    def follow(self, *changed: Any) -> None:
        """Place what depends on the part that is seen."""
        camera, half = self.camera, 0.5 / self.camera.zoom
        self._place_marks()
        frame = QRectF(self.box.rect())
        size = frame.width() / camera.zoom
        long = max(size, 14.0)
        x, y = ((middle - half) * (frame.width() - (long - size)) for middle in (camera.x, camera.y))
        self.thumbs[0].setRect(QRectF(x, frame.bottom() - 5, long, 3))
        self.thumbs[1].setRect(QRectF(frame.right() - 5, y, 3, long))
        for thumb in self.thumbs:
            thumb.setVisible(camera.zoom > 1 and not self.panel.small)

    # selection and pointer --------------------------------------------------------------------------------------
    def mark(self, selected: tuple[int | None, int | None], hover: tuple[int, int] | None) -> None:
        """Mark a selected pair and the one under the cursor, as numbered in x."""
        if (selected, hover) != (self.selected, self.hover):
            self.selected, self.hover = selected, hover
            self._place_marks()
            if self.edges is not None and not self.panel.small and self.panel.strip:
                if self.panel.matrix.advance_sums(self.panel.head):
                    self.edges.show_sums(hover)

    def _place_marks(self) -> None:
        panel, cell = self.panel, self.panel.cell(self.camera)
        node, other = (panel.places(one) for one in self.selected)
        accent = current().accent
        for band in self.bands:
            band.setVisible(node is not None)
            if node is not None:
                band.setRegion((node, node + max(1.0, 2 / cell)))
                band.setBrush(fill(accent, 46 if cell >= 4 else 150))
                for line in band.lines:
                    line.setPen(ink(accent) if cell >= 4 else None)
        self.pair.show_at(node, other if node is not None else None, max(1.0, 2 / cell))
        row, column = (panel.places(one) for one in self.hover) if self.hover is not None else (None, None)
        for line, place in zip(self.cross, (row, column)):
            line.setVisible(place is not None and cell < panel.frame.height() / 2)
            if place is not None:
                line.setValue(place + 0.5)
        self.under.show_at(*((row, column) if cell >= 4 else (None, None)))
        if self.edges is not None and not panel.small:
            self.edges.mark((node, row), (node, other, column))

    def dress(self) -> None:
        """Take the colours of the theme."""
        t = current()
        self.box.setBackgroundColor(t.plot)
        self.box.borderRect.setPen(QPen(QColor(t.line), 1))
        many = len(self.panel.view.breaks) > FEW_LINES
        self.breaks.setPen(ink(t.text, 1.0, 55 if many else 120))
        for line in self.cross:
            line.setPen(ink(t.muted, 1.0, 255, Qt.PenStyle.DotLine))
        for thumb in self.thumbs:
            thumb.setPen(QPen(Qt.PenStyle.NoPen))
            thumb.setBrush(faded(t.text, 110))
        for part in (self.edges, self.bar):
            if part is not None:
                part.dress()

    # where things are -------------------------------------------------------------------------------------------
    def place_at(self, point: QPointF) -> tuple[int, int] | None:
        """Return the row and column under a point of the scene."""
        if not self.panel.frame.contains(point):
            return None
        at = self.box.mapSceneToView(point)
        row, column, n = int(at.y()), int(at.x()), self.panel.matrix.n
        return (row, column) if row < n and column < n else None

    def row_label_at(self, point: QPointF) -> int | None:
        """Return the row whose label is at a point of the scene."""
        if self.edges is None or not self.panel.left or not self.edges.rows.geometry().contains(point):
            return None
        return self.edges.rows.place_at(point.y() - self.panel.frame.top())

    def row_at(self, y: float) -> int:
        """Return the row so many pixels below the top of the picture, or the one that is seen next to there."""
        (low, high), height = self.box.viewRange()[1], self.panel.frame.height()
        row = int(low + min(max(y / height, 0.0), 1.0) * (high - low))
        return min(max(row, 0), self.panel.seen(self.camera)[0][1] - 1)
