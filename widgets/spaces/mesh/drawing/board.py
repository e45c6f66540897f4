"""Items round and over the pictures of meshes: titles, scales, labels, marks, the axes of space."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPen, QRadialGradient
from PySide6.QtWidgets import QGraphicsEllipseItem, QGraphicsItem, QGraphicsLineItem, QGraphicsRectItem

from widgets.base.look import theme
from widgets.base.look.alignment import CENTRE, RIGHT
from widgets.base.text.glossary import say
from widgets.base.text.words import figure
from widgets.charts.scene.board import Board, Pool, words_now
from widgets.charts.scene.labels import NO_PEN, Line, Paragraph, Scale, Still, Tag, circle, smaller
from widgets.maps.diagram import font
from widgets.spaces.mesh.drawing.camera import Eye
from widgets.spaces.mesh.drawing.inks import ink_of, scale_table
from widgets.spaces.mesh.drawing.look import GROUND, Ink, MeshLook

HEADER, FOOTER, GAP = 24.0, 26.0, 12.0
SPHERE = 5.0  # pixels, the radius of a marked vertex
DOT = 3.0  # of a labelled point
CROWD = 200  # labels up to which each looks for a free place
RING = 7.5  # of the outline of the vertex that is pointed at
TRIAD = 24.0  # pixels of an axis of space, in a large picture
SMALL = 13.0  # of it at least in a small picture, of which its disc would hide a part
SHARE = 1 / 13  # of it in the shorter side of a picture, up to that length
RAMP = 32.0  # pixels of a scale that its colours and gaps take at least
AXES = (("x", "second"), ("y", "good"), ("z", "first"))
MIDDLE = Qt.TextElideMode.ElideMiddle


def arrange(count: int, width: float, height: float, footer: bool, least: float = 0.0) -> list[QRectF]:
    """Return the boxes of the pictures, all of one size, in the grid in which they are largest.

    Where there is one, it is a grid whose boxes are at `least` so wide: below each is a scale with two numbers.
    """
    if not count:
        return []
    low = HEADER + (FOOTER if footer else 0.0)

    def room(across: int) -> tuple[float, float]:
        down = -(-count // across)
        return (width - GAP * (across + 1)) / across, (height - GAP) / down - low - GAP / 2

    # side by side unless a grid shows them much larger: the eye goes along the square in one line
    # and with full rows rather than with one picture alone in the last
    factors = {k: 1.25 if k == count else 1.1 if count % k == 0 else 1.0 for k in range(1, count + 1)}
    across = max(factors, key=lambda k: (room(k)[0] >= least, min(room(k)) * factors[k], k))
    w, h = (round(max(side, 8.0)) for side in room(across))
    step = (height - GAP) / -(-count // across)
    spots = [divmod(k, across) for k in range(count)]
    return [QRectF(round(GAP + x * (w + GAP)), round(GAP / 2 + y * step + HEADER), w, h) for y, x in spots]


def faded_disc(colour: QColor, radius: float) -> QImage:
    """Return a disc that fades towards its edge, as a picture: a PDF has no gradients of what is seen through."""
    side = round(4 * radius)
    across = np.abs(np.arange(side) + 0.5 - side / 2)
    pixels = np.empty((side, side, 4), np.uint8)
    pixels[..., :3] = colour.red(), colour.green(), colour.blue()
    pixels[..., 3] = np.interp(np.hypot(across[:, None], across) * 2 / side, (0.0, 0.55, 1.0), (190, 150, 0))
    return QImage(pixels.tobytes(), side, side, 4 * side, QImage.Format.Format_RGBA8888).copy()


class Triad(QGraphicsEllipseItem):
    """The directions of the axes of space; those that point away are fainter."""

    def __init__(self, parent: QGraphicsItem) -> None:
        super().__init__(parent)
        self.setPen(NO_PEN)
        self.axes = [(QGraphicsLineItem(self), Line(self)) for _ in AXES]
        self.fading = Still(self)
        self.fading.setZValue(-2)  # below the axes
        self._for, self._faded = (QColor(), 0.0), QImage()

    def show_axes(self, eye: Eye, box: QRectF) -> None:
        """Show them in the lower left corner of a picture that is large enough."""
        shorter = min(box.width(), box.height())
        self.setVisible(shorter >= 6 * TRIAD)
        length = min(TRIAD, max(SMALL, SHARE * shorter))
        middle = QPointF(box.left() + length + 14, box.bottom() - length - 14)
        # seen over what is drawn below only; without an edge, which would look like one of an atom
        if self._for != (seen := (ink_of(GROUND), length)):
            self._for, self._faded = seen, faded_disc(seen[0], length + 13)
        circle(self, middle, length + 13)
        self.fading.show_image(self._faded, self.rect())
        for (line, letter), (name, role), (right, up, near) in zip(self.axes, AXES, eye.axes.T.tolist()):
            ink = ink_of(role)
            ink.setAlpha(255 if near > -0.2 else 120)
            tip, beyond = (middle + QPointF(right, -up) * far for far in (length, length + 9))
            line.setPen(QPen(ink, 2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            line.setLine(middle.x(), middle.y(), tip.x(), tip.y())
            letter.write(name, QRectF(beyond.x() - 8, beyond.y() - 8, 16, 16), font(10), ink, CENTRE)
            for item in (line, letter):
                item.setZValue(near)  # the one that comes towards the eye lies on top


class Spot(QGraphicsEllipseItem):
    """A dot on a point, and words beside it on a ground of their own, inside of the picture."""

    def __init__(self) -> None:
        super().__init__()
        self.tag = Tag()
        self.tag.setParentItem(self)
        self.tag.setFlag(QGraphicsItem.GraphicsItemFlag.ItemStacksBehindParent)

    def show_words(self, at: QPointF, words: str, ink: Ink, box: QRectF, taken: Sequence[QRectF] = ()) -> QRectF:
        """Write words on that side of a point where they cover least of what is `taken`; return where they are."""
        face = font(11, fixed=True)
        metrics = QFontMetricsF(face)
        wide, high = metrics.horizontalAdvance(words) + 10, metrics.height() + 2
        rect, least = QRectF(), math.inf
        for x, y in ((5, -20), (-5 - wide, -20), (5, 20 - high), (-5 - wide, 20 - high)):
            side = QRectF(at.x() + x, at.y() + y, wide, high)
            side.moveLeft(max(box.left() + 2, min(side.left(), box.right() - wide - 2)))
            side.moveTop(max(box.top() + 2, min(side.top(), box.bottom() - high - 2)))
            both = (side & other for other in taken)
            covered = sum(part.width() * part.height() for part in both if part.isValid())
            if covered < least:
                rect, least = side, covered
            if not covered:
                break
        ground = QColor(theme.current().plot)
        ground.setAlpha(215)
        self.tag.write(words, rect, face, ink_of(ink), ground)
        self.setPen(QPen(ground, 1.5))
        self.setBrush(ink_of(ink))
        circle(self, at, DOT)
        return rect


class Cell(QGraphicsRectItem):
    """One panel: its title, its picture with what lies over it, its scale, and a frame."""

    def __init__(self) -> None:
        super().__init__()
        self.setPen(NO_PEN)
        self.title, self.note, self.empty = Line(self), Line(self), Paragraph(self)
        self.picture, self.key = Still(self), Scale(self)
        # all that lies over the picture. It does not clip its items, or other programs would leave out the next panels
        # of a figure; what lies outside is not shown
        self.inside = QGraphicsRectItem(self)
        self.inside.setPen(NO_PEN)
        self.frame = QGraphicsRectItem(self)
        self.triad = Triad(self.inside)
        self.spheres: Pool[QGraphicsEllipseItem] = Pool(QGraphicsEllipseItem, self.inside)
        self.spots = Pool(Spot, self.inside)
        self.rings: Pool[QGraphicsEllipseItem] = Pool(QGraphicsEllipseItem, self.inside)
        self._placed: tuple[object, ...] = ()

    def show_look(self, look: MeshLook, box: QRectF, image: QImage | None, heavy: QFont) -> None:
        """Show a look and its picture, None where there is none, in a box; `heavy` is the font of its title."""
        if image is not None:
            self.picture.show_image(image, box)
        key = (look, box.getRect(), image is None, heavy.pixelSize(), *words_now())
        if key != self._placed:
            self._placed = key
            self._place(look, box, image is not None, heavy)

    def _place(self, look: MeshLook, box: QRectF, there: bool, heavy: QFont) -> None:
        self.setRect(box)
        self.setBrush(ink_of(GROUND))
        self.inside.setRect(box)
        self.frame.setRect(box)
        self.frame.setPen(ink_of("line"))
        head = QRectF(box.left(), box.top() - HEADER, box.width(), HEADER)
        # in the middle: names of layers and of networks differ at their ends
        end = self.title.write(say(look.title), head, heavy, ink_of("text"), cut=MIDDLE)
        self.note.setVisible(bool(look.note))
        if look.note:  # at the right, where there is room
            start = head.right() - QFontMetricsF(font(11)).horizontalAdvance(look.note)
            self.note.setVisible(start > end + 24)
            self.note.write(look.note, head, font(11), ink_of("muted"), RIGHT)
        self.empty.setVisible(not there)
        for item in (self.picture, self.inside):
            item.setVisible(there)
        self.key.setVisible(there and look.scalars is not None)
        if not there:
            self.empty.write(look.empty or "No mesh yet", box.adjusted(16, 8, -16, -8), font(13), ink_of("muted"))
            return
        if look.scalars is not None:
            low, high = (figure(value) for value in look.scale)
            foot = QRectF(box.left(), box.bottom() + (FOOTER - 18) / 2, box.width(), 18)
            inks = ink_of("muted"), ink_of("text"), ink_of("line")
            self.key.show_scale((low, high), scale_table(look), foot, font(11, fixed=True), inks, look.bar)

    def show_spheres(self, points: Sequence[QPointF], ink: Ink) -> None:
        """Mark vertices with small spheres in a halo, since the surface may have any colour."""
        colour = ink_of(ink)
        with self.spheres as pool:
            for at in filter(self.rect().contains, points):
                shade = QRadialGradient(at, SPHERE, at - QPointF(SPHERE, SPHERE) * 0.4)
                shade.setColorAt(0, colour.lighter(150))
                shade.setColorAt(0.5, colour)
                shade.setColorAt(1, colour.darker(130))
                sphere = pool.take()
                sphere.setPen(QPen(ink_of("plot"), 1.5))
                sphere.setBrush(shade)
                circle(sphere, at, SPHERE)

    def show_words(self, words: Sequence[tuple[QPointF, str, Ink]]) -> None:
        """Write words beside points, as few of them over each other and over other points as can be."""
        shown = [one for one in words if self.rect().contains(one[0])]
        taken = [QRectF(at.x() - DOT, at.y() - DOT, 2 * DOT, 2 * DOT) for at, _, _ in shown[:CROWD]]
        with self.spots as pool:
            for at, text, ink in shown:
                rect = pool.take().show_words(at, text, ink, self.rect(), taken)
                if len(shown) <= CROWD:
                    taken.append(rect)

    def show_ring(self, at: QPointF | None, seen: bool = True) -> None:
        """Outline the vertex that is pointed at, in a halo; with a dotted line where the surface hides it."""
        line = QPen(ink_of("accent"), 2.0, Qt.PenStyle.SolidLine if seen else Qt.PenStyle.DotLine)
        with self.rings as pool:
            for pen in (QPen(ink_of("plot"), 4.5), line)[not seen :]:
                if at is not None and self.rect().contains(at):
                    ring = pool.take()
                    ring.setPen(pen)
                    circle(ring, at, RING)


class MeshBoard(Board):
    """All panels of a canvas, or a sentence in their place."""

    def __init__(self, parent: Any) -> None:
        super().__init__(parent)
        self.said = Paragraph()
        self.addItem(self.said)
        self.cells = Pool(Cell, self.root)

    def say(self, words: str, rect: QRectF) -> None:
        """Say in the middle why there is nothing, or show the panels again."""
        self.setBackgroundBrush(ink_of("panel"))
        self.said.setVisible(bool(words))
        self.root.setVisible(not words)
        if words:
            self.said.write(words, rect.adjusted(16, 8, -16, -8), font(13), ink_of("muted"))


def title_font(looks: Sequence[MeshLook], width: float) -> QFont:
    """Return the font of the titles of all panels, small enough for the longest."""
    return smaller(font(12, bold=True), [say(look.title) for look in looks], width)


def scale_width(looks: Sequence[MeshLook]) -> float:
    """Return how wide the scale of each look has to be for both of its numbers."""
    metrics = QFontMetricsF(font(11, fixed=True))
    ends = [look.scale for look in looks if look.scalars is not None]
    return max((sum(metrics.horizontalAdvance(figure(v)) for v in pair) for pair in ends), default=-RAMP) + RAMP


def has_scale(looks: Sequence[MeshLook]) -> bool:
    """Say whether any of the looks has a scale to be shown."""
    return any(look.scalars is not None for look in looks)
