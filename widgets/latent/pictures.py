"""Pictures beside the plane: the input, what a place decodes to, a walk between two images, and bars of divergence."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from explorer.square.analyses.latent.part import Latent
from widgets.base.look import theme
from widgets.base.text.words import figure

GAP = 8.0
MOST_SIDE = 132.0
ELIDED = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
WRAPPED = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap)


def grey(image: NDArray[np.floating] | NDArray[np.uint8]) -> QImage:
    """Return an image with values in [0, 1], or bytes, as a picture."""
    values = image if image.dtype == np.uint8 else np.round(255 * np.clip(image, 0.0, 1.0)).astype(np.uint8)
    values = np.ascontiguousarray(values)
    high, wide = values.shape
    return QImage(values.data, wide, high, wide, QImage.Format.Format_Grayscale8).copy()


class Pictures(QWidget):
    """Paints what belongs to the input and to the chosen place, from top to bottom."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.latent: Latent | None = None
        self.setMinimumWidth(170)

    def show_latent(self, latent: Latent | None) -> None:
        """Take what there is to paint."""
        self.latent = latent
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(300, 320)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        t = theme.current()
        painter.fillRect(self.rect(), QColor(t.panel))
        if self.latent is not None:
            y = self._told(painter, self.latent, GAP)
            y = self._three(painter, self.latent, y)
            y = self._walk(painter, self.latent, y)
            self._bars(painter, self.latent, y)
        painter.end()

    def _row(self, painter: QPainter, pictures: Iterable[NDArray[np.floating]], y: float, side: float) -> None:
        for k, picture in enumerate(pictures):
            box = QRectF(GAP + k * (side + (GAP if side > 40 else 2)), y, side, side)
            painter.drawImage(box, grey(picture))
            painter.setPen(QColor(theme.current().line))
            painter.drawRect(box)

    def _text(self, painter: QPainter, text: str, y: float, bold: bool = False, colour: str = "") -> float:
        """Write a wrapped text and return where it ends."""
        font = painter.font()
        font.setBold(bold)
        painter.setFont(font)
        painter.setPen(QColor(colour or theme.current().text))
        room = QRectF(GAP, y, self.width() - 2 * GAP, 400)
        taken = QFontMetricsF(font).boundingRect(room, WRAPPED, text)
        painter.drawText(room, WRAPPED, text)
        return y + taken.height() + 4

    def _told(self, painter: QPainter, latent: Latent, y: float) -> float:
        t = theme.current()
        if latent.orbit is not None:
            good = latent.orbit.kind in ("rotates", "stands still")
            y = self._text(painter, latent.orbit.kind.capitalize(), y, True, t.good if good else t.bad)
            y = self._text(painter, latent.orbit.told + ".", y, False, t.muted)
        return y + GAP / 2

    def _three(self, painter: QPainter, latent: Latent, y: float) -> float:
        named = [("x", latent.picture), ("decoded here", latent.decoded)]
        if latent.nearest is not None:
            named.append((f"example {latent.nearest[0]}", latent.nearest[1]))
        there = [(name, picture) for name, picture in named if picture is not None]
        if not there:
            return y
        side = min(MOST_SIDE, (self.width() - GAP) / 3 - GAP)
        metrics = QFontMetricsF(painter.font())
        painter.setPen(QColor(theme.current().muted))
        for k, (name, _) in enumerate(there):
            room = QRectF(GAP + k * (side + GAP), y, side, metrics.height())
            painter.drawText(room, ELIDED, metrics.elidedText(name, Qt.TextElideMode.ElideRight, side))
        self._row(painter, [picture for _, picture in there], y + metrics.height() + 2, side)
        return y + metrics.height() + side + 2 * GAP

    def _walk(self, painter: QPainter, latent: Latent, y: float) -> float:
        walk = latent.walk
        if walk is None:
            return y
        count = len(walk.pixels)
        side = min(56.0, (self.width() - 2 * GAP) / count - 2)
        for title, pictures in (("Means of pixels", walk.pixels), ("Means of codes, decoded", walk.decoded)):
            y = self._text(painter, title, y)
            self._row(painter, pictures, y, min(side, 40.0))
            y += min(side, 40.0) + GAP
        return y

    def _bars(self, painter: QPainter, latent: Latent, y: float) -> None:
        t = theme.current()
        if latent.terms:
            told = ", ".join(f"{name} {figure(value)}" for name, value in latent.terms.items())
            y = self._text(painter, f"In nats an image: {told}", y, False, t.muted)
        if not latent.divergence.size:
            return
        y = self._text(painter, "KL of each number of the code to N(0, 1), nats", y)
        largest, wide = float(latent.divergence.max()) or 1.0, self.width() - 2 * GAP
        high = max(10.0, QFontMetricsF(painter.font()).height())
        for k, value in enumerate(latent.divergence):
            row = QRectF(GAP, y + k * (high + 2), wide, high)
            bar = max(1.0, (wide - 110) * float(value) / largest)
            painter.fillRect(QRectF(GAP + 26, row.top() + 2, bar, high - 4), QColor(t.first))
            painter.setPen(QColor(t.text))
            painter.drawText(row, ELIDED, f"z{k + 1}")
            collapsed = "  collapsed" if value < 0.01 else ""
            painter.drawText(row.adjusted(32 + bar, 0, 0, 0), ELIDED, f"{figure(float(value))}{collapsed}")
