"""A curve that is drawn once: while only its neighbours move, its picture is put back."""

from __future__ import annotations

import math
from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPaintEngine, QPainter, QPixmap, QTransform

from widgets.charts.library import pg


class Kept(pg.PlotCurveItem):
    """Stroking a smooth, wide path takes milliseconds, putting a picture of it does not; a file gets the path."""

    _key: Any = None
    _picture: Any = None

    def paint(self, p: QPainter, option: Any, widget: Any) -> None:
        world, device, box = p.worldTransform(), p.deviceTransform(), self.getViewBox()
        ratio = widget.devicePixelRatioF() if widget is not None else 0.0
        plain = not (device.m12() or device.m21()) and math.isclose(device.m11(), world.m11() * ratio)
        if box is None or not plain or p.paintEngine().type() != QPaintEngine.Type.Raster:
            super().paint(p, option, widget)
            return
        area = world.mapRect(box.viewRect())
        corner = QPointF(math.floor(area.left()), math.floor(area.top()))
        size = QRectF(corner, area.bottomRight()).size().toSize()
        opts = self.opts
        key = (self.xData, self.yData, opts["pen"], opts["brush"], opts["fillLevel"], world, size, ratio)
        if self._key is None or not all(a is b or (not hasattr(a, "shape") and a == b) for a, b in zip(key, self._key)):
            self._key = key
            self._picture = QPixmap(size * ratio)
            self._picture.setDevicePixelRatio(ratio)
            self._picture.fill(Qt.GlobalColor.transparent)
            inner = QPainter(self._picture)
            inner.setWorldTransform(world * QTransform.fromTranslate(-corner.x(), -corner.y()))
            super().paint(inner, option, widget)
            inner.end()
        p.save()
        p.setWorldTransform(QTransform())
        p.drawPixmap(corner, self._picture)
        p.restore()


class Jagged(pg.PlotCurveItem):
    """An opaque curve that goes up and down: drawn in pieces, and in a file as one path.

    To stroke a wide path that crosses itself at every pixel takes sixty times as long as its pieces.
    """

    def paint(self, p: QPainter, option: Any, widget: Any) -> None:
        pieces = p.paintEngine().type() == QPaintEngine.Type.Raster and self.opts["pen"].color().alpha() == 255
        self.opts["segmentedLineMode"] = "on" if pieces else "off"
        super().paint(p, option, widget)


class Curve(pg.PlotDataItem):
    """A line with gaps, or unconnected marks; its picture is kept."""

    curve: Any

    def __init__(self) -> None:
        # shapes in a file as well: pictures of marks would be as coarse as those of the screen, and their lines blots
        super().__init__(connect="finite", useCache=False)
        self.curve.setParentItem(None)
        self.curve = Kept()
        self.curve.setParentItem(self)
