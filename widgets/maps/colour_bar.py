"""The colour bar beside maps."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetricsF

from widgets.base.look.theme import error_map, grey_map, signed_map
from widgets.base.text.words import figure
from widgets.charts.items.heat import Bar
from widgets.maps.diagram import font

NOTHING = 1e-6  # of the largest value: what no colour shows is written as 0
TABLES = {"signed": signed_map, "grey": grey_map, "error": error_map}


class ColourBar(Bar):
    """The shared scale: a vertical gradient with its numbers at the right."""

    WIDTH = 62.0

    def __init__(self) -> None:
        super().__init__(table=TABLES["signed"], gap=0.0)
        self.low, self.high, self.kind = -1.0, 1.0, "signed"
        self.set_font(font(10))
        self.axis.setWidth(self.WIDTH - 8)

    def place(self, box: QRectF) -> None:
        """Stand in a box; one too low for numbers has none."""
        self.setGeometry(box)
        self.setOpacity(float(box.height() >= 30))
        self._write()

    def set_levels(self, low: float, high: float, kind: str = "signed") -> None:
        """Show a colour map between two values."""
        if kind != self.kind:
            self.kind, self.table = kind, TABLES[kind]
            self.dress()
        if (low, high) != (self.low, self.high):
            self.low, self.high = low, high
            self._write()

    def _write(self) -> None:
        many = self.size().height() >= 6.5 * QFontMetricsF(font(10)).height()
        shares: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0) if many else (0.0, 0.5, 1.0)
        if self.low == self.high:  # one value, which maps draw in the middle colour
            shares = (0.5,)
        self.setLevels((0.0, 1.0))
        values = [self.low + share * (self.high - self.low) for share in shares]
        least = NOTHING * max(abs(self.low), abs(self.high))
        self.set_ticks([(share, figure(v if abs(v) > least else 0.0)) for share, v in zip(shares, values, strict=True)])
