"""Paint titles, scales, labels and the axes of space round and over the pictures of meshes, with Qt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QLinearGradient, QPainter, QPen, QRadialGradient

from widgets.base.look import theme
from widgets.base.text.glossary import say
from widgets.base.text.words import figure
from widgets.maps.diagram import font
from widgets.spaces.mesh.drawing.camera import Eye
from widgets.spaces.mesh.drawing.inks import ink_of
from widgets.spaces.mesh.drawing.look import GROUND, Ink, MeshLook

Array = NDArray[Any]
HEADER, FOOTER, GAP = 24.0, 26.0, 12.0
BAR = 120.0  # pixels of a scale at most
SPHERE = 5.0  # pixels, the radius of a marked vertex
DOT = 3.0  # of a labelled point
TRIAD = 24.0  # pixels of an axis of space
AXES = (("x", "second"), ("y", "good"), ("z", "first"))
MIDDLE = Qt.AlignmentFlag.AlignVCenter
LEFT, RIGHT = Qt.AlignmentFlag.AlignLeft | MIDDLE, Qt.AlignmentFlag.AlignRight | MIDDLE


def arrange(count: int, width: float, height: float, footer: bool) -> list[QRectF]:
    """Return the boxes of the pictures, all of one size, in the grid in which they are largest."""
    if not count:
        return []
    low = HEADER + (FOOTER if footer else 0.0)

    def room(across: int) -> tuple[float, float]:
        down = -(-count // across)
        return (width - GAP * (across + 1)) / across, (height - GAP) / down - low - GAP / 2

    # side by side unless a grid shows them much larger: the eye goes along the square in one line
    across = max(range(1, count + 1), key=lambda k: (min(room(k)) * (1.25 if k == count else 1.0), k))
    w, h = (round(max(side, 8.0)) for side in room(across))
    step = (height - GAP) / -(-count // across)
    spots = [divmod(k, across) for k in range(count)]
    return [QRectF(round(GAP + x * (w + GAP)), round(GAP / 2 + y * step + HEADER), w, h) for y, x in spots]


def paint_title(p: QPainter, look: MeshLook, box: QRectF) -> None:
    """Write the title above a picture, and its note at the right where there is room."""
    head = QRectF(box.left(), box.top() - HEADER, box.width(), HEADER)
    p.setFont(font(12, bold=True))
    p.setPen(ink_of("text"))
    metrics = p.fontMetrics()
    title = metrics.elidedText(say(look.title), Qt.TextElideMode.ElideRight, int(head.width()))
    p.drawText(head, LEFT, title)
    if look.note and metrics.horizontalAdvance(title + look.note) + 24 < head.width():
        p.setFont(font(11))
        p.setPen(ink_of("muted"))
        p.drawText(head, RIGHT, look.note)


def paint_scale(p: QPainter, look: MeshLook, table: Array, box: QRectF) -> None:
    """Paint what the colours mean below a picture: a bar between the lowest and the highest value, and its name."""
    face = font(11, fixed=True)
    metrics = QFontMetricsF(face)
    low, high = (figure(value) for value in look.scale)
    y, x = box.bottom() + (FOOTER - 18) / 2, box.left()
    p.setFont(face)
    for words, ink in ((low, "muted"), ("", ""), (high, "muted"), (look.bar, "text")):
        if words:
            room = max(0.0, box.right() - x)
            shown = metrics.elidedText(words, Qt.TextElideMode.ElideRight, room)
            p.setPen(ink_of(ink))
            p.drawText(QRectF(x, y, room, 18), LEFT, shown)
            x += metrics.horizontalAdvance(shown) + (6 if ink == "muted" else 0)
        elif not ink:
            sides = metrics.horizontalAdvance(low + high) + 18
            free = box.width() - sides
            wide = max(min(free / 2, 24.0), min(BAR, free / 2, free - metrics.horizontalAdvance(look.bar) - 14))
            bar = QRectF(x, y + 4, max(12.0, wide), 10)
            ramp = QLinearGradient(bar.topLeft(), bar.topRight())
            for share in np.linspace(0, 1, 33):
                row = table[round(share * (len(table) - 1))]
                ramp.setColorAt(float(share), QColor(int(row[0]), int(row[1]), int(row[2])))
            p.fillRect(bar, ramp)
            p.setPen(QPen(ink_of("line"), 1))
            p.setBrush(Qt.BrushStyle.NoBrush)
            p.drawRect(bar)
            x = bar.right() + 6
        if words is high:
            x += 8


def paint_words_at(p: QPainter, at: QPointF, words: str, ink: Ink, box: QRectF) -> None:
    """Write a label beside a point and a dot on it, on grounds of their own, inside of the picture."""
    t, face = theme.current(), font(11, fixed=True)
    metrics = QFontMetricsF(face)
    rect = QRectF(at.x() + 5, at.y() - 20, metrics.horizontalAdvance(words) + 10, metrics.height() + 2)
    rect.moveLeft(max(box.left() + 2, min(rect.left(), box.right() - rect.width() - 2)))
    rect.moveTop(max(box.top() + 2, min(rect.top(), box.bottom() - rect.height() - 2)))
    ground = QColor(t.plot)
    ground.setAlpha(215)
    p.setPen(Qt.PenStyle.NoPen)
    p.setBrush(ground)
    p.drawRoundedRect(rect, 3, 3)
    p.setPen(QPen(ground, 1.5))
    p.setBrush(ink_of(ink))
    p.drawEllipse(at, DOT, DOT)
    p.setFont(face)
    p.setPen(ink_of(ink))
    p.drawText(rect, Qt.AlignmentFlag.AlignCenter, words)


def paint_axes(p: QPainter, eye: Eye, box: QRectF) -> None:
    """Draw how the axes of space lie, in the lower left corner; those that point away are fainter."""
    if min(box.width(), box.height()) < 6 * TRIAD:
        return
    middle = QPointF(box.left() + TRIAD + 16, box.bottom() - TRIAD - 16)
    ground = ink_of(GROUND)
    ground.setAlpha(150)  # seen over a mesh only
    p.setPen(Qt.PenStyle.NoPen)
    p.setBrush(ground)
    p.drawEllipse(middle, TRIAD + 13, TRIAD + 13)
    p.setFont(font(10))
    for k in np.argsort(eye.axes[2]):  # the one that comes towards the eye is drawn last
        name, role = AXES[k]
        right, up, near = eye.axes[:, k]
        ink = ink_of(role)
        ink.setAlpha(255 if near > -0.2 else 120)
        tip = middle + QPointF(right, -up) * TRIAD
        p.setPen(QPen(ink, 2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        p.drawLine(middle, tip)
        beyond = middle + QPointF(right, -up) * (TRIAD + 9)
        p.drawText(QRectF(beyond.x() - 8, beyond.y() - 8, 16, 16), Qt.AlignmentFlag.AlignCenter, name)


def paint_sphere(p: QPainter, at: QPointF, ink: Ink) -> None:
    """Mark a vertex with a small sphere in a halo, since the surface may have any colour."""
    colour = ink_of(ink)
    shade = QRadialGradient(at, SPHERE, at - QPointF(SPHERE, SPHERE) * 0.4)
    shade.setColorAt(0, colour.lighter(150))
    shade.setColorAt(0.5, colour)
    shade.setColorAt(1, colour.darker(130))
    p.setPen(QPen(ink_of("plot"), 1.5))
    p.setBrush(shade)
    p.drawEllipse(at, SPHERE, SPHERE)


def paint_ring(p: QPainter, at: QPointF, seen: bool) -> None:
    """Outline the vertex that is pointed at, in a halo; with a dotted line where the surface hides it."""
    p.setBrush(Qt.BrushStyle.NoBrush)
    if seen:
        p.setPen(QPen(ink_of("plot"), 4.5))
        p.drawEllipse(at, 7.5, 7.5)
    p.setPen(QPen(ink_of("accent"), 2.0, Qt.PenStyle.SolidLine if seen else Qt.PenStyle.DotLine))
    p.drawEllipse(at, 7.5, 7.5)


def paint_message(p: QPainter, words: str, box: QRectF) -> None:
    """Say in the middle of a picture why there is none."""
    p.setFont(font(13))
    p.setPen(ink_of("muted"))
    p.drawText(box.adjusted(16, 8, -16, -8), Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, words)


def bars(looks: Sequence[MeshLook]) -> bool:
    """Say whether any of the looks has a scale to be shown."""
    return any(look.scalars is not None for look in looks)
