"""The line above a plot: words in colour on the left, a legend on the right where there is room for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from PySide6.QtCore import QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from widgets.base.look import theme
from widgets.base.look.switched_parts import shortens, terms
from widgets.base.text.glossary import say
from widgets.charts.library import pg
from widgets.charts.scene.board import Pool
from widgets.charts.scene.labels import Line

GAP = 9.0
TALL = 14  # pixels of a sample in the legend
WIDE = 16.0  # the widest of its marks
LEAST = 40.0  # pixels of a line that is worth more lines

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
        if isinstance(self.item, pg.ScatterPlotItem) and opts["size"] > WIDE:  # marks as wide as a column of the plot
            p.translate(10, 10)
            p.scale(WIDE / opts["size"], 1)
            p.translate(-10, -10)
        super().paint(p, *rest)


def _wrapped(text: str, metrics: QFontMetricsF, width: float) -> list[str]:
    """Return a text in lines of so many pixels, broken between words."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and metrics.horizontalAdvance(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


class Header(pg.GraphicsWidget):
    """Parts are elided at the end of the line. The legend gives way to the first two parts, the others to it.

    On paper, where `flows` is set, nothing gives way: the legend has lines of its own, and so do parts that are to be
    whole. The part that is named as a link is underlined and can be clicked.
    """

    followed = Signal()  # the link was clicked
    grown = Signal()  # it takes more lines, or fewer

    def __init__(self) -> None:
        super().__init__()
        self.parts: tuple[Part, ...] = ()
        self.link: int | None = None  # index of the part that is a link
        self.brief: Mapping[int, str] = {}  # what is written instead of a part that has no room, by its index
        self.flows = False  # whether it may take more than a line
        self._texts: dict[Any, str] = {}
        self._lines = Pool(Line, self)
        self.legend = pg.LegendItem(frame=False, horSpacing=2, sampleType=Sample)
        self.legend.layout.setContentsMargins(0, 0, 0, 0)
        self.legend.setParentItem(self)
        self.set_font(QFont())

    def set_font(self, font: QFont, room: float = 6.0, right: bool = False) -> None:
        """Take a font, with so many pixels of room above and below it; write to the `right` end."""
        self._right = right
        self._plain, self.bold = QFont(font), QFont(font)
        self.bold.setBold(True)
        self._line = QFontMetricsF(font).height() + room
        self.setFixedHeight(self._line)
        self.legend.setLabelTextSize(f"{font.pointSizeF():.1f}pt")
        self._arrange()

    def take_line(self, height: float) -> None:
        """Take another height of a line than that of the font: a header that says nothing may be a margin."""
        self._line = height
        self.setFixedHeight(height)

    def write(
        self, parts: Sequence[Part], link: int | None = None, brief: Mapping[int, str] = MappingProxyType({})
    ) -> None:
        parts = [(say(text), ink, bold) for text, ink, bold in parts]
        if (tuple(parts), link, brief) != (self.parts, self.link, self.brief):
            self.parts, self.link, self.brief = tuple(parts), link, brief
            self.setAcceptHoverEvents(link is not None)
            self.unsetCursor()
            self._arrange()

    def add_key(self, item: Any, text: str) -> None:
        """Explain an item of the plot in the legend; a click on its sample hides and shows it."""
        self.legend.addItem(item, say(text))
        self.legend.setColumnCount(len(self.legend.items))
        self.dress()

    def name_keys(self, texts: Mapping[Any, str]) -> None:
        """Write other texts beside the samples of items; those without one leave the legend."""
        texts = {item: say(text) for item, text in texts.items()}
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
        """Return the width of each part, in brief where not all have room as they are."""
        plain, bold = QFontMetricsF(self._plain), QFontMetricsF(self.bold)

        def widths(brief: Mapping[int, str]) -> list[float]:
            told = [(brief.get(k, text), heavy) for k, (text, _, heavy) in enumerate(self.parts)]
            return [(bold if heavy else plain).horizontalAdvance(text) + GAP for text, heavy in told]

        whole = widths({})
        return whole if sum(whole) - GAP <= self.size().width() else widths(self.brief)

    def _arrange(self) -> None:
        """Give the legend its place: in the line, else below it on paper, else none."""
        if not terms() and self.flows and self.size().width() > LEAST:
            self._flow()
            return
        self._columns(len(self.legend.items))
        hint = self._hint()
        fits = bool(self.legend.items) and hint.width() <= self.size().width() - sum(self._widths()[:2])
        self.legend.setVisible(fits)
        top = (self._line - hint.height()) / 2 - 1
        self.legend.setGeometry(QRectF(self.size().width() - hint.width(), top, hint.width(), hint.height()))
        self._take_height(self._line)
        self._write_in_a_line()

    def _write_in_a_line(self) -> None:
        self.update()  # all of the line: Qt may take the end of a longer one for painted over already
        with self._lines as pool:
            for k, (shown, place) in enumerate(zip(self.shown(), self._places())):
                if shown:
                    pool.take().write(shown, place.adjusted(0, 0, GAP, 0), self._font(k), QColor(self.parts[k][1]))

    def _flow(self) -> None:
        """Write all that there is, in as many lines as that takes."""
        width, keys = self.size().width(), len(self.legend.items)
        self._columns(keys)
        beside = bool(keys) and sum(self._widths()) + self._hint().width() <= width
        for columns in range(keys, 0, -1):
            self._columns(columns)
            if self._hint().width() <= width:
                break
        hint = self._hint()
        self.legend.setVisible(bool(keys))
        used = self._line
        if beside or shortens():
            # without the legend in it, the line is as long as the header
            self.legend.setGeometry(QRectF(width - (hint.width() if beside else 0.0), 0, hint.width(), hint.height()))
            self._write_in_a_line()
        else:
            used = self._write_in_lines(width)
        if keys:
            top = (self._line - hint.height()) / 2 - 1 if beside else used - 2
            self.legend.setGeometry(QRectF(width - hint.width() if beside else 0.0, top, hint.width(), hint.height()))
        self._take_height(used if beside or not keys else used + hint.height())

    def _write_in_lines(self, width: float) -> float:
        """Write each part whole, from where the one before ends; return the height of all lines."""
        x, row, step = 0.0, 0, QFontMetricsF(self._plain).height()
        with self._lines as pool:
            for k, (text, colour, _) in enumerate(self.parts):
                metrics = QFontMetricsF(self._font(k))
                if x and text and x + metrics.horizontalAdvance(text) > width:
                    x, row = 0.0, row + 1
                for line in _wrapped(text, metrics, width) if text else ():
                    if x and x + metrics.horizontalAdvance(line) > width:
                        x, row = 0.0, row + 1
                    wide = metrics.horizontalAdvance(line)
                    place = QRectF(x, row * step, wide + GAP, self._line - 2)
                    pool.take().write(line, place, self._font(k), QColor(colour))
                    x += wide + GAP
        self.update()
        return self._line + row * step

    def _columns(self, count: int) -> None:
        if count and self.legend.columnCount != count:
            self.legend.setColumnCount(count)

    def _hint(self) -> QSizeF:
        self.legend.layout.activate()
        return self.legend.layout.effectiveSizeHint(Qt.SizeHint.PreferredSize)

    def _take_height(self, height: float) -> None:
        if abs(self.minimumHeight() - height) > 0.5:
            self.setFixedHeight(height)
            self.grown.emit()

    @property
    def extra_height(self) -> float:
        """Return by how much it is higher than one line."""
        return max(0.0, self.minimumHeight() - self._line)

    def boundingRect(self) -> QRectF:
        return QRectF(0, 0, self.size().width(), self.size().height())

    def _places(self) -> list[QRectF]:
        """Return where each part is written, empty where there is no room for it."""
        end = self.legend.pos().x() if self.legend.isVisible() else self.size().width()
        x, height, found = 0.0, self._line, []
        if self._right:
            x = max(0.0, end - sum(self._widths()) + GAP - 2)
        for (text, _, _), width in zip(self.parts, self._widths()):
            room = end - x
            fits = room >= min(24.0, width - GAP) and bool(text)
            found.append(QRectF(x, 0, min(room, width - GAP), height - 2) if fits else QRectF())
            x += width if fits else 0.0
        return found

    def _font(self, k: int) -> QFont:
        font = QFont(self.bold if self.parts[k][2] else self._plain)
        font.setUnderline(k == self.link and terms())  # on paper nobody can follow it
        return font

    def shown(self) -> list[str]:
        """Return what is written of each part."""
        found = []
        for k, ((text, _, _), place) in enumerate(zip(self.parts, self._places())):
            # half a pixel more, so that what fits is not elided by its rounding
            metrics, room = QFontMetricsF(self._font(k)), place.width() + 0.5
            wanted = text if metrics.horizontalAdvance(text) <= room else self.brief.get(k, text)
            found.append("" if place.isEmpty() else metrics.elidedText(wanted, Qt.TextElideMode.ElideRight, room))
        return found

    @property
    def whole(self) -> bool:
        """Return whether all parts are written as they are."""
        return self.shown() == [text for text, _, _ in self.parts]

    def link_place(self) -> QRectF:
        """Return where the link is, empty where there is none."""
        return QRectF() if self.link is None else self._places()[self.link]

    def hoverMoveEvent(self, event: Any) -> None:
        if self.link_place().contains(event.pos()):
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        else:
            self.unsetCursor()

    def mousePressEvent(self, event: Any) -> None:
        if self.link_place().contains(event.pos()):
            self.followed.emit()
        else:
            event.ignore()
