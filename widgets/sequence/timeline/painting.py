"""The parts of a timeline as Qt draws them: lines with their extremes, letters, links, the gradient, the axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import shiboken6
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QLinearGradient, QPainter, QPainterPath, QPen, QPolygonF

from widgets.base import theme
from widgets.base.theme import Theme
from widgets.base.words import figure
from widgets.charts.chart import CENTRE, RIGHT, faded, mixed
from widgets.graph.drawing.look import CLASSES
from widgets.sequence.timeline.axis import TimeAxis
from widgets.sequence.timeline.lines import in_columns, paint_columns
from widgets.sequence.timeline.pyramid import Pyramid, bucket_for
from widgets.sequence.timeline.rows import Row, Scene
from widgets.sequence.timeline.tiles import indices, ramp, table

DECADES = 9.0  # of the gradient below its largest value
ELIDED = 40.0  # pixels of a step from which a word may be cut short
SPACE = "␣"  # a blank is a letter too
LEGIBLE = 9.0  # pixels of a step from which its letter is written


def polygon(x: NDArray[Any], y: NDArray[Any]) -> QPolygonF:
    """Return the points as Qt's own array, without an object for each."""
    made = QPolygonF()
    made.resize(len(x))
    if len(x):
        pointer: Any = shiboken6.VoidPtr  # its stub knows one argument only
        memory = np.frombuffer(pointer(made.data(), 16 * len(x), True), np.float64)
        memory[0::2], memory[1::2] = x, y
    return made


def visible(axis: TimeAxis, steps: int, ratio: float = 1.0, wider: int = 1) -> tuple[int, int, int]:
    """Return the first step of the first bucket seen, the steps of a bucket and how many buckets are seen."""
    bucket = bucket_for(axis.finest / ratio) * wider
    first = max(0, int(axis.first) // bucket - 1) * bucket
    return first, bucket, int((min(axis.last, steps) - first) // bucket) + 2


def ink_of(channel: int, channels: int) -> QColor:
    if channels == 1:
        return QColor(theme.current().first)
    return mixed(CLASSES[channel % len(CLASSES)], theme.current().text, 0.85)


def paint_lines(p: QPainter, axis: TimeAxis, box: QRectF, pyramid: Pyramid, limit: float, signed: bool) -> None:
    """Draw up to a handful of channels as lines; where many steps share a pixel, with the band of their extremes."""
    first, bucket, count = visible(axis, pyramid.steps, 1.0)
    found = pyramid.buckets(first, bucket, count)
    low = -limit if signed else 0.0
    span = (limit - low) or 1.0
    n = len(found.mean)
    x = axis.xs_of(first + bucket * np.arange(n) + bucket / 2)
    p.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    zero = box.bottom() - 3 - (0 - low) / span * (box.height() - 6)
    p.setPen(QPen(QColor(theme.current().line), 1))
    p.drawLine(QPointF(box.left(), zero), QPointF(box.right(), zero))
    centres = first + bucket * np.arange(n) + bucket / 2
    for c in range(pyramid.channels):
        ink = ink_of(c, pyramid.channels)
        y, y_low, y_high = (
            box.bottom() - 3 - (np.clip(v[:, c], low, limit) - low) / span * (box.height() - 6)
            for v in (found.mean, found.low, found.high)
        )
        if in_columns(p, axis):
            paint_columns(p, axis, box, centres, y, ink, (y_low, y_high) if bucket > 1 else None)
            continue
        for part in _runs(np.isfinite(y)):
            _paint_run(p, axis, x[part], y[part], ink, (y_low[part], y_high[part]) if bucket > 1 else None)


def _paint_run(
    p: QPainter, axis: TimeAxis, x: NDArray[Any], y: NDArray[Any], ink: QColor,
    band: tuple[NDArray[Any], NDArray[Any]] | None,
) -> None:  # fmt: skip
    if band is not None:
        p.setPen(Qt.PenStyle.NoPen)
        p.setBrush(faded(ink.name(), 80))
        p.drawPolygon(polygon(np.r_[x, x[::-1]], np.r_[band[0], band[1][::-1]]))
    p.setBrush(Qt.BrushStyle.NoBrush)
    p.setPen(QPen(ink, 1.3))
    p.drawPolyline(polygon(x, y))
    if len(x) == 1 or (band is None and axis.per_pixel < 0.12):
        p.setPen(Qt.PenStyle.NoPen)
        p.setBrush(ink)
        for a, b in zip(x, y, strict=True):
            p.drawEllipse(QPointF(float(a), float(b)), 2.2, 2.2)


def _runs(known: NDArray[np.bool_]) -> list[slice]:
    """Return the stretches without a gap."""
    edges = np.flatnonzero(np.diff(np.r_[False, known, False].astype(np.int8)))
    return [slice(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def cell_colours(scene: Scene, row: Row, first: int, last: int) -> NDArray[np.uint32] | None:
    """Return the colour of each token of [first, last); None where there is nothing to tell them apart by."""
    tint = None if row.written else scene.tint.get(row.side)
    if tint is not None:
        scale, limit = scene.tint_scale
        return np.asarray(table(scale)[indices(np.asarray(tint[first:last], np.float32), scale, limit)])
    if row.pyramid is None or not 1 < row.pyramid.channels <= len(CLASSES):
        return None
    t, part = theme.current(), row.pyramid.values[first:last]
    inks = np.array([mixed(c, t.panel, 0.38).rgb() for c in CLASSES] + [QColor(t.raised).rgb()], np.uint32)
    best = np.where(np.nan_to_num(part).max(axis=1) > 0.5, np.nan_to_num(part).argmax(axis=1), len(CLASSES))
    return np.asarray(inks[best])


def paint_tokens(p: QPainter, axis: TimeAxis, box: QRectF, scene: Scene, row: Row) -> None:
    """Draw each step as a cell with its text, while there is room for letters; else as a strip of colours."""
    t = theme.current()
    names = row.written or (scene.names if row.side == "before" else scene.moved_names)
    steps = row.pyramid.steps if row.pyramid is not None else len(names)
    first, last = max(0, int(axis.first)), min(steps, int(axis.last) + 1)
    if last <= first:
        return
    every = max(1, int(axis.per_pixel / 1.5))  # a strip needs no more cells than pixels
    edges = axis.xs_of(np.arange(first, last + every)).tolist()
    colours = cell_colours(scene, row, first, last)
    metrics = QFontMetricsF(p.font())
    p.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    plain = QColor(t.raised)
    for t_ in range(first, last, every):
        ground = QColor.fromRgb(int(colours[t_ - first])) if colours is not None else plain
        left, width = edges[t_ - first], edges[t_ - first + every] - edges[t_ - first]
        gap = 1.0 if width > 5 else 0.0
        cell = QRectF(left, box.top() + 2, max(1.0, width - gap), box.height() - 4)
        p.fillRect(cell, ground)
        name = names[t_] if t_ < len(names) else ""
        if width < LEGIBLE or not name:
            continue
        fits = len(name) == 1 or metrics.horizontalAdvance(name) <= width - 1
        if not fits and width < ELIDED:
            continue  # a letter and dots say nothing: the text is read above
        name = SPACE if name.isspace() else name
        text = name if fits else metrics.elidedText(name, Qt.TextElideMode.ElideRight, width - 1)
        p.setPen(on(ground))
        p.drawText(cell, CENTRE, text)


def on(ground: QColor) -> QColor:
    """Return the colour of text that is read best on a ground."""
    light = 0.299 * ground.red() + 0.587 * ground.green() + 0.114 * ground.blue()
    return QColor("#14171b" if light > 140 else "#f4f6f8")


def paint_links(p: QPainter, axis: TimeAxis, box: QRectF, scene: Scene, marked: dict[int, str]) -> None:
    """Join steps of x with where they are in rho(g) x; stubs end where a step was cut off."""
    t = theme.current()
    p.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    every = max(1, 1 << max(0, int(np.ceil(np.log2(13 * axis.per_pixel)))))
    first = int(axis.first) // every * every
    low, high = box.top() + 1, box.bottom() - 1
    p.save()
    p.setClipRect(box)
    plain, cut = QPen(faded(t.muted, 130), 1), QPen(faded(t.bad, 170), 1, Qt.PenStyle.DotLine)
    reach = int(axis.last - axis.first) + 1  # steps that lie outside may lead inside
    for step in range(max(0, first - reach // every * every), min(scene.steps, int(axis.last) + reach), every):
        _link(p, axis, scene, step, low, high, plain, cut)
    for step, colour in marked.items():
        _link(p, axis, scene, step, low, high, QPen(QColor(colour), 2), QPen(QColor(t.bad), 2, Qt.PenStyle.DotLine))
    p.restore()


def _link(
    p: QPainter, axis: TimeAxis, scene: Scene, step: int, low: float, high: float, pen: QPen, cut: QPen
) -> None:  # fmt: skip
    x, place = axis.x_of(step + 0.5), scene.there(step)
    if place is not None:
        p.setPen(pen)
        p.drawLine(QPointF(x, low), QPointF(axis.x_of(place + 0.5), high))
    else:
        p.setPen(cut)
        p.drawLine(QPointF(x, low), QPointF(x, low + 0.4 * (high - low)))


def decay(gradient: NDArray[Any], step: int) -> float | None:
    """Return the factor by which the gradient changes with each step back from `step`, by least squares of its log."""
    back = np.asarray(gradient[max(0, step - 200) : step + 1], np.float64)[::-1]
    k = np.flatnonzero(np.isfinite(back) & (back > 0))
    if len(k) < 3:
        return None
    return float(np.exp(np.polyfit(k, np.log(back[k]), 1)[0]))


def paint_gradient(p: QPainter, axis: TimeAxis, box: QRectF, pyramid: Pyramid, scene: Scene) -> None:
    """Draw |d layer(step) / d x_t| on a logarithmic axis of nine decades below its largest value."""
    t = theme.current()
    top = pyramid.span()[1]
    if not top > 0:  # on a logarithmic axis nothing is nowhere
        p.setPen(QColor(t.muted))
        p.drawText(box, CENTRE, "0 at every step: nothing earlier moves it")
        return
    first, bucket, count = visible(axis, pyramid.steps)
    found = pyramid.buckets(first, bucket, count)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = 1 + np.log10(np.asarray(found.high[:, 0], np.float64) / top) / DECADES
    share = np.clip(np.nan_to_num(share, nan=0.0, neginf=0.0), 0, 1)
    x = axis.xs_of(first + bucket * np.arange(len(share)) + bucket / 2)
    y = box.bottom() - 2 - share * (box.height() - 5)
    p.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    p.setPen(QPen(faded(t.line, 160), 1))
    for k in (0, 3, 6, 9):
        level = box.bottom() - 2 - (1 - k / DECADES) * (box.height() - 5)
        p.drawLine(QPointF(box.left(), level), QPointF(box.right(), level))
    p.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    if in_columns(p, axis):
        centres = first + bucket * np.arange(len(share)) + bucket / 2
        paint_columns(p, axis, box, centres, y, QColor(t.accent), (y, np.full(len(y), box.bottom() - 2)))
    elif len(x):
        p.setPen(Qt.PenStyle.NoPen)
        p.setBrush(faded(t.accent, 50))
        p.drawPolygon(polygon(np.r_[x[0], x, x[-1]], np.r_[box.bottom() - 2, y, box.bottom() - 2]))
        p.setBrush(Qt.BrushStyle.NoBrush)
        p.setPen(QPen(QColor(t.accent), 1.4))
        p.drawPolyline(polygon(x, y))
    p.setPen(QColor(t.muted))
    if box.height() > 26:
        p.drawText(box.adjusted(4, 1, -4, 0), Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop, figure(top))


def paint_unknown(p: QPainter, axis: TimeAxis, box: QRectF, known: NDArray[np.bool_]) -> None:
    """Hatch the steps that are not compared."""
    first, last = max(0, int(axis.first)), min(len(known), int(axis.last) + 1)
    brush = QBrush(faded(theme.current().muted, 120), Qt.BrushStyle.BDiagPattern)
    veil = faded(theme.current().panel, 165)
    for run in _runs(~known[first:last])[:200]:
        left, right = (axis.x_of(first + v) for v in (run.start, run.stop))
        part = QRectF(left, box.top(), max(1.0, right - left), box.height())
        p.fillRect(part, veil)
        p.fillRect(part, brush)


def limits(scale: str, limit: float) -> tuple[str, str]:
    """Return the values at both ends of a scale, as text."""
    return ("−" if scale == "signed" else "") + figure(limit if scale == "signed" else 0.0), figure(limit)


def paint_scale(p: QPainter, box: QRectF, scale: str) -> None:
    """Draw the colours of a scale along the longer side: from bottom to top, or from left to right."""
    colours = ramp(scale)
    level = box.width() > box.height()
    gradient = QLinearGradient(box.topLeft() if level else box.bottomLeft(), box.topRight() if level else box.topLeft())
    for k in range(9):
        gradient.setColorAt(k / 8, QColor(*(int(v) for v in colours[round(k / 8 * 511)])))
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


def paint_ticks(p: QPainter, axis: TimeAxis, top: float) -> None:
    """Draw the ticks of an axis and their words, downwards from `top`."""
    for x, word in axis.labels():
        p.drawLine(QPointF(x, top), QPointF(x, top + 4))
        half = p.fontMetrics().horizontalAdvance(word) / 2
        if x - half >= axis.left - 20:  # not over the label
            x = min(x, axis.right + 8 - half)
            p.drawText(QRectF(x - half - 4, top + 4, 2 * half + 8, 15), CENTRE, word)


def paint_axis(p: QPainter, t: Theme, axis: TimeAxis, box: QRectF) -> None:
    """Draw the ticks of steps or of times, and where the stretch lies in the whole when zoomed."""
    p.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    p.setPen(QColor(t.muted))
    paint_ticks(p, axis, box.top())
    p.drawText(QRectF(4, box.top() + 4, axis.left - 12, 15), RIGHT, "step" if axis.scale is None else "time")
    bar = QRectF(axis.left, box.bottom() - 6, axis.right - axis.left, 4)
    if axis.zoomed and axis.steps:
        p.fillRect(bar, QColor(t.raised))
        left = bar.left() + axis.low / axis.steps * bar.width()
        width = max(6.0, (axis.high - axis.low) / axis.steps * bar.width())
        p.fillRect(QRectF(min(left, bar.right() - width), bar.top(), width, 4), QColor(t.accent))
