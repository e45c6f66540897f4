"""Colour indices, magnitudes and marks as Qt draws them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from widgets.base.look.theme import current, error_map, grey_map, signed_map
from widgets.maps.diagram import colour
from widgets.maps.mosaic import GAP, MISSING, STEPS

TICK = 7.0  # pixels
_tables: dict[tuple[str, str], list[int]] = {}


def colour_table(kind: str) -> list[int]:
    """Return the 256 colours of the indices of `mosaic`, as Qt wants them, in the theme in force."""
    key = (current().name, kind)
    if key not in _tables:
        ramp = {"signed": signed_map, "grey": grey_map, "error": error_map}[kind]()
        rows = ramp[np.linspace(0, len(ramp) - 1, STEPS + 1).round().astype(int)]
        table = [QColor(*(int(v) for v in row)).rgba() for row in rows]
        table += [0] * (256 - len(table))
        table[MISSING] = QColor("#d020d0").rgba()  # a hue of none of the maps: it must not pass for a value
        table[GAP] = colour("line").rgba()
        _tables[key] = table
    return _tables[key]


def lookup_table(kind: str) -> NDArray[np.uint8]:
    """Return the same colours as pyqtgraph wants them: rows of red, green, blue and opaqueness."""
    known = np.array(colour_table(kind), np.uint32)
    return np.stack([known >> 16 & 255, known >> 8 & 255, known & 255, known >> 24], axis=1).astype(np.uint8)


def heat_pixels(share: NDArray[Any], ink: QColor) -> NDArray[np.uint8]:
    """Return shares of the largest magnitude (height, width) as one colour (RGBA), more opaque where larger."""
    pixels = np.empty((*share.shape, 4), np.uint8)
    pixels[...] = (ink.red(), ink.green(), ink.blue(), 0)
    pixels[..., 3] = 190 * np.clip(share, 0, 1) ** 0.7
    return pixels


def paint_marks(painter: QPainter, rects: list[QRectF]) -> None:
    """Outline data pixels; those too small for an outline get a dot, since a mark must be seen everywhere."""
    if not rects:
        return
    if rects[0].width() < 4:
        ink = colour("accent")
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink)
        painter.drawRects([QRectF(r.center().x() - 1, r.center().y() - 1, 2, 2) for r in rects])
        return
    rects = [r.adjusted(-0.5, -0.5, 0.5, 0.5) for r in rects]
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(colour("panel"), 3))  # a halo, since the values below may have any colour
    painter.drawRects(rects)
    painter.setPen(QPen(colour("text"), 1))
    painter.drawRects(rects)


def paint_ticks(painter: QPainter, pairs: list[tuple[QRectF, QRectF]]) -> None:
    """Draw short lines at the four borders of each picture, level with the data pixel that is marked in it."""
    lines = []
    for whole, marked in pairs:
        x, y, long = marked.center().x(), marked.center().y(), min(TICK, 0.08 * whole.width())
        lines += [
            QLineF(whole.left(), y, whole.left() + long, y), QLineF(whole.right() - long, y, whole.right(), y),
            QLineF(x, whole.top(), x, whole.top() + long), QLineF(x, whole.bottom() - long, x, whole.bottom()),
        ]  # fmt: skip
    painter.setPen(QPen(colour("panel"), 3))  # a halo, as that of marks
    painter.drawLines(lines)
    painter.setPen(QPen(colour("text"), 1))
    painter.drawLines(lines)
