"""Items of a plot: marks, columns, stems, words, and the line of the current element."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPaintEngine, QPainter, QPainterPath, QPen, QPolygonF

from widgets.base.look import theme
from widgets.base.look.alignment import CENTRE
from widgets.base.look.switched_parts import stroke
from widgets.charts.inks import faded
from widgets.charts.library import pg
from widgets.charts.scene.board import Pool
from widgets.charts.scene.labels import Line


def _path(*corners: tuple[float, float], closed: bool = True) -> QPainterPath:
    path = QPainterPath()
    path.addPolygon(QPolygonF([QPointF(x, y) for x, y in corners]))
    if closed:
        path.closeSubpath()
    return path


DOT = "o"
DIAMOND = _path((0, -0.6), (0.6, 0), (0, 0.6), (-0.6, 0))
DOWN = _path((-0.5, -0.5), (0.5, -0.5), (0, 0.4))
UP = _path((-0.5, 0.5), (0.5, 0.5), (0, -0.4))
DASH = _path((-0.5, 0), (0.5, 0), closed=False)


def ink(colour: str, width: float = 1.0, alpha: int = 255, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> QPen:
    """Return a pen of so many pixels, whatever the range of the axes, and however sharp a picture is.

    Always the same object for the same words: pyqtgraph keeps a picture of a mark for each pen and brush it meets.
    """
    return _ink(colour, width * stroke(), alpha, style)


@lru_cache(maxsize=512)
def _ink(colour: str, width: float, alpha: int, style: Qt.PenStyle) -> QPen:
    pen = QPen(faded(colour, alpha), width, style, Qt.PenCapStyle.FlatCap)
    pen.setCosmetic(True)
    return pen


@lru_cache(maxsize=256)
def fill(colour: str, alpha: int = 255) -> QBrush:
    """Return a brush, always the same object for the same words."""
    return QBrush(faded(colour, alpha))


NO_PEN = QPen(Qt.PenStyle.NoPen)


class Marks(pg.ScatterPlotItem):
    """Marks of a size in pixels; in a file they are shapes, not pictures of shapes."""

    def set_marks(
        self,
        x: NDArray[Any],
        y: NDArray[Any],
        size: float | NDArray[Any],
        others: Mapping[int, tuple[Any, QPen, QBrush]] | None = None,
    ) -> None:
        """Draw marks at points; `others` are drawn with a symbol, pen and brush of their own."""
        if not others:
            self.setData(x, y, size=size)
            return
        usual = (self.opts["symbol"], self.opts["pen"], self.opts["brush"])
        looks = [others.get(i, usual) for i in range(len(x))]
        symbols, pens, brushes = (list(part) for part in zip(*looks))
        pens = [NO_PEN if pen is None else pen for pen in pens]  # else one more for each mark, and a picture for each
        self.setData(x, y, size=size, symbol=symbols, pen=pens, brush=brushes)

    def mouseClickEvent(self, event: Any) -> None:
        event.ignore()  # the chart answers a click, also on a mark

    def paint(self, p: QPainter, *rest: Any) -> None:
        vectors = p.paintEngine().type() not in (QPaintEngine.Type.Raster, QPaintEngine.Type.Picture) or stroke() != 1
        if not vectors:
            super().paint(p, *rest)
            return
        kept, self.opts["useCache"] = self.opts["useCache"], False
        try:
            super().paint(p, *rest)
        finally:
            self.opts["useCache"] = kept


class Target(pg.TargetItem):
    """A point that is pointed out, or moved by hand; smooth, and quiet under the mouse."""

    def __init__(self, symbol: Any = DOT, movable: bool = False) -> None:
        self._look: tuple[Any, ...] = ()
        super().__init__(symbol=symbol, movable=movable)

    def look(self, pen: QPen, brush: QBrush, size: float, hover: QBrush | None = None) -> None:
        """Take a pen, a brush and a size in pixels, and the brush that it has under the mouse."""
        if (pen, brush, size, hover) != self._look:
            self._look = (pen, brush, size, hover)
            self.setPen(pen)
            self.setHoverPen(pen)
            self.setBrush(brush)
            self.setHoverBrush(hover or brush)
            self.scale = size
            self.viewTransformChanged()  # its shape is another one

    def paint(self, p: QPainter, *rest: Any) -> None:
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        super().paint(p, *rest)


class Columns(pg.BarGraphItem):
    """Bars without an outline, upright or lying: of all, one colour or one colour each."""

    def __init__(self) -> None:
        self._sides = np.zeros((4, 0))
        super().__init__(x0=np.zeros(0), x1=np.zeros(0), y0=np.zeros(0), y1=np.zeros(0), pen=None, brush=None)

    def set_columns(self, x0: ArrayLike, x1: ArrayLike, y0: ArrayLike, y1: ArrayLike) -> None:
        """Draw rectangles between these coordinates; where one is no number there is none."""
        given = [np.asarray(side, dtype=float) for side in (x0, x1, y0, y1)]
        sides = np.empty((4, min((side.size for side in given if side.ndim), default=1)))
        for row, side in zip(sides, given):
            row[:] = side
        sides = sides[:, np.isfinite(sides).all(axis=0)]
        if not np.array_equal(sides, self._sides):  # most frames of a drag move few of the columns
            self._sides = sides
            self.setOpts(x0=sides[0], x1=sides[1], y0=sides[2], y1=sides[3])

    def rectangles(self) -> NDArray[np.float64]:
        """Return x0, x1, y0, y1 of every bar as rows."""
        return self._sides.T

    def paint(self, p: QPainter, *rest: Any) -> None:
        if self._brushes is None:
            super().paint(p, *rest)
        else:
            self._render(p)  # not by way of a QPicture, which takes ten times as long


class Stems(pg.PlotCurveItem):
    """Upright lines from the bottom of the plot to points; sharp, and faster than smoothed ones."""

    def __init__(self) -> None:
        super().__init__(connect="pairs", antialias=False)
        self.setSegmentedLineMode("on")

    def set_stems(self, x: NDArray[Any], y: NDArray[Any], bottom: float) -> None:
        there = np.isfinite(x) & np.isfinite(y)
        pairs = np.stack([np.full(there.sum(), bottom), y[there]], axis=1).ravel()
        self.setData(np.repeat(x[there], 2), pairs, connect="pairs")


class Words(pg.ItemGroup):
    """Words in a plot's box at x coordinates, upright where their `span` of the axis is too narrow for them."""

    def __init__(self, box: pg.ViewBox, where: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignVCenter) -> None:
        super().__init__()
        self.span = 1.0
        self._where = where | Qt.AlignmentFlag.AlignHCenter
        self._box = weakref.ref(box)
        self._words: tuple[tuple[float, str, str], ...] = ()  # x, text, colour's role in the theme
        self.font = QFont()
        self._lines = Pool(Line, self)
        self.setParentItem(box)  # in pixels, not in the units of the axes
        box.sigRangeChanged.connect(self.follow)
        box.sigResized.connect(self.follow)

    def follow(self, *changed: Any) -> None:
        """Place the words where the box has their coordinates now."""
        box = self._box()
        if box is None or not (self._words or self._lines.taken):
            return
        area, metrics = QRectF(box.rect()), QFontMetricsF(self.font)
        low, high = box.viewRange()[0]
        unit = area.width() / (high - low)
        width, flat = self.span * unit, QRectF(0, 0, 1e4, 40)
        with self._lines as pool:
            for value, text, role in self._words:
                x, long = (value - low) * unit, metrics.horizontalAdvance(text)
                level = width >= long + 6
                if level or (width >= metrics.height() and area.height() >= long):
                    line, ink = pool.take(), QColor(getattr(theme.current(), role))
                    room = QRectF(x - long, area.top(), 2 * long, area.height()) if level else flat
                    line.write(text, room, self.font, ink, self._where if level else CENTRE)
                    line.setRotation(0 if level else -90)
                    if not level:
                        line.setPos(x - line.boundingRect().height() / 2, area.center().y() + long / 2)

    def set_words(self, words: Sequence[tuple[float, str, str]], span: float = 1.0) -> None:
        if (tuple(words), span) != (self._words, self.span):
            self._words, self.span = tuple(words), span
            self.follow()

    def dress(self, font: QFont) -> None:
        """Take a font and the colours of the theme."""
        self.font = font
        self.follow()

    def words(self) -> list[str]:
        return [text for _, text, _ in self._words]


class ElementLine(pg.InfiniteLine):
    """The current element: an upright line with a handle at its top."""

    def __init__(self) -> None:
        super().__init__(angle=90, movable=False)
        self.addMarker("v", position=1.0, size=10)
        self.setZValue(50)

    def turn(self) -> None:
        """Put the handle to the other end: the vertical axis runs downwards."""
        self.clearMarkers()
        self.addMarker("^", position=0.0, size=10)

    def dress(self) -> None:
        """Take the colours of the theme."""
        self.setPen(ink(theme.current().accent, 1.6))


def level(at: float, colour: str, upright: bool = False) -> pg.InfiniteLine:
    """Return a straight line through the whole plot, for a floor, for chance, for zero."""
    return pg.InfiniteLine(at, angle=90 if upright else 0, pen=ink(colour, 1.2))
