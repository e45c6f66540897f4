"""The image of a mosaic of feature maps: colour indices, averaged where values share a pixel of the screen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QImage, QPaintEngine, QPainter

from widgets.base.look.colours import colour_table
from widgets.charts.library import pg


class Mosaic(pg.ImageItem):
    """Tiles as one image of colour indices; values that share a pixel of the screen are averaged."""

    def __init__(self) -> None:
        super().__init__()
        self.kind = "signed"
        self._screen: tuple[int, QImage] | None = None  # how much enlarged, and the picture

    def show_cells(self, cells: NDArray[np.uint8], kind: str, rect: QRectF) -> None:
        """Show (height, width) colour indices of a colour map, or (height, width, 3) as they are."""
        self.kind = kind
        self.setImage(cells, autoLevels=False, rect=rect)

    def render(self) -> None:
        self._screen = None
        if self.image is None or self.image.ndim == 3:
            super().render()
            return
        # the table as Qt wants it: pyqtgraph would convert its rows one by one on every frame
        high, wide = self.image.shape
        indexed = QImage.Format.Format_Indexed8
        self.qimage = QImage(self.image.data, wide, high, self.image.strides[0], indexed)
        self.qimage.setColorTable(colour_table(self.kind))
        self._renderRequired = self._unrenderable = False

    def paint(self, p: QPainter, *rest: Any) -> None:
        if self.image is None:
            return
        if self._renderRequired:
            self.render()
        raster = p.paintEngine().type() in (QPaintEngine.Type.Raster, QPaintEngine.Type.Picture)
        ratio = p.device().devicePixelRatio() if raster else 1.0
        whole, pixel = QRectF(0, 0, self.width(), self.height()), p.worldTransform().m11() * ratio
        size = (round(whole.width() * pixel), round(whole.height() * pixel))
        averaged = raster and min(size) > 0 and _averaged(pixel, size)
        if averaged and pixel < 0.5:
            p.drawImage(whole, self.qimage.scaled(*size, mode=Qt.TransformationMode.SmoothTransformation))
            return
        if averaged:
            # enlarged to whole pixels first: a painter that then shrinks it to a half or more takes every value
            p.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            p.drawImage(whole, self._on_screen(max(1, int(np.ceil(pixel)))))
            return
        # only what is seen: a file of vectors would carry the rest along, and does not clip it
        seen = self.mapRectFromView(self.getViewBox().viewRect())  # `viewRect` of an image is that of its first range
        part = (seen.toAlignedRect() if raster else _inner(seen)).intersected(whole.toAlignedRect())
        p.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        # files keep the indices, which a painter converts slowly; a file of SVG takes no part of a picture
        shown = (self._on_screen(1), QRectF(part)) if raster else (self.qimage.copy(part),)
        p.drawImage(QRectF(part), *shown)

    def _on_screen(self, enlarged: int) -> QImage:
        """Return the picture in the colours of the screen, every pixel repeated along both axes."""
        if self._screen is None or self._screen[0] != enlarged:
            image = self.qimage.convertToFormat(QImage.Format.Format_RGB32)
            if enlarged > 1:
                image = image.scaled(image.width() * enlarged, image.height() * enlarged)
            self._screen = (enlarged, image)
        return self._screen[1]


def _inner(seen: QRectF) -> QRect:
    """Return the whole data pixels within `seen`."""
    left, top = int(np.ceil(seen.left() - 1e-6)), int(np.ceil(seen.top() - 1e-6))
    right, bottom = int(np.floor(seen.right() + 1e-6)), int(np.floor(seen.bottom() + 1e-6))
    return QRect(left, top, max(1, right - left), max(1, bottom - top))


def _averaged(pixel: float, size: tuple[int, int]) -> bool:
    """Say whether a picture is drawn through averages of values that share a pixel of the screen.

    Below one pixel a value whole rows would be left out otherwise; somewhat above, some rows and some gaps
    between tiles would be drawn twice as thick as others.
    """
    return pixel < 1 or (pixel < 4 and size[0] * size[1] < 1_000_000)
