"""Pictures beside the plane: the input, what a place decodes to, a walk between two images, and bars of divergence."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPen
from PySide6.QtWidgets import QGraphicsEllipseItem, QGraphicsRectItem, QWidget

from explorer.square.analyses.latent.part import Latent
from widgets.base.look import theme
from widgets.base.text.words import figure
from widgets.charts.items.marks import Columns, fill
from widgets.charts.scene.board import BoardWidget, Pool
from widgets.charts.scene.labels import Line, Paragraph, Still

GAP = 8.0
MOST_SIDE = 132.0
DOT = 8.0
TOP = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop


def grey(image: NDArray[np.floating] | NDArray[np.uint8]) -> QImage:
    """Return an image with values in [0, 1], or bytes, as a picture."""
    values = image if image.dtype == np.uint8 else np.round(255 * np.clip(image, 0.0, 1.0)).astype(np.uint8)
    values = np.ascontiguousarray(values)
    high, wide = values.shape
    return QImage(values.data, wide, high, wide, QImage.Format.Format_Grayscale8).copy()


class Pictures(BoardWidget):
    """Shows what belongs to the input and to the chosen place, from top to bottom."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.latent: Latent | None = None
        self._classes: list[tuple[str, str]] = []
        self.setMinimumWidth(170)
        root = self.board.root
        self.images, self.frames = Pool(lambda: Still(smooth=False), root), Pool(QGraphicsRectItem, root)
        self.dots = Pool(QGraphicsEllipseItem, root)
        self.texts, self.lines, self.bars = Pool(Paragraph, root), Pool(Line, root), Columns()
        self.bars.setParentItem(root)

    def show_latent(self, latent: Latent | None) -> None:
        """Take what there is to show."""
        self.latent = latent
        self.changed()

    def name_classes(self, classes: list[tuple[str, str]]) -> None:
        """Take names of classes, and their colours in the plane."""
        if classes != self._classes:
            self._classes = classes
            self.changed()

    def sizeHint(self) -> QSize:
        return QSize(300, 320)

    def place(self) -> None:
        with self.images, self.frames, self.texts, self.lines, self.dots:
            if self.latent is not None:
                y = self._told(self.latent, GAP)
                y = self._three(self.latent, y)
                y = self._walk(self.latent, y)
                self._name(self._bars(self.latent, y))
        self.bars.setVisible(self.latent is not None and bool(self.latent.divergence.size))

    def _row(self, pictures: Iterable[NDArray[np.floating]], y: float, side: float) -> None:
        for k, picture in enumerate(pictures):
            box = QRectF(GAP + k * (side + (GAP if side > 40 else 2)), y, side, side)
            self.images.take().show_image(grey(picture), box)
            frame = self.frames.take()
            frame.setRect(box)
            frame.setPen(QColor(theme.current().line))

    def _text(self, text: str, y: float, bold: bool = False, colour: str = "") -> float:
        """Write a wrapped text and return where it ends."""
        font = QFont(self.font())
        font.setBold(bold)
        room = QRectF(GAP, y, self.width() - 2 * GAP, 400)
        return self.texts.take().write(text, room, font, QColor(colour or theme.current().text), TOP) + 4

    def _told(self, latent: Latent, y: float) -> float:
        t = theme.current()
        if latent.orbit is not None:
            good = latent.orbit.kind in ("rotates", "stands still")
            y = self._text(latent.orbit.kind.capitalize(), y, True, t.good if good else t.bad)
            y = self._text(latent.orbit.told + ".", y, False, t.muted)
        return y + GAP / 2

    def _three(self, latent: Latent, y: float) -> float:
        named = [("x", latent.picture), ("decoded here", latent.decoded)]
        if latent.nearest is not None:
            named.append((f"example {latent.nearest[0]}", latent.nearest[1]))
        there = [(name, picture) for name, picture in named if picture is not None]
        if not there:
            return y
        side, high = min(MOST_SIDE, (self.width() - GAP) / 3 - GAP), QFontMetricsF(self.font()).height()
        for k, (name, _) in enumerate(there):
            room = QRectF(GAP + k * (side + GAP), y, side, high)
            self.lines.take().write(name, room, self.font(), QColor(theme.current().muted))
        self._row([picture for _, picture in there], y + high + 2, side)
        return y + high + side + 2 * GAP

    def _walk(self, latent: Latent, y: float) -> float:
        walk = latent.walk
        if walk is None:
            return y
        side = min(40.0, (self.width() - 2 * GAP) / len(walk.pixels) - 2)
        for title, pictures in (("Means of pixels", walk.pixels), ("Means of codes, decoded", walk.decoded)):
            y = self._text(title, y)
            self._row(pictures, y, side)
            y += side + GAP
        return y

    def _bars(self, latent: Latent, y: float) -> float:
        t, values = theme.current(), latent.divergence
        if latent.terms:
            told = ", ".join(f"{name} {figure(value)}" for name, value in latent.terms.items())
            y = self._text(f"In nats an image: {told}", y, False, t.muted)
        if not values.size:
            return y
        y = self._text("KL of each number of the code to N(0, 1), nats", y)
        wide, high = self.width() - 2 * GAP, max(10.0, QFontMetricsF(self.font()).height())
        tops, left = y + np.arange(len(values)) * (high + 2), GAP + 26
        ends = left + np.maximum(1.0, (wide - 110) * values / (float(values.max()) or 1.0))
        self.bars.setOpts(brush=fill(t.first))
        self.bars.set_columns(left, ends, tops + 2, tops + high - 2)
        for k, (value, top, end) in enumerate(zip(values.tolist(), tops.tolist(), ends.tolist(), strict=True)):
            told = figure(value) + ("  collapsed" if value < 0.01 else "")
            for text, x in ((f"z{k + 1}", GAP), (told, end + 6)):
                self.lines.take().write(text, QRectF(x, top, wide, high), self.font(), QColor(t.text))
        return y + len(values) * (high + 2) + GAP

    def _name(self, y: float) -> None:
        """Write the names of classes below each other, in as many columns as they need and have room for."""
        metrics, t = QFontMetricsF(self.font()), theme.current()
        high = metrics.height() + 2
        wide = max((metrics.horizontalAdvance(name) for name, _ in self._classes), default=0.0) + DOT + 3 * GAP
        rows = max(1, math.floor((self.height() - y) / high), math.ceil(len(self._classes) * wide / self.width()))
        for k, (name, colour) in enumerate(self._classes):
            left, top = GAP + k // rows * wide, y + k % rows * high
            dot = self.dots.take()
            dot.setRect(QRectF(left, top + (high - DOT) / 2, DOT, DOT))
            dot.setBrush(QColor(colour))
            dot.setPen(QPen(Qt.PenStyle.NoPen))
            room = QRectF(left + DOT + GAP, top, self.width() - left - DOT - 2 * GAP, high)
            self.lines.take().write(name, room, self.font(), QColor(t.muted))
