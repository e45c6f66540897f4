"""Samples of a decoder: thousands of images in a grid that scrolls; only those that are seen are painted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QLabel, QVBoxLayout, QWidget

from explorer.square.analyses.latent.part import Latent
from explorer.square.frame import Frame
from widgets.base.frame_view import FrameView, Pages
from widgets.base.look import theme
from widgets.base.text.words import subject
from widgets.latent.pictures import grey

NOTHING = "Choose an autoencoder, such as vae, to see what it decodes from random codes."
NONE = "This network decodes nothing.\nChoose an autoencoder in the gallery, such as vae."
SOON = "Decoding random codes…"
SIDES = (20, 160)  # pixels of an image, at the least and at the most
GAP = 2
KEYS = (
    Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End,
)  # fmt: skip


class Tiles(QAbstractScrollArea):
    """Images in rows that fill the width. The wheel scrolls, with Ctrl it changes their size."""

    pointed = Signal(int)  # the image under the cursor, -1 where there is none

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.images: NDArray[np.uint8] = np.zeros((0, 1, 1), np.uint8)
        self.side = 44
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def show_images(self, images: NDArray[np.uint8]) -> None:
        """Show (n, height, width); the place that is scrolled to is kept."""
        self.images = images
        self._fit()

    @property
    def columns(self) -> int:
        return max(1, (self.viewport().width() - GAP) // (self.side + GAP))

    def _fit(self) -> None:
        rows = math.ceil(len(self.images) / self.columns)
        bar, page = self.verticalScrollBar(), self.viewport().height()
        bar.setRange(0, max(0, rows * (self.side + GAP) + GAP - page))
        bar.setPageStep(page)
        bar.setSingleStep(self.side + GAP)
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and not event.modifiers():
            if event.key() in KEYS:
                event.accept()  # here the arrows scroll; elsewhere they shift the input
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        bar = self.verticalScrollBar()
        if event.key() in (Qt.Key.Key_Home, Qt.Key.Key_End):
            bar.setValue(bar.minimum() if event.key() == Qt.Key.Key_Home else bar.maximum())
        else:
            super().keyPressEvent(event)

    def size_of_whole(self, room: QSize) -> QSize:
        """Return the size, with its frame, at which the rows and columns that fit into so much room are all of it."""
        frame, step = GAP + 2 * self.frameWidth(), self.side + GAP
        across, down = max(1, (room.width() - frame) // step), max(1, (room.height() - frame) // step)
        down = min(down, max(1, math.ceil(len(self.images) / across)))
        return QSize(across * step + frame, down * step + frame)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            factor = 1.15 ** (event.angleDelta().y() / 120)
            self.side = int(min(max(round(self.side * factor), SIDES[0]), SIDES[1]))
            self._fit()
            event.accept()
            return
        super().wheelEvent(event)

    def number_at(self, at: QPoint) -> int:
        """Return the image at a position of the viewport, -1 where there is none."""
        step = self.side + GAP
        column, row = (at.x() - GAP) // step, (at.y() + self.verticalScrollBar().value() - GAP) // step
        number = row * self.columns + column
        return number if 0 <= column < self.columns and 0 <= number < len(self.images) else -1

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.pointed.emit(self.number_at(event.position().toPoint()))

    @property
    def seen(self) -> range:
        """Return the images of which something can be seen."""
        step, top, columns = self.side + GAP, self.verticalScrollBar().value(), self.columns
        rows = math.ceil((top + self.viewport().height() - GAP) / step)
        return range(max(0, top // step) * columns, min(rows * columns, len(self.images)))

    def box(self, number: int) -> QRectF:
        """Return where an image is in the viewport."""
        (row, column), step = divmod(number, self.columns), self.side + GAP
        top = self.verticalScrollBar().value()
        return QRectF(GAP + column * step, GAP + row * step - top, self.side, self.side)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setClipRect(self.viewport().rect())  # a PDF does not clip a widget: half a row covered its caption
        painter.fillRect(self.viewport().rect(), QColor(theme.current().panel))
        for k in self.seen:
            painter.drawImage(self.box(k), grey(self.images[k]))
        painter.end()


class SamplesView(FrameView[Latent]):
    """Draws what random codes decode to."""

    MOST = 1

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.said = QLabel()
        self.tiles = Tiles()
        self.tiles.pointed.connect(lambda k: self.hovered.emit(self._told(k)))
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.said)
        column.addWidget(self.tiles, 1)
        self.pages = Pages(self, content, NOTHING)
        self.apply_theme()
        self.refresh()

    def parts(self) -> list[Latent]:
        """Return the codes of the first network that decodes images."""
        return [s.latent for s in self.squares if s.latent is not None and s.latent.picture is not None]

    def awaits(self, frame: Frame) -> bool:
        latents = [s.latent for s in frame.squares[: self.MOST] if s.latent is not None]
        return any((latent.samples is None or latent.few) and not latent.whole for latent in latents)

    def reason(self, parts: list[Latent]) -> str:
        if not self.squares:
            return NOTHING
        if not parts:
            return NONE
        return (parts[0].busy or SOON) if parts[0].samples is None else ""

    def show_empty(self, sentence: str) -> None:
        self.pages.say(sentence)

    def draw(self, parts: list[Latent]) -> None:
        samples = parts[0].samples
        assert samples is not None
        self.pages.say("")
        so_far = "" if parts[0].whole else " so far"
        self.said.setText(f"  {len(samples):,} samples{so_far}, {parts[0].drawn}")
        if samples is not self.tiles.images:
            self.tiles.show_images(samples)

    def _told(self, number: int) -> str:
        """Return which sample that is, and what was asked for."""
        parts = self.parts()
        asked = parts[0].asked if parts else ()
        more = f": {asked[number]}" if 0 <= number < len(asked) else ""
        return "" if number < 0 else f"sample {number}{more}"

    def settle(self) -> None:
        """Begin a figure with a whole row."""
        bar, step = self.tiles.verticalScrollBar(), self.tiles.side + GAP
        bar.setValue(round(bar.value() / step) * step)

    def figure_size(self) -> QSize:
        """Return a size without halves of images at the right and below."""
        above = self.said.sizeHint().height()
        return self.tiles.size_of_whole(self.size() - QSize(0, above)) + QSize(0, above)

    def height_at(self, width: int) -> int:
        """Return the height of a figure of another width that is as flat."""
        above = self.said.sizeHint().height()
        high = round(width * self.height() / max(1, self.width())) - above
        return self.tiles.size_of_whole(QSize(width, high)).height() + above

    def numbers(self) -> dict[str, NDArray[Any]]:
        parts = self.parts()
        return {"samples": parts[0].samples} if parts and parts[0].samples is not None else {}

    def caption(self) -> str:
        parts = self.parts()
        if self.frame is None or not parts or parts[0].samples is None:
            return ""
        seen = len(self.tiles.seen)
        return f"{seen:,} of {len(parts[0].samples):,} samples, {parts[0].drawn}: {subject(self.frame)}."

    def apply_theme(self) -> None:
        self.said.setStyleSheet(f"color: {theme.current().muted}; background: {theme.current().panel}; padding: 4px;")
        self.pages.apply_theme()
        self.tiles.viewport().update()
