"""Paint what timelines and texts have in common: the colours of tokens, the ends of scales, arrows."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QLinearGradient, QPainter, QPainterPath, QPen

from widgets.base.look import theme
from widgets.base.look.theme import CLASSES
from widgets.base.text.words import figure
from widgets.charts.inks import mixed
from widgets.spaces.sequence.timeline.items.tiles import colours, ramp
from widgets.spaces.sequence.timeline.rows import Row, Scene


def cell_colours(scene: Scene, row: Row, first: int, last: int) -> NDArray[np.uint8] | None:
    """Return the colour (4,) of each token of [first, last); None where there is nothing to tell them apart by."""
    tint = None if row.written else scene.tint.get(row.side)
    if tint is not None:
        scale, limit = scene.tint_scale
        return colours(np.asarray(tint[first:last])[None], scale, limit)[0]
    if row.pyramid is None or not 1 < row.pyramid.channels <= len(CLASSES):
        return None
    t, part = theme.current(), row.pyramid.values[first:last]
    inks = np.array([c.getRgb() for c in (*(mixed(c, t.panel, 0.38) for c in CLASSES), QColor(t.raised))], np.uint8)
    best = np.where(np.nan_to_num(part).max(axis=1) > 0.5, np.nan_to_num(part).argmax(axis=1), len(CLASSES))
    return np.asarray(inks[best])


def on(ground: QColor) -> QColor:
    """Return the colour of text that is read best on a ground."""
    light = 0.299 * ground.red() + 0.587 * ground.green() + 0.114 * ground.blue()
    return QColor("#14171b" if light > 140 else "#f4f6f8")


def limits(scale: str, limit: float) -> tuple[str, str]:
    """Return the values at both ends of a scale, as text."""
    return ("−" if scale == "signed" else "") + figure(limit if scale == "signed" else 0.0), figure(limit)


@lru_cache(maxsize=32)
def _stops(theme_name: str, scale: str) -> tuple[tuple[float, QColor], ...]:
    colours = ramp(scale)
    return tuple((k / 8, QColor(*(int(v) for v in colours[round(k / 8 * 511)]))) for k in range(9))


def paint_scale(p: QPainter, box: QRectF, scale: str) -> None:
    """Draw the colours of a scale along the longer side: from bottom to top, or from left to right."""
    level = box.width() > box.height()
    gradient = QLinearGradient(box.topLeft() if level else box.bottomLeft(), box.topRight() if level else box.topLeft())
    gradient.setStops(list(_stops(theme.current().name, scale)))
    p.fillRect(box, gradient)


def paint_chevron(p: QPainter, at: QPointF, folded: bool, colour: QColor) -> None:
    path = QPainterPath()
    x, y = at.x(), at.y()
    turned = [(-2, -3.5), (2, 0), (-2, 3.5)] if folded else [(-3.5, -2), (0, 2), (3.5, -2)]
    path.moveTo(x + turned[0][0], y + turned[0][1])
    for a, b in turned[1:]:
        path.lineTo(x + a, y + b)
    p.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    p.setBrush(Qt.BrushStyle.NoBrush)
    p.setPen(QPen(colour, 1.4))
    p.drawPath(path)
