"""The line above a plot: words in colour on the left, a legend on the right where there is room for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from widgets.base.look import theme
from widgets.base.look.alignment import LEFT
from widgets.charts.library import pg

GAP = 9.0
TALL = 14  # pixels of a sample in the legend

Part = tuple[str, str, bool]  # text, colour, bold


class Sample(pg.ItemSample):
    """The sample of an item in one line of text."""

    def __init__(self, item: Any) -> None:
        super().__init__(item)
        self.setFixedHeight(TALL)

    def boundingRect(self) -> QRectF:
        return QRectF(0, 0, 20, TALL)

    def paint(self, p: QPainter, *rest: Any) -> None:
        opts = self.item.opts
        filled = opts.get("brush") if isinstance(self.item, pg.BarGraphItem) else None
        if isinstance(self.item, pg.PlotCurveItem) and opts.get("fillLevel") is not None:
            filled = opts["brush"]
        if filled is not None and self.item.isVisible():
            p.fillRect(QRectF(2, TALL / 2 - 4, 16, 8), filled)
            return
        p.translate(0, TALL / 2 - (10 if isinstance(self.item, pg.ScatterPlotItem) else 11))
        super().paint(p, *rest)


class Header(pg.GraphicsWidget):
    """Parts are elided at the end of the line. The legend gives way to the first two parts, the others to it."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: tuple[Part, ...] = ()
        self._texts: dict[Any, str] = {}
        self.legend = pg.LegendItem(frame=False, horSpacing=2, sampleType=Sample)
        self.legend.layout.setContentsMargins(0, 0, 0, 0)
        self.legend.setParentItem(self)
        self.set_font(QFont())

    def set_font(self, font: QFont, room: float = 6.0, right: bool = False) -> None:
        """Take a font, with so many pixels of room above and below it; write to the `right` end."""
        self._right = right
        self._plain, self._bold = QFont(font), QFont(font)
        self._bold.setBold(True)
        self.setFixedHeight(QFontMetricsF(font).height() + room)
        self.legend.setLabelTextSize(f"{font.pointSizeF():.1f}pt")
        self._arrange()

    def write(self, parts: Sequence[Part]) -> None:
        if tuple(parts) != self.parts:
            self.parts = tuple(parts)
            self._arrange()

    def add_key(self, item: Any, text: str) -> None:
        """Explain an item of the plot in the legend; a click on its sample hides and shows it."""
        self.legend.addItem(item, text)
        self.legend.setColumnCount(len(self.legend.items))
        self.dress()

    def name_keys(self, texts: Mapping[Any, str]) -> None:
        """Write other texts beside the samples of items; those without one leave the legend."""
        if texts == self._texts:
            return
        self._texts = dict(texts)
        self.legend.clear()
        for item, text in texts.items():
            self.legend.addItem(item, text)
        self.legend.setColumnCount(max(1, len(texts)))
        self.dress()

    def dress(self) -> None:
        """Take the colours of the theme."""
        for sample, label in self.legend.items:
            label.setText(label.text, color=theme.current().muted)
            sample.update()
        self.legend.updateSize()
        self._arrange()

    def resizeEvent(self, event: Any) -> None:
        self._arrange()

    def _widths(self) -> list[float]:
        plain, bold = QFontMetricsF(self._plain), QFontMetricsF(self._bold)
        return [(bold if heavy else plain).horizontalAdvance(text) + GAP for text, _, heavy in self.parts]

    def _arrange(self) -> None:
        """Give the legend its place, or none."""
        self.legend.layout.activate()
        hint = self.legend.layout.effectiveSizeHint(Qt.SizeHint.PreferredSize)
        fits = bool(self.legend.items) and hint.width() <= self.size().width() - sum(self._widths()[:2])
        self.legend.setVisible(fits)
        top = (self.size().height() - hint.height()) / 2 - 1
        self.legend.setGeometry(QRectF(self.size().width() - hint.width(), top, hint.width(), hint.height()))
        self.update()

    def boundingRect(self) -> QRectF:
        return QRectF(0, 0, self.size().width(), self.size().height())

    def paint(self, p: QPainter, *rest: Any) -> None:
        end = self.legend.pos().x() if self.legend.isVisible() else self.size().width()
        x, height = 0.0, self.size().height()
        if self._right:
            x = max(0.0, end - sum(self._widths()) + GAP - 2)
        for (text, colour, heavy), width in zip(self.parts, self._widths()):
            room = end - x
            if room < min(24.0, width - GAP) or not text:
                continue
            font = self._bold if heavy else self._plain
            p.setFont(font)
            p.setPen(QColor(colour))
            shown = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, room)
            p.drawText(QRectF(x, 0, room, height - 2), LEFT, shown)
            x += width
