"""The picture of one pair matrix: cells, labels, sums along its edges, boundaries, selection, colour bar."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPaintEngine, QPainter, QPen

from widgets.base.camera import Camera
from widgets.base.colours import colour_table, paint_marks
from widgets.base.theme import current
from widgets.maps.diagram import colour
from widgets.pairs import marks
from widgets.pairs.panel import Panel
from widgets.pairs.tiles import HIDDEN, Style, TileStore

DRAWN_CELLS = 20_000  # up to so many are rectangles in a file of vectors


def paint_panel(
    p: QPainter, panel: Panel, camera: Camera, store: TileStore, selected: tuple[int | None, int | None],
    hover: tuple[int, int] | None, until: float,
) -> None:  # fmt: skip
    """Draw everything; new tiles are made until the clock passes `until`, then `complete` is False."""
    frame = panel.frame
    p.fillRect(frame, QColor(current().plot))
    p.save()
    p.setClipRect(frame)
    style = _paint_picture(p, panel, camera, store, until)
    marks.paint_breaks(p, panel, camera)
    _paint_selection(p, panel, camera, selected, hover)
    if not panel.small:
        marks.paint_values(p, panel, camera, style)
    p.restore()
    p.setBrush(Qt.BrushStyle.NoBrush)
    p.setPen(QPen(colour("line"), 1))
    p.drawRect(frame)
    marks.paint_title(p, panel)
    if panel.bar and panel.small:
        marks.paint_bar(p, panel, style, 0)
    if panel.small:
        return
    marks.paint_thumbs(p, panel, camera)
    if panel.left:
        marks.paint_labels(p, panel, camera, selected, hover)
    if panel.strip:
        known = panel.matrix.advance_sums(panel.head)
        while not known and time.perf_counter() < until:
            known = panel.matrix.advance_sums(panel.head)
        if known:
            marks.paint_sums(p, panel, camera, hover)
        panel.waits = not known
    if panel.bar:
        level = panel.level(camera, _ratio(p))
        marks.paint_bar(p, panel, style, level)


def _paint_picture(p: QPainter, panel: Panel, camera: Camera, store: TileStore, until: float) -> Style:
    ratio = _ratio(p)
    level = panel.level(camera, ratio)
    rows, columns = ((a >> level, -(-b >> level)) for a, b in panel.seen(camera))
    key = (panel.matrix.token, panel.head, level, rows, columns, panel.pool)
    raster = p.paintEngine().type() == QPaintEngine.Type.Raster
    style = panel.style(store, level)
    # another panel of this turn may have had the time for more tiles
    if panel.kept is None or panel.kept[0] != (*key, style, current().name) or not panel.complete:
        cells, panel.complete = store.picture(panel.matrix, panel.head, level, rows, columns, panel.pool, style, until)
        if panel.style(store, level) != style:  # the means that came reach higher than those before
            style = panel.style(store, level)
            cells, panel.complete = store.picture(
                panel.matrix, panel.head, level, rows, columns, panel.pool, style, time.perf_counter()
            )
        panel.kept = ((*key, style, current().name), _image(cells, style.kind))
    image = panel.kept[1]
    step = panel.cell(camera) * 2**level
    corner = panel.corner(camera)
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
    p: QPainter, panel: Panel, camera: Camera, selected: tuple[int | None, int | None], hover: tuple[int, int] | None
) -> None:
    cell, corner, frame = panel.cell(camera), panel.corner(camera), panel.frame
    node, other = (panel.places(one) for one in selected)
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
            paint_marks(p, [panel.rect(node, other, camera)])
    if hover is not None:
        row, column = (panel.places(one) for one in hover)
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
            p.drawRect(panel.rect(row, column, camera))


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
