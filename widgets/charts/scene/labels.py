"""Items that boards are made of: lines and paragraphs of text, pictures, colour scales, tags."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
    QImage,
    QLinearGradient,
    QPainter,
    QPainterPath,
    QPalette,
    QPen,
    QPixmap,
    QTextOption,
)
from PySide6.QtWidgets import (
    QGraphicsItem,
    QGraphicsPathItem,
    QGraphicsPixmapItem,
    QGraphicsRectItem,
    QGraphicsSimpleTextItem,
    QGraphicsTextItem,
    QStyleOptionGraphicsItem,
    QWidget,
)

from widgets.base.look.alignment import LEFT
from widgets.charts.library import pg

NO_PEN = QPen(Qt.PenStyle.NoPen)
SMALLEST = 9  # pixels of letters
WORTH = 4  # letters, with the dots: a name that is cut shorter is left out


def smaller(font: QFont, texts: Iterable[str], width: float, least: int = SMALLEST) -> QFont:
    """Return a font in which all texts have room, not smaller than `least` pixels."""
    longest = max(texts, key=QFontMetricsF(font).horizontalAdvance, default="")
    font = QFont(font)
    while least < font.pixelSize() and QFontMetricsF(font).horizontalAdvance(longest) > width:
        font.setPixelSize(font.pixelSize() - 1)
    return font


class Line(QGraphicsSimpleTextItem):
    """One line of text in a box, cut short with an ellipsis where it is too long."""

    def write(
        self,
        text: str,
        box: QRectF,
        font: QFont,
        ink: QColor,
        align: Qt.AlignmentFlag = LEFT,
        cut: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
        least: int = 0,
    ) -> float:
        """Write a text, aligned in a box; return the x at which it ends.

        Args:
            least: pixels of letters: a text without room is written so small before it is cut, where that is more
                than 0.
        """
        font = smaller(font, [text], box.width(), least) if least else font
        metrics = QFontMetricsF(font)
        # a hundredth of a pixel: what fits exactly is not cut by rounding
        shown = metrics.elidedText(text, cut, box.width() + 0.01)
        self.setText(shown)
        self.setFont(font)
        self.setBrush(ink)
        wide, high = metrics.horizontalAdvance(shown), metrics.height()
        x, y = box.left(), box.center().y() - high / 2
        if align & Qt.AlignmentFlag.AlignRight:
            x = box.right() - wide
        elif align & Qt.AlignmentFlag.AlignHCenter:
            x = box.center().x() - wide / 2
        if align & Qt.AlignmentFlag.AlignTop:
            y = box.top()
        elif align & Qt.AlignmentFlag.AlignBottom:
            y = box.bottom() - high
        self.setPos(x, y)
        return x + wide


class Paragraph(QGraphicsTextItem):
    """Text that wraps in a box."""

    def __init__(self, parent: QGraphicsItem | None = None) -> None:
        super().__init__(parent)
        self.document().setDocumentMargin(0)
        self._written: tuple[object, ...] = ()

    def write(
        self, text: str, box: QRectF, font: QFont, ink: QColor, align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignCenter
    ) -> float:
        """Write a text, aligned in a box; return the y at which it ends."""
        key = (text, box.getRect(), font.key(), ink.rgba(), align)
        if key != self._written:
            self._written = key
            option = QTextOption(align & Qt.AlignmentFlag.AlignHorizontal_Mask)
            option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
            self.document().setDefaultTextOption(option)
            self.setFont(font)
            self.setDefaultTextColor(ink)
            self.setPlainText(text)
            self.setTextWidth(max(1.0, box.width()))
            free = box.height() - self.document().size().height()
            self.setPos(box.left(), box.top() + (free / 2 if align & Qt.AlignmentFlag.AlignVCenter else 0.0))
        return self.y() + float(self.document().size().height())

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        # Qt's own clips to its box, and in an SVG all that is painted after it is clipped by that too
        context = QAbstractTextDocumentLayout.PaintContext()
        palette = QPalette()
        palette.setColor(QPalette.ColorRole.Text, self.defaultTextColor())
        context.palette = palette
        self.document().documentLayout().draw(painter, context)


class Tag(QGraphicsPathItem):
    """A line of text on a rounded ground."""

    def __init__(self, radius: float = 3.0) -> None:
        super().__init__()
        self._radius = radius
        self.line = Line(self)

    def write(self, text: str, box: QRectF, font: QFont, ink: QColor, ground: QColor, pen: QPen = NO_PEN) -> None:
        """Write a text into the middle of a box."""
        self.outline(box, pen)
        self.setBrush(ground)
        self.line.write(text, box, font, ink, Qt.AlignmentFlag.AlignCenter)

    def outline(self, box: QRectF, pen: QPen) -> None:
        """Put the ground round a box."""
        path = QPainterPath()
        path.addRoundedRect(box, self._radius, self._radius)
        self.setPath(path)
        self.setPen(pen)


class Still(QGraphicsPixmapItem):
    """A picture that fills a box, whatever its pixels; the same image is not converted again."""

    def __init__(self, parent: QGraphicsItem | None = None, smooth: bool = True) -> None:
        super().__init__(parent)
        if smooth:
            self.setTransformationMode(Qt.TransformationMode.SmoothTransformation)
        self.setShapeMode(QGraphicsPixmapItem.ShapeMode.BoundingRectShape)
        self._image: QImage | None = None

    def show_image(self, image: QImage, box: QRectF) -> None:
        """Show an image in a box."""
        if image is not self._image:
            self._image = image
            pixels = QPixmap.fromImage(image)
            pixels.setDevicePixelRatio(1.0)
            self.setPixmap(pixels)
        self.setPos(box.topLeft())
        across, down = box.width() / max(1, image.width()), box.height() / max(1, image.height())
        self.setTransform(self.transform().fromScale(across, down))


class Ramp(QGraphicsRectItem):
    """The colours of a scale, lying, in a thin frame; a gradient, so that files keep it sharp."""

    def show_colours(self, table: NDArray[Any], box: QRectF, frame: QPen) -> None:
        """Show the rows (N, 3 or 4) of a table of colours from left to right."""
        self.setRect(box)
        self.setPen(frame)
        gradient = QLinearGradient(box.topLeft(), box.topRight())
        for share in np.linspace(0, 1, 33):
            red, green, blue = (int(v) for v in table[round(float(share) * (len(table) - 1))][:3])
            gradient.setColorAt(float(share), QColor(red, green, blue))
        self.setBrush(QBrush(gradient))


class Scale(pg.ItemGroup):
    """A lying colour scale: its lowest value, its colours, its highest value, and what the values are."""

    GAP = 6.0

    def __init__(self, parent: QGraphicsItem | None = None) -> None:
        super().__init__()
        self.setParentItem(parent)
        self.ramp = Ramp(self)
        self.low, self.high, self.name = Line(self), Line(self), Line(self)

    def show_scale(
        self,
        ends: tuple[str, str],
        table: NDArray[Any],
        box: QRectF,
        font: QFont,
        inks: tuple[QColor, QColor, QColor],
        name: str = "",
        most: float = 120.0,
    ) -> float:
        """Show a scale in a line; return the x at which it ends.

        Args:
            inks: of numbers, of the name, of the frame.
            most: pixels of the colours, fewer where there is little room.
        """
        metrics, (quiet, loud, frame) = QFontMetricsF(font), inks
        low, high = (metrics.horizontalAdvance(end) for end in ends)
        free = box.width() - low - high - 3 * self.GAP
        if name:  # the name and the colours share the room; the name is cut before the colours are too short
            free = max(min(free / 2, 24.0), min(free / 2, free - metrics.horizontalAdvance(name) - 8))
        x = self.low.write(ends[0], box, font, quiet) + self.GAP
        ramp = QRectF(x, box.center().y() - 5, max(12.0, min(most, free)), 10)
        self.ramp.show_colours(table, ramp, QPen(frame, 1))
        x = ramp.right() + self.GAP
        x = self.high.write(ends[1], QRectF(x, box.top(), max(0.0, box.right() - x), box.height()), font, quiet)
        self.name.setVisible(bool(name))
        if name:
            x += self.GAP + 8
            room = QRectF(x, box.top(), max(0.0, box.right() - x), box.height())
            end = self.name.write(name, room, font, loud, least=SMALLEST)
            # dots and a letter name nothing, and the next panel may be read as theirs
            self.name.setVisible(name == self.name.text() or len(self.name.text()) > WORTH)
            x = end if self.name.isVisible() else x - self.GAP - 8
        return x


def circle(item: Any, at: QPointF, radius: float) -> None:
    """Put an ellipse item round a point."""
    item.setRect(QRectF(at.x() - radius, at.y() - radius, 2 * radius, 2 * radius))
