"""Lines over thousands of steps, one column of pixels at a time: Qt's own take a tenth of a second for each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPaintEngine, QPainter

from widgets.sequence.timeline.axis import TimeAxis

DENSE = 0.2  # steps in a pixel from which a line is made of columns


def in_columns(p: QPainter, axis: TimeAxis) -> bool:
    """Say whether the line is to be made of columns: there are many points, and the paper is made of pixels."""
    return axis.per_pixel > DENSE and p.paintEngine().type() == QPaintEngine.Type.Raster


def paint_columns(
    p: QPainter, axis: TimeAxis, box: QRectF, centres: NDArray[Any], y: NDArray[Any], ink: QColor,
    band: tuple[NDArray[Any], NDArray[Any]] | None = None, width: float = 1.3,
) -> None:  # fmt: skip
    """Draw a line through (centre step, y pixel) and a band between two more; smooth above and below.

    Where `centres` are buckets, a column shows the band of the bucket that it lies in.
    """
    ratio = max(1.0, p.deviceTransform().m11())
    columns, rows = int(box.width() * ratio), int(box.height() * ratio)
    if not len(centres) or columns < 1 or rows < 1:
        return
    edges = axis.steps_at(box.left() + np.arange(columns + 1) / ratio)
    level = np.interp(edges, centres, (y - box.top()) * ratio, left=np.nan, right=np.nan)
    height = np.arange(rows, dtype=np.float32)[:, None] + np.float32(0.5)
    top, bottom = np.minimum(level[:-1], level[1:]), np.maximum(level[:-1], level[1:])
    cover = _cover(height, top - width * ratio / 2, bottom + width * ratio / 2)
    if band is not None:
        each = centres[1] - centres[0] if len(centres) > 1 else 1.0
        which = np.clip(((edges[:-1] + edges[1:]) / 2 - centres[0] + each / 2) // each, 0, len(centres) - 1).astype(int)
        low, high = ((b - box.top())[which] * ratio for b in band)
        outside = (edges[:-1] < centres[0] - each / 2) | (edges[1:] > centres[-1] + each / 2)
        ends = np.where(outside, np.nan, np.minimum(low, high)), np.where(outside, np.nan, np.maximum(low, high))
        cover = np.maximum(cover, np.float32(0.32) * _cover(height, *ends))
    alpha = (cover * np.float32(255)).astype(np.uint32)
    red, green, blue = (alpha * np.uint32(c) // np.uint32(255) for c in (ink.red(), ink.green(), ink.blue()))
    pixels = np.ascontiguousarray(alpha << 24 | red << 16 | green << 8 | blue)
    image = QImage(pixels.data, columns, rows, 4 * columns, QImage.Format.Format_ARGB32_Premultiplied)
    p.drawImage(QRectF(box.left(), box.top(), columns / ratio, rows / ratio), image)


def _cover(height: NDArray[Any], top: NDArray[Any], bottom: NDArray[Any]) -> NDArray[Any]:
    """Return how much of each pixel (rows, columns) lies between top and bottom; nothing where they are no numbers."""
    top, bottom = (np.nan_to_num(v, nan=-1e6).astype(np.float32) for v in (top, bottom))
    half = np.float32(0.5)
    return np.asarray(np.clip(height - top + half, 0, 1) * np.clip(bottom - height + half, 0, 1))
