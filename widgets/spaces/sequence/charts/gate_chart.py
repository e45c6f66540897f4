"""Histograms of gates in a row, and the spectrum of forgetting times."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from widgets.base.look import theme
from widgets.base.look.alignment import CENTRE
from widgets.base.text.glossary import say
from widgets.base.text.words import figure
from widgets.charts.axis.axes import LogAxis, ValueAxis
from widgets.charts.inks import faded, mixed
from widgets.charts.items.curve import Curve
from widgets.charts.items.marks import DOT, Columns, Marks, fill, ink, level
from widgets.charts.library import pg
from widgets.charts.plot import Plot
from widgets.spaces.sequence.charts.gate_statistics import LONGEST, Counted, Forgetting

FEW = 256  # units at most that have a dot each
OF = " · "  # between a gate and its model, of two
LOW = 44  # pixels of a histogram's height, below which nothing is written under it
NARROW = 110  # pixels of a histogram at least, where there is room for more than one


class EndsAxis(ValueAxis):
    """The ends of an axis, and between them some words where there is room."""

    def __init__(self) -> None:
        self.words = ""
        super().__init__("bottom", text=figure)
        self.setGrid(False)

    def say(self, words: str) -> None:
        if words != self.words:
            self.words = words
            self.redraw()

    def ticks(self, low: float, high: float, most: int) -> list[float]:
        return [low, high]

    def generateDrawSpecs(self, p: QPainter) -> Any:
        specs = super().generateDrawSpecs(p)
        if specs is None or len(specs[2]) != 2:
            return specs
        width, ends = QFontMetricsF(self.font).horizontalAdvance(self.words), [text[0] for text in specs[2]]
        free = QRectF(ends[0].topRight(), ends[1].bottomLeft())
        if width + 8 > free.width():
            return specs
        x = min(max(self.size().width() / 2, free.left() + 4 + width / 2), free.right() - 4 - width / 2)
        place = QRectF(x - width / 2, free.top(), width, free.height())
        return specs[0], specs[1], [*specs[2], (place, CENTRE | Qt.TextFlag.TextDontClip, self.words)]


class Histogram(Plot):
    """One gate: F(x) as bars, F(rho(g) x) as an outline, the mean as an upright line."""

    clicked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        self.ends = EndsAxis()
        super().__init__(parent, left=ValueAxis("left"), bottom=self.ends)
        self.left.setStyle(showValues=False)
        self.left.setGrid(False)
        self.frame.layout.setContentsMargins(0, 0, 0, 0)
        self.box.setMouseEnabled(x=False, y=False)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.one: Counted | None = None
        self.name, self.role, self.own = "", "first", False
        self.brief = ""  # the name of the gate alone, where there is no room for its model's too
        self.middle = self.add(level(0.0, "#000000", upright=True))
        self.bars = self.add(Columns(), 1)
        self.outline = self.add(pg.PlotCurveItem([0.0, 1.0], [0.0], stepMode="center"), 2)
        self.mean = self.add(level(0.0, "#000000", upright=True), 3)
        self.set_fonts()
        self.dress()

    def show_counted(self, one: Counted, name: str, role: str, own: bool) -> None:
        """Show a histogram; `own` is that of the selected layer."""
        changed = (role, own) != (self.role, self.own)
        self.one, self.name, self.role, self.own = one, name, role, own
        top = max(float(one.share.max()), float(one.moved.max()) if one.moved is not None else 0.0) or 1.0
        self.set_ranges((float(one.edges[0]), float(one.edges[-1])), (0.0, 1.02 * top))
        self.bars.set_columns(one.edges[:-1], one.edges[1:], 0.0, one.share)
        self.outline.setVisible(one.moved is not None)
        if one.moved is not None:
            self.outline.setData(one.edges, one.moved)
        self.middle.setVisible(not one.gate)
        self.mean.setVisible(math.isfinite(one.mean))
        self.mean.setPos(one.mean if math.isfinite(one.mean) else 0.0)
        self.ends.say(f"mean {figure(one.mean)}")
        if changed:
            self.dress()
        self._write()

    def has_room(self) -> bool:
        """Return whether the whole name fits above the bars."""
        return QFontMetricsF(self.header.bold).horizontalAdvance(say(self.name)) <= self.width() - 2

    def shorten(self, brief: str) -> None:
        """Write a shorter name, "" for the whole one."""
        if brief != self.brief:
            self.brief = brief
            self._write()

    def _write(self) -> None:
        t = theme.current()
        ink = getattr(t, self.role) if self.brief else t.accent if self.own else t.text
        self.header.write([(self.brief or self.name, ink, bool(self.brief) and self.own)])

    def dress(self) -> None:
        super().dress()
        if not hasattr(self, "mean"):
            return
        t = theme.current()
        colour = getattr(t, self.role)
        self.bars.setOpts(brush=mixed(colour, t.plot, 0.5))  # opaque: the edges of neighbours do not add up
        self.outline.setPen(ink(t.text))
        self.middle.setPen(ink(t.line))
        self.mean.setPen(ink(colour, 1.4))
        self._write()

    def arrange(self) -> None:
        if hasattr(self, "mean"):
            self.ends.setStyle(showValues=self.height() >= LOW)  # a low one keeps its bars
        super().arrange()

    def read(self, at: QPointF) -> str:
        one = self.one
        if one is None:
            return ""
        words = f"{self.name}: {figure(one.low)} to {figure(one.high)}, mean {figure(one.mean)}"
        if one.gate:
            words += f"\n{one.shut:.0%} shut (below 0.1), {one.open:.0%} open (above 0.9)"
        i = int(np.searchsorted(one.edges, at.x(), side="right")) - 1
        if 0 <= i < len(one.share):
            words += f"\n{one.share[i]:.2%} in {figure(float(one.edges[i]))} to {figure(float(one.edges[i + 1]))}"
        return words + "\nfilled: F(x), outline: F(ρ(g)x), upright line: the mean"

    def clicked_at(self, at: QPointF) -> None:
        if self.one is not None:
            self.clicked.emit(self.one.name)


class HistogramChart(QWidget):
    """One small histogram for each gate, as many in a row as there is room for."""

    clicked, hovered = Signal(str), Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.counted: list[Counted] = []
        self.roles = ["first"]
        self.plots: list[Histogram] = []
        self._sentence = QLabel(self)
        self._sentence.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._sentence.setWordWrap(True)

    @property
    def message(self) -> str:
        """Return what is shown instead of histograms."""
        return self._sentence.text()

    @message.setter
    def message(self, text: str) -> None:
        self._sentence.setText(text)
        self._sentence.setVisible(bool(text))

    def show_counted(self, counted: list[Counted], names: list[str], roles: list[str], selected: str) -> None:
        self.counted, self.roles = counted, roles
        while len(self.plots) < len(counted):
            plot = Histogram(self)
            plot.clicked.connect(self.clicked)
            plot.hovered.connect(self.hovered)
            self.plots.append(plot)
        for plot, one, name, role in zip(self.plots, counted, names, roles):
            plot.show_counted(one, name, role, one.name == selected)
        self._arrange()
        for k, plot in enumerate(self.plots):
            plot.setVisible(k < len(counted))

    def _arrange(self) -> None:
        self._sentence.setGeometry(self.rect().adjusted(12, 4, -12, -4))
        if not self.counted:
            return
        n, room = len(self.counted), self.rect().adjusted(10, 2, -2, -2)
        columns = max(1, min(n, room.width() // NARROW))
        rows = -(-n // columns)
        columns = -(-n // rows)  # no row is left with one of them
        width, height = room.width() / columns, room.height() / rows
        for k, plot in enumerate(self.plots[:n]):
            left, top = room.left() + k % columns * width, room.top() + k // columns * height
            plot.setGeometry(round(left), round(top), max(20, round(width) - 8), max(20, round(height) - 2))
        # one that is cut says less than a colour does, which then tells all models apart
        short = not all(plot.has_room() for plot in self.plots[:n])
        for plot in self.plots[:n]:
            plot.shorten(plot.name.partition(OF)[0] if short and OF in plot.name else "")

    def resizeEvent(self, event: Any) -> None:
        self._arrange()

    def minimumSizeHint(self) -> QSize:
        return QSize(80, 60)

    def sizeHint(self) -> QSize:
        return QSize(420, 160)

    def dress(self) -> None:
        """Take the colours of the theme."""
        self._sentence.setStyleSheet(f"color: {theme.current().muted};")
        for plot in self.plots:
            plot.dress()


class SpectrumItems:
    """The items of one model: the forgetting times, their quartiles as a band, and the selected unit."""

    def __init__(self, chart: ForgettingChart, role: str) -> None:
        self.role = role
        self.low, self.high = chart.add(pg.PlotCurveItem()), chart.add(pg.PlotCurveItem())
        self.band = chart.add(pg.FillBetweenItem(self.low, self.high))
        self.line = chart.add(Curve(), 2)
        self.dots, self.chosen = chart.add(Marks(symbol=DOT), 3), chart.add(Marks(symbol=DOT), 4)

    def show(self, found: Forgetting | None, top: float, unit: int | None) -> None:
        """Show the times in decades, those beyond the axis at its end."""
        x = np.arange(len(found.times) if found is not None else 0, dtype=float)
        sides = (found.times, found.low, found.high) if found is not None else 3 * (x,)
        times, low, high = (np.log10(np.clip(side, 1.0, 10.0**top)) for side in sides)
        self.band.setVisible(found is not None)
        self.low.setData(x, low)
        self.high.setData(x, high)
        self.line.setData(x, times)
        few = x.size <= FEW
        self.dots.set_marks(x if few else x[:0], times if few else times[:0], 4.6)
        own = found.order == unit if found is not None else np.zeros(0, bool)
        self.chosen.set_marks(x[own], times[own], 9)

    def dress(self) -> None:
        colour = getattr(theme.current(), self.role)
        for side in (self.low, self.high):
            side.setPen(None)
        self.band.setBrush(faded(colour, 50))
        self.line.setPen(ink(colour, 1.3))
        for marks in (self.dots, self.chosen):
            marks.setPen(None)
            marks.setBrush(fill(colour))


class ForgettingChart(Plot):
    """Units sorted by how long they remember: 1 / gamma on a logarithmic axis, with the quartiles over the steps."""

    picked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, left=LogAxis("left"), bottom=ValueAxis("bottom", whole=True))
        self.bottom.end = "units, sorted"
        self.bottom.setGrid(False)
        self.found: list[tuple[Forgetting, str, str]] = []
        self.models = (SpectrumItems(self, "first"), SpectrumItems(self, "second"))
        self.length = self.add(pg.InfiniteLine(0, angle=0, label="", labelOpts=LABEL), 1)
        self.dress()

    def show_found(self, found: list[tuple[Forgetting, str, str]], steps: int, unit: int | None) -> None:
        """Show (times, title, role) of each model; `steps` is the length of the recording."""
        self.found = found
        longest = max((float(f.times.max()) for f, _, _ in found if f.times.size), default=10.0)
        top = float(math.ceil(math.log10(max(10.0, min(LONGEST, max(longest, steps))))))
        count = max((len(f.times) for f, _, _ in found), default=1)
        self.set_ranges((-0.5, max(0.5, count - 0.5)), (0.0, top))
        for k, items in enumerate(self.models):
            items.show(found[k][0] if k < len(found) else None, top, unit)
        self.length.setPos(math.log10(max(1, steps)))
        self.length.label.setFormat(f"{steps} steps of x")
        self._write()

    def _write(self) -> None:
        parts: list[tuple[str, str, bool]] = []
        for found, title, role in self.found:
            law = "γ = 1 − gate" if found.remembers else "γ = gate"
            middle = figure(float(np.median(found.times)) if len(found.times) else math.nan)
            words = f"{title}: forgetting time 1/γ, {law}, median {middle} steps"
            if len(self.found) > 1:
                words = f"{title}: median 1/γ {middle} steps"
            parts.append((words, getattr(theme.current(), role), True))
        self.header.write(parts)

    def dress(self) -> None:
        super().dress()
        if not hasattr(self, "length"):
            return
        t = theme.current()
        for items in self.models:
            items.dress()
        self.length.setPen(ink(t.muted, 1.0, 255, Qt.PenStyle.DashLine))
        self.length.label.setColor(t.muted)
        self.length.label.setFont(self.small())
        self._write()

    def index_at(self, at: QPointF) -> int | None:
        """Return the rank of the unit at a position in the plot."""
        i = math.floor(at.x() + 0.5)
        inside = bool(self.found) and self.box.viewRect().contains(at)
        return i if inside and 0 <= i < len(self.found[0][0].times) else None

    def read(self, at: QPointF) -> str:
        i = self.index_at(at)
        if i is None:
            return ""
        lines = []
        for found, title, _ in self.found:
            if i < len(found.times):
                between = f"{figure(float(found.low[i]))} to {figure(float(found.high[i]))}"
                lines.append(
                    f"{title} unit {found.order[i]}: remembers {figure(float(found.times[i]))} steps "
                    f"(half of the time {between})"
                )
        return "\n".join(lines)

    def clicked_at(self, at: QPointF) -> None:
        if (i := self.index_at(at)) is not None:
            self.picked.emit(int(self.found[0][0].order[i]))


LABEL = {"position": 0.01, "anchors": [(0, 0), (0, 1)]}
