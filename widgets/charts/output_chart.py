"""Charts of a network's answer: paired bars of its values, and lines along the orbit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QWidget

from explorer.declare.params import Param
from explorer.declare.telling.numerals import with_minus
from explorer.square.drawing.answer import Answer, values_of
from explorer.square.drawing.asked_answer import answer_of
from explorer.square.frame import Square
from widgets.base.look import theme
from widgets.base.text.words import figure
from widgets.charts.axis.axes import Name, NameAxis, ValueAxis
from widgets.charts.element_chart import ElementChart, Trace
from widgets.charts.inks import faded, mixed
from widgets.charts.items.curve import Curve
from widgets.charts.items.header import Header
from widgets.charts.items.marks import DOT, Columns, fill, ink, level
from widgets.charts.plot import Plot

STILL = 1e-2  # relative change of an output below which its line lies in the middle of the axis
MARGIN = 0.04  # of the range of curves, above and below them
MOST = 10  # rows, when there are more classes than can be read
# Okabe and Ito's colours that both grounds carry, without the two of the models
LINES = ("#009e73", "#cc79a7", "#8a6fd1", "#b8860b", "#7f8fa6")


class BarChart(Plot):
    """Paired bars of F(x) and F(ρ(g) x), one pair a class."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self.names = NameAxis("left")
        super().__init__(parent, left=self.names, bottom=ValueAxis("bottom"))
        self.before: NDArray[Any] = np.zeros(0)
        self.after: NDArray[Any] = np.zeros(0)
        self.rows: list[int] = []
        self.shown: list[int] = []  # the rows there is room for, the most probable ones
        self.ranked = False
        self.labels: tuple[str, ...] = ()
        self.role = "first"
        self.probabilities = False
        self.whose = ""
        self.written: tuple[str, str] | None = None
        self._title = ""
        self._epoch: object = None
        self.extent: tuple[float, float] = (0.0, 1.0)
        self.box.setMouseEnabled(x=False, y=False)  # the horizontal axis is the values'
        self.box.invertY(True)
        self.best = self.add(Columns())
        self.bars = (self.add(Columns(), 1), self.add(Columns(), 1))
        self.zero = self.add(level(0.0, theme.current().line, upright=True), 2)
        self.figures = (NameAxis("right"), NameAxis("right"))
        self.heads = (Header(), Header())  # of the columns of numbers: they are the legend of the bars
        for k, (figures, head) in enumerate(zip(self.figures, self.heads)):
            self.item.layout.addItem(figures, 2, 3 + k)
            self.item.layout.addItem(head, 0, 3 + k)
            figures.linkToView(self.box)
        self.set_fonts()
        self.dress()

    def show_square(self, square: Square | None, role: str, epoch: object, node: int | None = None) -> None:
        if role != self.role:
            self.role = role
            self.dress()
        answer = Answer() if square is None else answer_of(square, node)
        values = (np.zeros(0), np.zeros(0)) if square is None else values_of(square, answer)
        self.before, self.after = (np.asarray(v, dtype=float).ravel() for v in values)
        if square is None:
            self.rows, self.message = [], "No answer yet: it stands here once the network has answered."
        elif not self.before.size or self.before.size != self.after.size:
            self.rows = []
            self.message = f"{square.title} does not end in a list of numbers."
            if square.message and not self.before.size:
                self.message = f"There is no answer: {square.message}."
        else:
            self._title, self.probabilities = square.title, square.probabilities
            self.labels, self.whose, self.written = answer.labels, answer.whose, answer.written
            self.ranked = answer.each is not None
            self.rows = top_rows(self.before, self.after, ranked=self.ranked)
            self._stretch(epoch)
            self.message = ""
            self._update()

    def _stretch(self, epoch: object) -> None:
        """Keep the axis still during a drag: within one epoch it only grows."""
        if self.probabilities:
            self.extent, self._epoch = (0.0, 1.0), None
            return
        both = np.concatenate([self.before, self.after])[np.isfinite(np.concatenate([self.before, self.after]))]
        low, high = (float(both.min()), float(both.max())) if both.size else (0.0, 1.0)
        low, high = min(low, 0.0), max(high, 0.0)
        if epoch == self._epoch:
            low, high = min(low, self.extent[0]), max(high, self.extent[1])
        self.extent, self._epoch = (low, high if high > low else low + 1.0), epoch

    def label(self, index: int) -> str:
        return self.labels[index] if self.labels else str(index)

    def _room(self) -> list[int]:
        """Return the rows there is room for, the most probable ones."""
        room = max(1, int(self.plotted.height() / (0.92 * QFontMetricsF(self.small()).height())))
        if room >= len(self.rows):
            return self.rows
        best = sorted(self.rows, key=lambda i: -_height(self.before, self.after, i))[:room]
        return [i for i in self.rows if i in best]

    # drawing --------------------------------------------------------------------------------------------------
    def _update(self) -> None:
        """Hand the rows that there is room for to the items."""
        if not self.rows:
            return
        self.shown = self._room()
        # only a classifier's largest value is an answer; of a filter's mean responses none is
        best = (top(self.before), top(self.after)) if self.probabilities else ()
        self.names.share = 0.5 if self.ranked else 0.35
        self.names.set_names([Name(self.label(i), "text" if i in best else "") for i in self.shown])
        for figures, values in zip(self.figures, (self.before, self.after)):
            figures.set_names([Name(_brief(float(values[i])), "text" if i in best else "") for i in self.shown])
        self.set_ranges(self.extent, (-0.5, len(self.shown) - 0.5))
        rows = np.arange(len(self.shown))
        bar = min(9.0 / max(self.pixels().y(), 1e-9), 0.4)
        least = 0.8 / max(self.pixels().x(), 1e-9)
        for item, values, up in zip(self.bars, (self.before, self.after), (-bar, 0.0)):
            ends = np.clip(values[self.shown], *self.extent)
            ends = np.where(np.abs(ends) < least, np.where(ends < 0, -least, least), ends)
            item.set_columns(
                np.fmin(ends, 0) + 0 * ends, np.fmax(ends, 0) + 0 * ends, rows + up, rows + up + 0.94 * bar
            )
        first = np.array([k for k, i in enumerate(self.shown) if i == top(self.after)], dtype=float)
        self.best.set_columns(*self.extent, first - 0.5, first + 0.5)
        self._write()

    def _write(self) -> None:
        t = theme.current()
        colour = getattr(t, self.role)
        first, second = (top(self.before), top(self.after)) if self.probabilities else (None, None)
        before, after = self.written or ("nothing" if i is None else self.label(i) for i in (first, second))
        same = before == after if self.written else first == second
        parts = [(self._title, colour, True)]
        if self.probabilities:
            parts.append((f"{before}, still" if same else f"{before} → {after}", t.good if same else t.bad, True))
        if self.whose:
            parts.append((self.whose, t.muted, False))
        if len(self.shown) < self.before.size:
            parts.append((f"{len(self.shown)} of {self.before.size}", t.muted, False))
        self.header.write(parts)
        for head, name, part in zip(self.heads, ("F(x)", "F(gx)"), (0.6, 1.0)):
            head.write([(name, mixed(colour, t.panel, part).name(), False)])

    def arrange(self) -> None:
        if hasattr(self, "heads"):
            wide, bold = self.width() > 260, self.small()
            bold.setBold(True)
            for item in (*self.figures, *self.heads):
                item.setVisible(wide)
            for figures, head in zip(self.figures, self.heads):
                width = QFontMetricsF(bold).horizontalAdvance("−0.000") + 10 if wide else 0.0  # the answer's is bold
                figures.setWidth(width)
                head.setFixedWidth(width)
        super().arrange()

    def reshaped(self) -> None:
        self._update()

    def set_fonts(self) -> None:
        super().set_fonts()
        if hasattr(self, "heads"):
            for figures, head in zip(self.figures, self.heads):
                figures.set_font(self.small())
                head.set_font(self.small(), right=True)

    def dress(self) -> None:
        super().dress()
        if hasattr(self, "heads"):
            t = theme.current()
            colour = getattr(t, self.role)
            self.best.setOpts(brush=faded(t.accent, 22))
            for item, alpha in zip(self.bars, (110, 255)):
                item.setOpts(brush=fill(colour, alpha))
            self.zero.setPen(ink(t.line))
            for figures in self.figures:
                figures.dress()
            self._update()

    def read(self, at: QPointF) -> str:
        k = math.floor(at.y() + 0.5)
        if not 0 <= k < len(self.shown):
            return ""
        i = self.shown[k]
        whose = f"{self.whose}\n" if self.whose else ""
        return f"{whose}{self.label(i)}\nF(x) {figure(float(self.before[i]))}\nF(ρ(g) x) {figure(float(self.after[i]))}"


class LineChart(ElementChart):
    """The output along the orbit: one line for each of the leading classes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, ValueAxis("left", _tick_text))
        self.classes: list[int] = []
        self.labels: tuple[str, ...] = ()
        self.answer, self.probabilities = Answer(), False
        self.extent = (0.0, 1.0)
        self.lines = tuple(self.add(Curve(), 1) for _ in LINES)
        for line, colour in zip(self.lines, LINES):
            line.setSymbolBrush(fill(colour))
            line.setSymbolPen(None)
            line.setSymbolSize(3.4)
            self.header.add_key(line, "")
        self.dress()

    def heights(self) -> tuple[float, float]:
        return self.extent

    def show_traces(self, traces: Sequence[Trace], param: Param | None, value: float) -> None:
        curve = traces[0].curve if traces else None
        outputs = curve.outputs if curve is not None else np.zeros((0, 0))
        if curve is None or outputs.ndim != 2 or not outputs.size:
            self.classes = []
        else:
            values = np.where(np.isnan(outputs), -np.inf, outputs)
            order = np.argsort(-values.max(axis=0), kind="stable")
            self.classes = [int(i) for i in order[: len(LINES)]]
            known = self.answer.labels if len(self.answer.labels) == outputs.shape[1] else curve.labels
            self.labels = known if len(known) == outputs.shape[1] else ()
            finite = outputs[np.isfinite(outputs)]
            low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
            inside = low >= 0 and high <= 1 + 1e-6
            self.extent = _roomy(0.0, 1.0) if inside else _roomy(low, high)
        super().show_traces(traces, param, value)

    def drawn(self) -> object:
        return super().drawn(), self.answer.labels

    def changed(self) -> None:
        self.left.fit()
        ordered = self.course.ordered
        for line, colour in zip(self.lines, LINES):
            line.setPen(ink(colour, 1.6) if ordered else None)
            line.setSymbol(None if ordered else DOT)
        for k, line in enumerate(self.lines):
            line.setVisible(k < len(self.classes))
            if k < len(self.classes):
                curve = self.traces[0].curve
                values = np.asarray(curve.outputs[:, self.classes[k]], dtype=float)
                line.setData(self.course.places(curve.values), np.where(np.isfinite(values), values, np.nan))
        self.header.name_keys({line: _cut(self._label(i)) for line, i in zip(self.lines, self.classes)})

    def write(self) -> None:
        t = theme.current()
        parts = [(self.element_text(), t.accent, True)]
        if self.answer.whose:
            parts.append((self.answer.whose, t.muted, False))
        self.header.write(parts)

    def dress(self) -> None:
        super().dress()
        if hasattr(self, "lines"):
            self.write()

    def _label(self, index: int) -> str:
        return self.labels[index] if self.labels else str(index)

    def read(self, at: QPointF) -> str:
        if not self.traces or not self.box.viewRect().contains(at):
            return ""
        curve = self.traces[0].curve
        i = self.nearest(self.traces[0], at)
        if i is None:
            return ""
        lines = [f"{curve.model} at {self.course.text(float(curve.values[i]))}"]
        return "\n".join(lines + [f"{self._label(c)} {figure(float(curve.outputs[i, c]))}" for c in self.classes])


def top(values: NDArray[Any]) -> int | None:
    """Return the index of the largest value, None when there is none (all not a number)."""
    return None if not values.size or np.isnan(values).all() else int(np.nanargmax(values))


def _height(before: NDArray[Any], after: NDArray[Any], i: int) -> float:
    return float(np.nan_to_num(max(before[i], after[i], key=lambda v: -math.inf if math.isnan(v) else v), nan=-1e300))


def top_rows(before: NDArray[Any], after: NDArray[Any], most: int = MOST, ranked: bool = False) -> list[int]:
    """Return the classes to draw: all in their order, or the leading ones of either answer; these also if `ranked`.

    Those are ordered by F(x), which does not change while the element does: rows keep still during a drag.
    """
    n = before.size
    if n <= most + 2 and not ranked:
        return list(range(n))
    either = np.fmax(np.nan_to_num(before, nan=-np.inf), np.nan_to_num(after, nan=-np.inf))
    leading = np.argsort(-either, kind="stable")[:most]
    return [int(i) for i in sorted(leading, key=lambda i: (-np.nan_to_num(before[i], nan=-np.inf), i))]


def _brief(value: float) -> str:
    return "NaN" if math.isnan(value) else with_minus(f"{value:.3f}") if abs(value) < 10 else figure(value)


def _roomy(low: float, high: float) -> tuple[float, float]:
    """Return the ends of an axis: rounding of a constant must not fill it, and its frame hides no curve."""
    least = STILL * max(abs(low), abs(high))
    if high - low >= least > 0:
        beyond = MARGIN * (high - low)
        return low - beyond, high + beyond
    middle, half = (low + high) / 2, (least or 1.0) / 2
    return middle - half, middle + half


def _tick_text(value: float) -> str:
    return with_minus(f"{value:.6g}")


def _cut(text: str, most: int = 14) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
