"""What stands in and round the picture of a pair matrix: names, values, sums, boundaries, thumbs, the colour bar."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QLinearGradient, QPainter, QPen

from widgets.base.camera import Camera
from widgets.base.colours import colour_table
from widgets.base.theme import error_map, signed_map
from widgets.base.words import figure
from widgets.maps.diagram import colour, font
from widgets.maps.mosaic import MISSING
from widgets.pairs.panel import BAR, SMALL_TITLE, TITLE, Panel
from widgets.pairs.tiles import HIDDEN, Style, shade

LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
CENTRE = Qt.AlignmentFlag.AlignCenter
ELIDED = Qt.TextElideMode.ElideRight
MIDDLE = Qt.TextElideMode.ElideMiddle  # of names: what tells them apart is often at the end
# Okabe and Ito's, for the classes of nodes
CLASSES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#7f7f7f")
WRITTEN = 30.0  # pixels of a cell from which its value is written in it


def class_colour(number: int) -> QColor:
    """Return the colour of a class; unknown ones have the colour of lines."""
    return QColor(CLASSES[number % len(CLASSES)]) if number >= 0 else colour("line")


def paint_title(p: QPainter, panel: Panel) -> None:
    used = font(10 if panel.small else 12, bold=not panel.small)
    p.setFont(used)
    left = panel.frame.left() if panel.small else max(panel.box.left(), panel.frame.left() - panel.left)
    top = panel.frame.top() - panel.above - (SMALL_TITLE if panel.small else TITLE)
    room = panel.frame.width() if panel.small else panel.box.right() - left
    if panel.role and not panel.small:
        p.setPen(Qt.PenStyle.NoPen)
        p.setBrush(colour(panel.role))
        p.drawEllipse(QPointF(left + 4.5, top + 8.5), 4.0, 4.0)
        left, room = left + 13, room - 13
    p.setPen(colour("muted" if panel.small else "text"))
    text = QFontMetricsF(used).elidedText(panel.title, ELIDED, room)
    if panel.small:
        # the bare number where the word has no room
        fits = QFontMetricsF(used).horizontalAdvance(panel.short) <= room
        text = panel.short if fits else str(panel.head)
    p.drawText(QRectF(left, top, room, SMALL_TITLE if panel.small else 17.0), int(LEFT), text)


def paint_heading(p: QPainter, panel: Panel, room: QRectF) -> None:
    """Write once above the heads of a field what they are heads of."""
    used = font(12, bold=True)
    p.setFont(used)
    left, width = room.left(), room.width()
    if panel.role:
        p.setPen(Qt.PenStyle.NoPen)
        p.setBrush(colour(panel.role))
        p.drawEllipse(QPointF(left + 4.5, room.top() + 8.5), 4.0, 4.0)
        left, width = left + 13, width - 13
    p.setPen(colour("text"))
    text = QFontMetricsF(used).elidedText(panel.heading, MIDDLE, width)
    p.drawText(QRectF(left, room.top(), width, 17), int(LEFT), text)


def paint_breaks(p: QPainter, panel: Panel, camera: Camera) -> None:
    """Draw lines where another cluster begins."""
    cell, corner, frame = panel.cell(camera), panel.corner(camera), panel.frame
    if not len(panel.view.breaks) or len(panel.view.breaks) * 6 > frame.width():
        return
    ink = colour("text")
    ink.setAlpha(120 if len(panel.view.breaks) <= 10 else 55)
    p.setPen(QPen(ink, 1))
    for place in panel.view.breaks:
        x, y = round(corner.x() + int(place) * cell) + 0.5, round(corner.y() + int(place) * cell) + 0.5
        p.drawLine(QPointF(x, frame.top()), QPointF(x, frame.bottom()))
        p.drawLine(QPointF(frame.left(), y), QPointF(frame.right(), y))


def paint_values(p: QPainter, panel: Panel, camera: Camera, style: Style) -> None:
    """Write the values into cells that are large enough to be read."""
    cell = panel.cell(camera)
    if cell < WRITTEN:
        return
    rows, columns = panel.seen(camera)
    values = panel.matrix.tile(panel.head, rows, columns)
    inks = shade(values, style, panel.matrix.sparse)
    table = colour_table(style.kind)
    used = font(min(11.0, cell / 3.2))
    room = QFontMetricsF(used)
    p.setFont(used)
    for i, j in np.argwhere(inks != HIDDEN):
        text = short(float(values[i, j]))
        if room.horizontalAdvance(text) > cell - 2:
            continue
        ground = QColor(table[int(inks[i, j])])
        p.setPen(QColor("#101214" if ground.lightnessF() > 0.5 or inks[i, j] == MISSING else "#ffffff"))
        p.drawText(panel.rect(rows[0] + int(i), columns[0] + int(j), camera), int(CENTRE), text)


def short(value: float) -> str:
    """Return a value in at most five characters where that is possible: ".12", "1", "2e-5"."""
    if value == 0 or not math.isfinite(value):
        return figure(value) if value == 0 else "nan" if math.isnan(value) else figure(value)
    if 0.005 <= abs(value) < 1:
        return f"{value:.2f}".replace("0.", ".", 1).replace("-", "−")
    if abs(value) < 0.005:
        mantissa, exponent = f"{value:.0e}".split("e")
        return f"{mantissa}e{int(exponent)}".replace("-", "−")
    return f"{value:.3g}".replace("-", "−")


def labelled(count: int, pixels: float, line: float) -> int:
    """Return that every so many places bears a label: 1, 2, 5, 10, ... so that labels do not touch."""
    need = line / max(1e-9, pixels)
    return next(s * 10**k for k in range(12) for s in (1, 2, 5) if s * 10**k >= need or s * 10**k >= count)


def paint_labels(
    p: QPainter, panel: Panel, camera: Camera, selected: tuple[int | None, int | None], hover: tuple[int, int] | None
) -> None:
    """Write names of rows at the left and of columns above, with the colour of their class."""
    cell, corner, frame = panel.cell(camera), panel.corner(camera), panel.frame
    rows, columns = panel.seen(camera)
    metrics = QFontMetricsF(font(10, bold=True))
    every = labelled(panel.matrix.n, cell, 12.0)
    strip = 4.0 if panel.view.classes is not None else 0.0
    for down, (first, last) in ((True, rows), (False, columns)):
        if not down and not panel.above:
            continue
        node = panel.places(selected[0])
        other = panel.places(selected[1])
        over = panel.places(hover[0 if down else 1]) if hover else None
        _paint_classes(p, panel, camera, down, (first, last))
        special = {k for k in (node, over, None if down else other) if k is not None and first <= k < last}
        taken = [corner.y() + (k + 0.5) * cell if down else corner.x() + (k + 0.5) * cell for k in special]
        room = (panel.left if down else panel.above) - strip - 8
        for place in [*range(first + -first % every, last, every), *special]:
            at = (corner.y() if down else corner.x()) + (place + 0.5) * cell
            low, high = (frame.top(), frame.bottom()) if down else (frame.left(), frame.right())
            if not low + 3 <= at <= high - 3:
                continue
            if place not in special and any(abs(at - t) < 12 for t in taken):
                continue
            marked = place in special
            p.setFont(font(10, bold=marked))
            p.setPen(colour("accent" if place in (node, None if down else other) else "text" if marked else "muted"))
            text = metrics.elidedText(panel.name(place), MIDDLE, room)
            if down:
                p.drawText(QRectF(frame.left() - strip - 4 - room, at - 8, room, 16), int(RIGHT), text)
            else:
                p.save()
                p.translate(at, frame.top() - strip - 4)
                p.rotate(-90)
                p.drawText(QRectF(0, -8, room, 16), int(LEFT), text)
                p.restore()


def _paint_classes(p: QPainter, panel: Panel, camera: Camera, down: bool, span: tuple[int, int]) -> None:
    """Draw a thin strip in the colours of the nodes' classes along an edge, a run of one class at a time."""
    classes = panel.view.classes
    if classes is None:
        return
    cell, corner, frame = panel.cell(camera), panel.corner(camera), panel.frame
    step = max(1, int(1 / max(cell, 1e-9)))  # no more than one piece a pixel
    at = np.arange(span[0], span[1], step)
    shown = classes[at]
    starts = np.flatnonzero(np.diff(shown, prepend=shown[:1] - 1)) if len(shown) else at
    p.setPen(Qt.PenStyle.NoPen)
    for k, end in zip(starts, [*starts[1:], len(at)]):
        low, high = int(at[k]), int(at[end]) if end < len(at) else span[1]
        start = (corner.y() if down else corner.x()) + low * cell
        length = (high - low) * cell
        ink = class_colour(int(shown[k]))
        box = (
            QRectF(frame.left() - 5, start, 4, length) if down else QRectF(start, frame.top() - 5, length, 4)
        ).intersected(
            QRectF(frame.left() - 5, frame.top(), 4, frame.height())
            if down
            else QRectF(frame.left(), frame.top() - 5, frame.width(), 4)
        )
        p.fillRect(box, ink)


def paint_sums(p: QPainter, panel: Panel, camera: Camera, hover: tuple[int, int] | None) -> None:
    """Draw row sums as bars at the right and column sums below, means of those that share a pixel."""
    frame, cell, corner = panel.frame, panel.cell(camera), panel.corner(camera)
    for down, span in zip((True, False), panel.seen(camera)):
        sums = (panel.matrix.row_sums if down else panel.matrix.column_sums)(panel.head)
        top = max(panel.sum_high, float(np.max(np.abs(sums), where=np.isfinite(sums), initial=0.0)))
        edge = frame.right() + 5 if down else frame.bottom() + 5
        start, low, high = (
            (corner.y(), frame.top(), frame.bottom()) if down else (corner.x(), frame.left(), frame.right())
        )
        p.fillRect(
            QRectF(edge, low, panel.strip, high - low) if down else QRectF(low, edge, high - low, panel.strip),
            colour("window"),
        )
        if top <= 0:
            continue
        each = max(1, math.ceil(1 / cell))
        over = panel.places(hover[0 if down else 1]) if hover else None
        means = _means(sums, span, each)
        for k, value in enumerate(means):
            begin = span[0] + k * each
            a = max(low, start + begin * cell)
            b = min(high, start + min(begin + each, span[1]) * cell)
            size = min(1.0, abs(float(value)) / top) * panel.strip if math.isfinite(value) else 0.0
            marked = over is not None and begin <= over < begin + each
            ink = colour("accent" if marked else "bad" if value < 0 else "muted")
            ink.setAlpha(255 if marked else 150)
            gap = 1.0 if cell >= 5 else 0.0
            box = QRectF(edge, a, size, b - a - gap) if down else QRectF(a, edge, b - a - gap, size)
            p.fillRect(box, ink)
        if panel.above:
            p.setFont(font(9))
            p.setPen(colour("muted"))
            if down:
                p.drawText(QRectF(edge, low - 26, panel.strip + 8, 13), int(LEFT), "Σ row")
                p.drawText(QRectF(edge, low - 14, panel.strip + 14, 13), int(LEFT), f"≤{short(top)}")
            else:
                p.drawText(QRectF(low - 68, edge, 64, 13), int(RIGHT), "Σ column")
                p.drawText(QRectF(low - 68, edge + 13, 64, 13), int(RIGHT), f"≤{short(top)}")


def _means(sums: NDArray[Any], span: tuple[int, int], each: int) -> NDArray[Any]:
    part = sums[span[0] : span[1]]
    if each == 1 or not len(part):
        return part
    starts = np.arange(0, len(part), each)
    sizes = np.diff([*starts, len(part)])
    return np.asarray(np.add.reduceat(part, starts) / sizes)


def paint_thumbs(p: QPainter, panel: Panel, camera: Camera) -> None:
    """Show which part is seen, as thin bars inside the edges, when not all of it is."""
    if camera.zoom <= 1:
        return
    frame = panel.frame
    ink = colour("text")
    ink.setAlpha(110)
    size = frame.width() / camera.zoom
    long = max(size, 14.0)
    x = frame.left() + (camera.x - 0.5 / camera.zoom) * (frame.width() - (long - size))
    y = frame.top() + (camera.y - 0.5 / camera.zoom) * (frame.height() - (long - size))
    p.setPen(Qt.PenStyle.NoPen)
    p.setBrush(ink)
    p.drawRoundedRect(QRectF(x, frame.bottom() - 5, long, 3), 1.5, 1.5)
    p.drawRoundedRect(QRectF(frame.right() - 5, y, 3, long), 1.5, 1.5)


def paint_bar(p: QPainter, panel: Panel, style: Style, level: int) -> None:
    """Draw the colour bar with its numbers, decades on a logarithmic scale; and what one place stands for."""
    frame = panel.frame
    left = panel.box.right() + 8 if panel.small else frame.right() + panel.strip + 14
    bar = QRectF(left, frame.top() + 0.5, 11, min(frame.height(), 260.0) - 1)
    if bar.height() < 30:
        return
    table = signed_map() if style.signed else error_map()
    ramp = QLinearGradient(bar.bottomLeft(), bar.topLeft())
    for i in range(17):
        r, g, b, _ = (int(v) for v in table[round(i / 16 * (len(table) - 1))])
        ramp.setColorAt(i / 16, QColor(r, g, b))
    p.setPen(QPen(colour("line"), 1))
    p.setBrush(QBrush(ramp))
    p.drawRect(bar)
    metrics = QFontMetricsF(font(10))
    p.setFont(font(10))
    p.setPen(colour("muted"))
    high = metrics.height()
    for share, value in ticks(style, bar.height() / high):
        y = bar.bottom() - share * bar.height()
        p.drawLine(QPointF(bar.right(), y), QPointF(bar.right() + 3, y))
        y = min(max(y, bar.top() + high / 2 - 2), bar.bottom() - high / 2 + 2)
        # what lies beyond takes the end's colour
        beyond = "≥" if share == 1 and level and panel.pool == "mean" else ""
        text = ("≤" if style.log and share == 0 and not style.signed else beyond) + figure(value)
        p.drawText(QRectF(bar.right() + 5, y - high / 2, BAR - 20, high), int(LEFT), text)
    if style.threshold > 0:
        share = float(style.share(np.array([style.threshold]))[0])
        y = bar.bottom() - ((share + 1) / 2 if style.signed else share) * bar.height()
        p.setPen(QPen(colour("text"), 1.5))
        p.drawLine(QPointF(bar.left() - 3, y), QPointF(bar.right() + 3, y))
    if level and panel.above:
        p.setPen(colour("muted"))
        p.setFont(font(9))
        block = f"{panel.pool} of {2**level}×{2**level}"
        p.drawText(QRectF(bar.left() - 6, bar.bottom() + 5, BAR + 14, 13), int(LEFT), block)


def ticks(style: Style, lines: float) -> list[tuple[float, float]]:
    """Return (height as a share, value) of the numbers beside a bar with room for so many lines."""
    shares = (0.0, 0.25, 0.5, 0.75, 1.0) if lines >= 6.5 else (0.0, 0.5, 1.0)
    if not style.log:
        return [(s, (2 * s - 1 if style.signed else s) * style.high) for s in shares]

    def value(share: float) -> float:
        return style.low * (style.high / style.low) ** share

    if not style.signed:
        return [(s, value(s)) for s in shares]
    return [(s, 0.0 if s == 0.5 else math.copysign(value(abs(2 * s - 1)), s - 0.5)) for s in shares]
