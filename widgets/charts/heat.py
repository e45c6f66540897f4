"""Heat maps: a matrix as a picture in the colours of the theme, with a bar that says what the colours mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPen

from widgets.base import theme
from widgets.charts.header import Header
from widgets.charts.library import pg

GAP = 14.0  # pixels between a plot and its colour bar: half a label of the axis below
Table = Callable[[], NDArray[np.uint8]]


class Heat(pg.ImageItem):
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
    """A colour bar for a Heat, whose ends are written by `text`."""

    def __init__(self, heat: Heat, text: Callable[[float], str], table: Table = theme.error_map) -> None:
        super().__init__(interactive=False, width=10, orientation="vertical", rounding=1e-9)
        self._table, self._text = table, text
        self._heat = heat
        self.layout.setContentsMargins(GAP, 0, 0, 0)
        self.axis.tickStrings = lambda values, scale, spacing: [text(v) for v in values]

    def set_font(self, font: QFont) -> None:
        self.axis.setTickFont(font)

    def dress(self) -> None:
        """Take the colours of the theme."""
        t = theme.current()
        positions = np.linspace(0, 1, len(self._table()))
        self.setColorMap(pg.ColorMap(positions, self._table()))
        self.axis.setTextPen(QColor(t.muted))
        self.axis.setPen(QPen(QColor(t.line), 1))


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
        self._box.addItem(self.colours)
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
