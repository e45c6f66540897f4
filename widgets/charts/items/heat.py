"""Heat maps: a matrix as a picture in the colours of the theme, with a bar that says what the colours mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QLinearGradient, QPaintEngine, QPainter, QPen
from PySide6.QtWidgets import QGraphicsRectItem, QWidget

from widgets.base.look import theme
from widgets.charts.items.header import Header
from widgets.charts.library import pg

GAP = 14.0  # pixels between a plot and its colour bar: half a label of the axis below
DRAWN_CELLS = 20_000  # up to so many are rectangles in a file of vectors
Table = Callable[[], NDArray[np.uint8]]


class Cells(pg.ImageItem):
    """A picture of cells; few of them are rectangles in a file of vectors, for its readers would blur a picture."""

    def __init__(self, even: bool = False) -> None:
        self.even = even  # cells of a few pixels are smoothed: some rows would be drawn twice as thick as others
        super().__init__()

    def paint(self, p: QPainter, *rest: Any) -> None:
        vectors = p.paintEngine().type() not in (QPaintEngine.Type.Raster, QPaintEngine.Type.Picture)
        if vectors and self.image is not None and self.image.size <= DRAWN_CELLS:
            self._paint_rectangles(p)
            return
        step = p.deviceTransform().m11()
        smooth = self.even and step < 4 and step % 1 > 1e-3
        p.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smooth)
        super().paint(p, *rest)

    def _paint_rectangles(self, p: QPainter) -> None:
        self.render()
        for i in range(self.qimage.height()):
            for j in range(self.qimage.width()):
                colour = self.qimage.pixelColor(j, i)
                if colour.alpha():
                    p.fillRect(QRectF(j, i, 1, 1), colour)


class Heat(Cells):
    """Rows and columns of numbers; where there is none, the plot's ground is seen."""

    def __init__(self, table: Table = theme.error_map) -> None:
        super().__init__()
        self._table = table
        self.values: NDArray[Any] = np.zeros((0, 0))

    def show_values(self, values: NDArray[Any], rect: QRectF, levels: tuple[float, float]) -> None:
        """Show (rows, columns) over `rect` of the axes, the ends of the colours at `levels`."""
        self.values = values
        if values.size:
            self.setImage(values, autoLevels=False, levels=levels, rect=rect)
        else:
            self.clear()

    def dress(self) -> None:
        """Take the colours of the theme."""
        self.setLookupTable(self._table())


class Bar(pg.ColorBarItem):
    """A colour bar, whose ends are written by `text`; a gradient, so that files keep it sharp."""

    def __init__(self, text: Callable[[float], str] = str, table: Table = theme.error_map, gap: float = GAP) -> None:
        # without the menu of the library, which would choose other colours for the bar than its maps have
        super().__init__(interactive=False, width=10, orientation="vertical", rounding=1e-9, colorMapMenu=False)
        self.table = table
        self.layout.setContentsMargins(gap, 0, 0, 0)
        self.axis.setStyle(tickLength=3, hideOverlappingLabels=False)
        self.axis.tickStrings = lambda values, scale, spacing: [text(v) for v in values]
        self.ramp = QGraphicsRectItem(0, 0, 1, 256)
        self.ramp.setPen(QPen(Qt.PenStyle.NoPen))
        self.addItem(self.ramp, ignoreBounds=True)
        self.bar.setVisible(False)
        self.line = pg.InfiniteLine(angle=0)
        self.line.setVisible(False)
        self.addItem(self.line, ignoreBounds=True)

    def adopt(self, view: QWidget) -> None:
        """Give the menu that pyqtgraph makes for every bar a parent, else it outlives the view."""
        self.ctrlMenu.setParent(view, Qt.WindowType.Popup)

    def set_font(self, font: QFont) -> None:
        self.axis.setTickFont(font)

    def set_ticks(self, ticks: Sequence[tuple[float, str]]) -> None:
        """Write texts at heights between 0 and 1."""
        self.axis.setTicks([list(ticks)])

    def set_line(self, height: float | None) -> None:
        """Draw a line through the bar at a height between 0 and 1, or none."""
        self.line.setVisible(height is not None)
        if height is not None:
            self.line.setValue(256 * height)

    def dress(self) -> None:
        """Take the colours of the theme."""
        t, table = theme.current(), self.table()
        gradient = QLinearGradient(QPointF(0, 0), QPointF(0, 256))
        for i in range(17):
            gradient.setColorAt(i / 16, QColor(*(int(v) for v in table[round(i / 16 * (len(table) - 1))])))
        self.ramp.setBrush(gradient)
        for key in ("left", "right", "top", "bottom"):
            self.getAxis(key).setPen(QPen(QColor(t.line), 1))
        self.axis.setTextPen(QColor(t.muted))
        self.line.setPen(QPen(QColor(t.text), 1.5))


class Strip(pg.GraphicsLayout):
    """A colour bar that lies below a plot too narrow for one beside it, with the ends of the colours beside it."""

    def __init__(self, table: Table = theme.signed_map) -> None:
        super().__init__()
        self._table = table
        self.layout.setContentsMargins(0, 0, 0, 0)
        self.layout.setSpacing(6)
        self.ends = (Header(), Header())
        self.colours = pg.ImageItem(np.arange(512.0)[None])
        self._box = pg.ViewBox(enableMenu=False, enableMouse=False, defaultPadding=0.0)
        self._box.addItem(self.colours, ignoreBounds=True)
        # a range that follows the picture is set when it is painted, which comes too late
        self._box.setRange(xRange=(0.0, 512.0), yRange=(0.0, 1.0), padding=0)
        for column, part in enumerate((self.ends[0], self._box, self.ends[1])):
            self.addItem(part, 0, column)
            self.layout.setColumnStretchFactor(column, 1)
        self._box.setMaximumWidth(90)
        self._box.setFixedHeight(6)
        self.layout.setAlignment(self._box, Qt.AlignmentFlag.AlignCenter)

    def set_font(self, font: QFont) -> None:
        for head, right in zip(self.ends, (True, False)):
            head.set_font(font, 4, right=right)

    def write(self, low: str, high: str) -> None:
        for head, text in zip(self.ends, (low, high)):
            head.write([(text, theme.current().muted, False)])

    def dress(self) -> None:
        """Take the colours of the theme."""
        self.colours.setLookupTable(self._table())
