"""Axes: decades of errors, round numbers with a unit, names of layers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from explorer.declare.telling.numerals import with_minus
from widgets.base.look import theme
from widgets.base.look.alignment import CENTRE, RIGHT
from widgets.base.look.switched_parts import shortens, stroke
from widgets.base.text.layer_names import alike, endings
from widgets.charts.axis.scales import LogScale, decade, linear_ticks, power
from widgets.charts.inks import mixed
from widgets.charts.library import pg

GRID = 0.6  # of the theme's line colour in grid lines
LEAST = 78.0  # pixels for a name below a chart, before others are left out
MOST_UPWARDS = 220.0  # pixels of a name that is written upwards
BEYOND = 60.0  # pixels that a label at the end of an axis may stand out


class Axis(pg.AxisItem):
    """An axis with grid lines; a label at its end is moved inside the chart instead of being cut off."""

    def __init__(self, orientation: str) -> None:
        self.end = ""  # what is counted, written at the right end of a level axis, at the top of an upright one
        self.font = QFont()  # before it is resized for the first time, which happens in the next line
        super().__init__(orientation)
        self.setStyle(
            tickLength=0,
            tickAlpha=255,
            maxTextLevel=0,
            autoExpandTextSpace=False,
            tickTextOffset=5 if self.upright else 4,
        )
        self.setGrid(255)

    @property
    def upright(self) -> bool:
        return self.orientation in ("left", "right")

    @property
    def extra_height(self) -> float:
        """Return by how much it is higher on paper than on the screen."""
        return 0.0

    @property
    def left_out(self) -> int:
        """Return how many names have no room."""
        return 0

    def set_font(self, font: QFont) -> None:
        self.font = QFont(font)
        self.setTickFont(self.font)
        self.fit()

    def fit(self) -> None:
        """Reserve the room that labels need, before they are drawn."""
        metrics = QFontMetricsF(self.font)
        if not self.style["showValues"]:
            self.setWidth(0) if self.upright else self.setHeight(4)
        elif self.upright:
            self.setWidth(max((metrics.horizontalAdvance(text) for text in self.widest()), default=0.0) + 8)
        else:
            self.setHeight(metrics.height() + 6)

    def widest(self) -> Sequence[str]:
        """Return texts that are as wide as labels become."""
        return ("−0.00",)

    def dress(self) -> None:
        """Take the colours of the theme."""
        t = theme.current()
        self.setPen(None)
        # opaque: blending a line takes many times as long as drawing it; of no width it is the fastest, but a hair
        self.setTickPen(QPen(mixed(t.line, t.plot, GRID), 0 if stroke() == 1 else 1))
        self.setTextPen(t.muted)

    def redraw(self) -> None:
        """Work the ticks out anew at the next turn."""
        self.picture = None
        self.update()

    def paint(self, p: QPainter, *rest: Any) -> None:
        # not by way of a QPicture: it looks its fonts up each time that it is played, which takes milliseconds
        if self.picture is None:
            p.setFont(self.font)
            self.picture = self.generateDrawSpecs(p) or ()  # type: ignore[assignment]
        if self.picture:
            self.drawPicture(p, *self.picture)

    def boundingRect(self) -> QRectF:
        aside = (0.0, BEYOND) if self.upright else (BEYOND, 0.0)
        return super().boundingRect().adjusted(-aside[0], -aside[1], aside[0], aside[1])

    def generateDrawSpecs(self, p: QPainter) -> Any:
        specs = super().generateDrawSpecs(p)
        scene = self.scene()
        if specs is None or scene is None or not scene.views():
            return specs
        room = self.mapRectFromScene(QRectF(scene.views()[0].rect()))
        for rect, _, _ in specs[2]:
            if self.upright:
                rect.moveTop(min(max(rect.top(), room.top()), room.bottom() - rect.height()))
            else:
                rect.moveLeft(min(max(rect.left(), room.left() + 1), room.right() - rect.width() - 1))
        if self.end:
            metrics = QFontMetricsF(self.font)
            if self.upright:
                width = metrics.horizontalAdvance(self.end)
                # a name that is longer than labels are begins at the edge and stands out into the plot
                place = QRectF(
                    max(0.0, self.size().width() - self.style["tickTextOffset"][0] - width), 0, width, metrics.height()
                )
                texts = [text for text in specs[2] if text[0].top() > place.bottom()]
                flags = Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextDontClip
            else:
                width = metrics.horizontalAdvance(self.end)
                place = QRectF(room.right() - width - 2, self.style["tickTextOffset"][1], width, self.size().height())
                texts = [text for text in specs[2] if text[0].right() + 8 < place.left()]
                flags = Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextDontClip
            specs = (specs[0], specs[1], [*texts, (place, flags, self.end)])
        return specs


class LogAxis(Axis):
    """Decades of a LogScale, as "10⁻³"."""

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        line = QFontMetricsF(self.font).height()
        return [(1.0, [math.log10(v) for v in LogScale(10.0**low, 10.0**high).ticks(size, line)])]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        found = [10.0**v for v in values]
        if any(not decade(v) for v in found) and all(1e-3 <= v < 1e4 for v in found):  # 50, 100, 200: not 50, 10², 200
            return [power(v, written_out=True) for v in found]
        return [power(v) for v in found]

    def widest(self) -> Sequence[str]:
        return ("10⁻¹⁷", "2·10⁻⁵")


class ValueAxis(Axis):
    """Round numbers; `text` writes one, `ticks` chooses those between two ends when there is room for so many."""

    def __init__(self, orientation: str, text: Callable[[float], str] | None = None, whole: bool = False) -> None:
        self.whole = whole  # only whole numbers
        self.text = text or (lambda value: with_minus(f"{value:g}"))
        super().__init__(orientation)

    def ticks(self, low: float, high: float, most: int) -> list[float]:
        found = linear_ticks(low, high, most)
        return [v for v in found if v == round(v)] if self.whole else found

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        low, high = min(low, high), max(low, high)
        gap = 1.6 * QFontMetricsF(self.font).height() if self.upright else 60.0
        return [(1.0, self.ticks(low, high, max(1, int(size / gap))))]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        return [self.text(v) for v in values]

    def widest(self) -> Sequence[str]:
        low, high = sorted(self.range)
        return ("−0.00", *(self.text(v) for v in self.ticks(low, high, 3)))


@dataclass(frozen=True, slots=True)
class Name:
    """One name on an axis of names.

    Attributes:
        text: the whole name; it is shortened where it has no room.
        role: colour of the theme for a special name, which is bold and has its place first; "" for the others.
        strip: colour of the theme for the strip between the plot and the name, "" for none.
        thick: pixels of that strip.
    """

    text: str
    role: str = ""
    strip: str = ""
    thick: float = 1.5


class NameAxis(Axis):
    """Names at 0, 1, 2, ...: special ones first, then as many of the others as there is room for.

    Below a chart they stand in two lines by turns where one has no room for whole names. On paper, where all are
    wanted, they are turned upright where two lines have no room either.
    """

    def __init__(self, orientation: str, share: float = 0.3) -> None:
        self.names: tuple[Name, ...] = ()
        self._endings = endings(())
        self.lines = 1
        self.turned = False  # whether names are written upwards
        self._extra = 0.0
        self.share = share  # of the chart's width, at most, for names on its left
        super().__init__(orientation)
        self.setGrid(False)

    def set_names(self, names: Sequence[Name]) -> None:
        if tuple(names) != self.names:
            self.names = tuple(names)
            self._endings = endings(name.text for name in names)
            self.fit()
            self.redraw()

    def widest(self) -> Sequence[str]:
        return [name.text for name in self.names]

    def resizeEvent(self, ev: Any = None) -> None:
        super().resizeEvent(ev)
        self._fold()

    def _fold(self) -> None:
        """Take two lines where the names are too long for one."""
        if self.upright or not self.style["showValues"]:
            return
        metrics, width = QFontMetricsF(self.font), self.size().width()
        widest = max((metrics.horizontalAdvance(name.text) for name in self.names), default=0.0)
        each = width / max(1, len(self.names))
        self.lines = 2 if widest + 6 > each else 1
        height = metrics.height() + 6 + (self.lines - 1) * self._line()
        turned = not shortens() and widest + 6 > 2 * each and each >= self._line()
        longest = max((self._metrics(name).horizontalAdvance(name.text) for name in self.names), default=0.0)
        self._extra = max(0.0, min(MOST_UPWARDS, longest) + 12 - height) if turned else 0.0
        if self.fixedHeight != height + self._extra or turned != self.turned:
            self.turned = turned
            self.setHeight(height + self._extra)
            self.redraw()

    def _metrics(self, name: Name) -> QFontMetricsF:
        font = QFont(self.font)
        font.setBold(bool(name.role))
        return QFontMetricsF(font)

    @property
    def extra_height(self) -> float:
        return self._extra

    @property
    def left_out(self) -> int:
        if self.upright or not self.style["showValues"]:
            return 0
        specs = self.generateDrawSpecs(QPainter())
        return len(self.names) - len(specs[1]) if specs else 0

    def fit(self) -> None:
        super().fit()
        self._fold()
        view = self.getViewWidget()
        if self.upright and (special := [name.text for name in self.names if name.role]):  # which are bold
            bold = QFont(self.font)
            bold.setBold(True)
            self.setWidth(max(self.fixedWidth, max(map(QFontMetricsF(bold).horizontalAdvance, special)) + 8))
        if self.upright and view is not None and self.fixedWidth > self.share * view.width():
            self.setWidth(self.share * view.width())

    def index_at(self, at: QPointF) -> int | None:
        """Return the name at a position of the axis itself."""
        low, high = self.range
        length = self.size().height() if self.upright else self.size().width()
        part = (1 - at.y() / length if self.upright else at.x() / length) if length else -1.0
        index = math.floor(low + part * (high - low) + 0.5)
        return index if 0 <= part <= 1 and 0 <= index < len(self.names) else None

    def place_of(self, index: float) -> float:
        """Return the position of a name along the axis, in its own pixels."""
        low, high = self.range
        part = (index - low) / (high - low)
        return (1 - part) * self.size().height() if self.upright else part * self.size().width()

    def generateDrawSpecs(self, p: QPainter) -> Any:
        """Return what is drawn as (colour, rectangle) strips and (font, colour, rectangle, flags, text) names."""
        if not self.names or self.range[0] == self.range[1] or min(self.size().width(), self.size().height()) < 4:
            return None
        low, high = sorted(self.range)
        shown = range(max(0, math.floor(low + 0.5)), min(len(self.names), math.ceil(high + 0.5)))
        width = abs(self.place_of(1) - self.place_of(0))
        bold = QFont(self.font)
        bold.setBold(True)
        fonts = ((self.font, QFontMetricsF(self.font)), (bold, QFontMetricsF(bold)))
        if self.upright:
            return (), self._beside(shown, width, fonts)
        return self._strips(shown, width), (self._upwards if self.turned else self._below)(shown, width, fonts)

    def drawPicture(self, p: QPainter, strips: Any, names: Any) -> None:
        for colour, rect in strips:
            p.fillRect(rect, colour)
        p.rotate(-90.0 * self.turned)
        for font, colour, rect, flags, text in names:
            p.setFont(font)
            p.setPen(colour)
            p.drawText(rect, flags, text)
        p.rotate(90.0 * self.turned)

    def _strips(self, shown: range, width: float) -> list[Any]:
        gap, end, t = 1.5 if width > 8 else 0.0, self.size().width(), theme.current()
        inks = {role: QColor(getattr(t, role)) for role in {self.names[i].strip for i in shown} - {""}}
        origin, found = self.place_of(0), []
        for i in shown:
            left, right = origin + (i - 0.5) * width + gap, origin + (i + 0.5) * width - gap
            rect = QRectF(max(0.0, left), 1, max(0.0, min(end, right) - max(0.0, left)), self.names[i].thick)
            if self.names[i].strip:
                found.append((inks[self.names[i].strip], rect))
        return found

    def _below(self, shown: range, width: float, fonts: Any) -> list[Any]:
        view = self.getViewWidget()
        room = self.mapRectFromScene(QRectF(view.rect())) if view is not None else self.boundingRect()
        t, found, line = theme.current(), [], self._line()
        taken = [list[tuple[float, float]]() for _ in range(self.lines)]
        said: dict[str, str] = {}
        widest = max((fonts[0][1].horizontalAdvance(self.names[i].text) for i in shown), default=0.0)
        stride = max(1, math.ceil(min(LEAST, widest + 6) / max(width * self.lines, 0.1)))
        each = width * stride * self.lines - 6
        chosen = [i for i in shown if self.names[i].role or not i % stride]
        texts = self._texts(chosen, fonts, max(each, 40.0), max(each, 130.0))
        for i in sorted(shown, key=lambda i: not self.names[i].role):
            name = self.names[i]
            if not name.role and i % stride:
                continue
            font, metrics = fonts[bool(name.role)]
            text = texts[i]
            if said.setdefault(text, name.text) != name.text:
                continue  # no name is better than one that may be another layer's
            half = metrics.horizontalAdvance(text) / 2 + 4
            x = min(max(self.place_of(i), room.left() + half), room.right() - half)
            first = i // stride % self.lines
            for k in ((first + n) % self.lines for n in range(self.lines)):
                if not any(x - half < b and a < x + half for a, b in taken[k]):
                    taken[k].append((x - half, x + half))
                    rect = QRectF(x - half, 6.0 + k * line, 2 * half, metrics.height())
                    found.append((font, QColor(getattr(t, name.role or "muted")), rect, int(CENTRE), text))
                    break
        return found

    def _upwards(self, shown: range, width: float, fonts: Any) -> list[Any]:
        """Return names that end below their columns, in the axis turned by a quarter."""
        t, found, long = theme.current(), [], self.size().height() - 10
        texts = self._texts(shown, fonts, long, long)
        for i in shown:
            name = self.names[i]
            font, metrics = fonts[bool(name.role)]
            rect = QRectF(-long - 8, self.place_of(i) - metrics.height() / 2, long, metrics.height())
            found.append((font, QColor(getattr(t, name.role or "muted")), rect, int(RIGHT), texts[i]))
        return found

    def _texts(self, shown: Sequence[int], fonts: Any, room: float, special: float) -> dict[int, str]:
        """Return what is written of names, by their numbers: those of a kind are shortened alike."""
        texts: dict[int, str] = {}
        for (_, metrics), wide, bold in zip(fonts, (room, special), (False, True), strict=True):
            which = [i for i in shown if bool(self.names[i].role) is bold]
            made = alike(metrics, [self.names[i].text for i in which], wide, self._endings)
            texts |= dict(zip(which, made, strict=True))
        return texts

    def _line(self) -> float:
        return QFontMetricsF(self.font).height() - 1

    def _beside(self, shown: range, width: float, fonts: Any) -> list[Any]:
        line, t, found = 0.9 * fonts[0][1].height(), theme.current(), []
        stride, room = max(1, math.ceil(line / max(width, 0.1))), self.size().width() - 6
        special = [self.place_of(i) for i in shown if self.names[i].role]
        texts = self._texts(shown, fonts, room, room)
        for i in shown:
            name, y = self.names[i], self.place_of(i)
            if not name.role and (i % stride or any(abs(y - other) < line for other in special)):
                continue
            font = fonts[bool(name.role)][0]
            rect = QRectF(0, y - line, room, 2 * line)
            colour = QColor(getattr(t, name.role or "muted"))
            found.append((font, colour, rect, int(RIGHT), texts[i]))
        return found
