"""The network's answer before and after the transform, and along the orbit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QToolButton, QWidget

from explorer.declare.elements import transforms
from explorer.square.frame import Frame, OrbitCurve, Square
from explorer.state.state import State
from widgets.base.theme import Theme
from widgets.base.view import View, ViewSpec, Wish
from widgets.base.words import figure, subject
from widgets.charts.chart import RIGHT, Adaptive, Chart, draw_hair, faded, linear_ticks
from widgets.charts.orbit_chart import ElementChart, Trace
from widgets.stage.answers import Answer, answer_of, values_of

STILL = 1e-2  # relative change of an output below which its line lies in the middle of the axis
MOST = 10  # rows, when there are more classes than can be read
# Okabe and Ito's colours that both grounds carry, without the two of the models
LINES = ("#009e73", "#cc79a7", "#8a6fd1", "#b8860b", "#7f8fa6")


class BarChart(Chart):
    """Paired bars of F(x) and F(ρ(g) x), one pair a class."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.before: NDArray[Any] = np.zeros(0)
        self.after: NDArray[Any] = np.zeros(0)
        self.rows: list[int] = []
        self.ranked = False
        self.labels: tuple[str, ...] = ()
        self.role = "first"
        self.probabilities = False
        self._title, self._whose = "", ""
        self._written: tuple[str, str] | None = None
        self._extent: tuple[float, float] = (0.0, 1.0)
        self._epoch: object = None

    def show_square(self, square: Square | None, role: str, epoch: object, node: int | None = None) -> None:
        self.role = role
        answer = Answer() if square is None else answer_of(square, node)
        values = (np.zeros(0), np.zeros(0)) if square is None else values_of(square, answer)
        self.before, self.after = (np.asarray(v, dtype=float).ravel() for v in values)
        if square is None:
            self.message = "No answer yet. Choose a model and a sample."
        elif not self.before.size or self.before.size != self.after.size:
            self.message = f"{square.title} does not end in a list of numbers."
        else:
            self.message = ""
            self._title, self.probabilities = square.title, square.probabilities
            self.labels, self._whose, self._written = answer.labels, answer.whose, answer.written
            self.ranked = answer.each is not None
            self.rows = top_rows(self.before, self.after, ranked=self.ranked)
            self._stretch(epoch)
        self.update()

    def _stretch(self, epoch: object) -> None:
        """Keep the axis still during a drag: within one epoch it only grows."""
        if self.probabilities:
            self._extent, self._epoch = (0.0, 1.0), None
            return
        both = np.concatenate([self.before, self.after])[np.isfinite(np.concatenate([self.before, self.after]))]
        low, high = (float(both.min()), float(both.max())) if both.size else (0.0, 1.0)
        low, high = min(low, 0.0), max(high, 0.0)
        if epoch == self._epoch:
            low, high = min(low, self._extent[0]), max(high, self._extent[1])
        self._extent, self._epoch = (low, high if high > low else low + 1.0), epoch

    def label(self, index: int) -> str:
        return self.labels[index] if self.labels else str(index)

    def plot(self) -> QRectF:
        metrics, line = QFontMetricsF(self.small()), self.line()
        widest = max((metrics.horizontalAdvance(self.label(i)) for i in self.rows), default=0.0)
        left = min(widest + 14, (0.5 if self.ranked else 0.35) * self.width())
        right = metrics.horizontalAdvance("0.000  0.000") + 14 if self.width() > 260 else 6
        return QRectF(self.rect()).adjusted(left, line + 7, -right, -(line + 4))

    def shown(self) -> list[int]:
        """Return the rows there is room for, the most probable ones."""
        room = max(1, int(self.plot().height() / (0.92 * self.line())))
        if room >= len(self.rows):
            return self.rows
        best = sorted(self.rows, key=lambda i: -_height(self.before, self.after, i))[:room]
        return [i for i in self.rows if i in best]

    def _x(self, value: float) -> float:
        plot, (low, high) = self._drawn or self.plot(), self._extent
        return plot.left() + (min(max(value, low), high) - low) / (high - low) * plot.width()

    def paint(self, p: QPainter, t: Theme) -> None:
        plot, colour, rows = self.plot(), getattr(t, self.role), self.shown()
        p.fillRect(plot, QColor(t.plot))
        self._paint_axis(p, t)
        height = plot.height() / max(1, len(rows))
        # only a classifier's largest value is an answer; of a filter's mean responses none is
        first, second = (top(self.before), top(self.after)) if self.probabilities else (None, None)
        for k, i in enumerate(rows):
            box = QRectF(plot.left(), plot.top() + k * height, plot.width(), height)
            self._paint_row(p, t, i, box, colour, i in (first, second))
        self.paint_frame(p, t)
        before, after = self._written or ("nothing" if i is None else self.label(i) for i in (first, second))
        same = before == after if self._written else first == second
        answer = f"{before}, still" if same else f"{before} → {after}"
        parts = [(self._title, colour, True)]
        if self.probabilities:
            parts.append((answer, t.good if same else t.bad, True))
        if self._whose:
            parts.append((self._whose, t.muted, False))
        if len(rows) < self.before.size:
            parts.append((f"{len(rows)} of {self.before.size}", t.muted, False))
        self.paint_header(p, parts)
        half = (self.width() - plot.right() - 6) / 2
        for k, (name, ink) in enumerate((("F(x)", faded(colour, 150)), ("F(gx)", QColor(colour)))):
            if self.width() > 260:  # the heads of the columns of numbers are the legend of the bars
                p.setPen(ink)
                p.drawText(QRectF(plot.right() + 4 + k * half, 2, half - 2, self.line() + 2), RIGHT, name)

    def _paint_axis(self, p: QPainter, t: Theme) -> None:
        plot = self.plot()
        for tick in linear_ticks(*self._extent, max(2, int(plot.width() / 70))):
            x, text = self._x(tick), f"{tick:g}".replace("-", "−")
            p.setPen(QPen(faded(t.line, 150 if abs(tick) > 1e-12 else 255), 1))
            draw_hair(p, QPointF(x, plot.top()), QPointF(x, plot.bottom() + 3))
            half = QFontMetricsF(self.small()).horizontalAdvance(text) / 2 + 2
            p.setPen(QColor(t.muted))
            p.drawText(QRectF(x - half, plot.bottom() + 3, 2 * half, self.line()), Qt.AlignmentFlag.AlignCenter, text)

    def _paint_row(self, p: QPainter, t: Theme, i: int, box: QRectF, colour: str, best: bool) -> None:
        bar = min(9.0, 0.40 * box.height())
        pair = ((self.before[i], faded(colour, 110), -bar), (self.after[i], QColor(colour), 0.0))
        if i == top(self.after):
            p.fillRect(box, faded(t.accent, 22))
        zero = self._x(0.0)
        for value, ink, up in pair:
            if math.isnan(value):
                continue
            x = self._x(float(value))
            left, width = min(zero, x), max(abs(x - zero), 0.8)
            p.fillRect(QRectF(left, box.center().y() + up, width, bar - 0.5), ink)
        p.setFont(self._bold() if best else self.small())
        metrics = QFontMetricsF(p.font())
        label = metrics.elidedText(self.label(i), Qt.TextElideMode.ElideRight, box.left() - 10)
        p.setPen(QColor(t.text if best else t.muted))
        p.drawText(QRectF(0, box.top(), box.left() - 6, box.height()), RIGHT, label)
        p.setFont(self.small())
        if self.width() > 260:
            p.setPen(QColor(t.text if best else t.muted))
            half = (self.width() - box.right() - 6) / 2
            for k, value in enumerate((self.before[i], self.after[i])):
                rect = QRectF(box.right() + 4 + k * half, box.top(), half - 2, box.height())
                p.drawText(rect, RIGHT, _brief(float(value)))

    def read(self, at: QPointF) -> str:
        plot, rows = self.plot(), self.shown()
        k = math.floor((at.y() - plot.top()) / plot.height() * len(rows)) if plot.height() > 0 else -1
        if not 0 <= k < len(rows):
            return ""
        i = rows[k]
        whose = f"{self._whose}\n" if self._whose else ""
        return f"{whose}{self.label(i)}\nF(x) {figure(float(self.before[i]))}\nF(ρ(g) x) {figure(float(self.after[i]))}"

    def wheelEvent(self, event: Any) -> None:
        event.ignore()  # the horizontal axis is the values'


class LineChart(ElementChart):
    """The output along the orbit: one line for each of the leading classes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.classes: list[int] = []
        self.labels: tuple[str, ...] = ()
        self.answer, self.probabilities = Answer(), False
        self._extent = (0.0, 1.0)

    def changed(self) -> None:
        curve = self.traces[0].curve if self.traces else None
        outputs = curve.outputs if curve is not None else np.zeros((0, 0))
        if curve is None or outputs.ndim != 2 or not outputs.size:
            self.classes = []
            return
        values = np.where(np.isnan(outputs), -np.inf, outputs)
        order = np.argsort(-values.max(axis=0), kind="stable")
        self.classes = [int(i) for i in order[: len(LINES)]]
        known = self.answer.labels if len(self.answer.labels) == outputs.shape[1] else curve.labels
        self.labels = known if len(known) == outputs.shape[1] else ()
        finite = outputs[np.isfinite(outputs)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        inside = low >= 0 and high <= 1 + 1e-6
        self._extent = (0.0, 1.0) if inside else _roomy(low, high)

    def plot(self) -> QRectF:
        metrics = QFontMetricsF(self.small())
        left = max(metrics.horizontalAdvance(text) for text in ("−0.00", *map(_tick_text, self._yticks(3)))) + 8
        return QRectF(self.rect()).adjusted(left, self.line() + 7, -8, -(self.line() + 6))

    def _yticks(self, most: int) -> list[float]:
        return linear_ticks(*self._extent, most)

    def _y(self, value: float) -> float:
        plot, (low, high) = self._drawn or self.plot(), self._extent
        return plot.bottom() - (value - low) / (high - low) * plot.height()

    def paint(self, p: QPainter, t: Theme) -> None:
        self.keep(p, "lines", self.drawn_key(), lambda q: self._paint_lines(q, t))
        self.paint_cursor(p, t)
        parts = [(self.element_text(), t.accent, True)]
        if self.answer.whose:
            parts.append((self.answer.whose, t.muted, False))
        self.paint_header(p, parts, [("line", _cut(self._label(i)), c) for c, i in zip(LINES, self.classes)])

    def _paint_lines(self, p: QPainter, t: Theme) -> None:
        plot = self.plot()
        p.fillRect(plot, QColor(t.plot))
        for tick in self._yticks(max(1, int(plot.height() / (1.6 * self.line())))):
            y = self._y(tick)
            p.setPen(QPen(faded(t.line, 150), 1))
            draw_hair(p, QPointF(plot.left(), y), QPointF(plot.right(), y))
            p.setPen(QColor(t.muted))
            p.drawText(QRectF(0, y - 10, plot.left() - 5, 20), RIGHT, _tick_text(tick))
        self.paint_axis(p, t)
        p.save()
        p.setClipRect(plot.adjusted(-1, -1, 1, 1))
        p.setBrush(Qt.BrushStyle.NoBrush)
        curve = self.traces[0].curve
        us = self.us(curve.values)
        for colour, i in zip(LINES, self.classes):
            points = [QPointF(self.x_of(u), self._y(v)) for u, v in zip(us, curve.outputs[:, i]) if math.isfinite(v)]
            p.setPen(QPen(QColor(colour), 1.6 if self.ordered else 3.4, c=Qt.PenCapStyle.RoundCap))
            p.drawPolyline(QPolygonF(points)) if self.ordered else p.drawPoints(QPolygonF(points))
        p.restore()
        self.paint_frame(p, t)

    def _label(self, index: int) -> str:
        return self.labels[index] if self.labels else str(index)

    def read(self, at: QPointF) -> str:
        if not self.traces or not self.plot().contains(at):
            return ""
        curve = self.traces[0].curve
        i = self.nearest(self.traces[0], at)
        if i is None:
            return ""
        lines = [f"{curve.model} at {self.text_of(float(curve.values[i]))}"]
        return "\n".join(lines + [f"{self._label(c)} {figure(float(curve.outputs[i, c]))}" for c in self.classes])


class OutputView(View):
    """Class probabilities (or signed values) of F(x) and F(ρ(g) x), for one or two models."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._frame: Frame | None = None
        self._state: State | None = None  # the person's choice, which a late frame does not know yet
        self._curves: tuple[OrbitCurve, ...] = ()
        self.bars = (BarChart(self), BarChart(self))
        self.lines = (LineChart(self), LineChart(self))
        self.along = QToolButton(self)
        self.along.setText("∿")
        self.along.setAccessibleName("Along the orbit")
        self.along.setCheckable(True)
        self.along.setChecked(True)
        self.along.setToolTip("Also draw the leading outputs along the orbit")
        self.along.setProperty("chrome", True)
        self.along.toggled.connect(lambda on: self._refresh())
        row = Adaptive(self)
        row.setContentsMargins(4, 0, 0, 0)
        row.setSpacing(6)
        for bars, lines in zip(self.bars, self.lines):
            row.addWidget(bars, 1)
            row.addWidget(lines, 1)
            bars.hovered.connect(self.hovered)
            lines.hovered.connect(self.hovered)
            lines.moved.connect(self._moved)
        row.addWidget(self.along, 0, Qt.AlignmentFlag.AlignTop)
        self._refresh()

    def show_frame(self, frame: Frame | None) -> None:
        self._frame = frame
        self._refresh()

    def set_state(self, state: State) -> None:
        """Let the element's line follow at once."""
        self._state = state
        self._when_visible("state", self._refresh)

    def show_orbit(self, curves: tuple[OrbitCurve, ...]) -> None:
        self._curves = curves
        self._refresh()

    def _refresh(self) -> None:
        frame = self._frame
        squares = frame.squares if frame is not None else ()
        self.along.setVisible(bool(squares) and any(c.outputs.size for c in self._curves))
        room = self._room(max(1, len(squares)))
        for k, (bars, lines, role) in enumerate(zip(self.bars, self.lines, ("first", "second"))):
            square = squares[k] if k < len(squares) else None
            bars.setVisible(k == 0 or square is not None)
            node = frame.state.node if frame is not None else None
            bars.show_square(square, role, (frame.state.epoch, node) if frame is not None else None, node)
            curve = self._curves[k] if k < len(self._curves) else None
            drawn = square is not None and curve is not None and curve.outputs.size > 0 and room and not bars.ranked
            lines.setVisible(drawn)
            transform = transforms().get(curve.transform) if curve is not None else None
            if drawn and curve is not None and frame is not None and transform is not None and square is not None:
                lines.answer = answer_of(square, curve.state.node)  # the curve may be that of the node before
                index = transform.orbit or 0
                step = (self._state or frame.state).step(transform.name)
                value = (step.values if step is not None else transform.defaults)[index]
                lines.show_traces([Trace(curve, "", "", role)], transform.params[index], value)

    def _room(self, models: int) -> bool:
        """Say whether the lines along the orbit are wanted and fit beside (or below) the bars."""
        flat = self.width() >= 2 * self.height()
        return self.along.isChecked() and (self.width() / models >= 520 if flat else self.height() / models >= 240)

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._refresh()

    def _moved(self, value: float, done: bool) -> None:
        if self._frame is None or not self._curves:
            return
        transform = transforms()[self._curves[0].transform]
        step = (self._state or self._frame.state).step(transform.name)
        values = list(step.values if step is not None else transform.defaults)
        values[transform.orbit or 0] = value
        self.wished.emit(Wish(step=(transform.name, tuple(values)), tag="orbit", done=done))

    def numbers(self) -> dict[str, NDArray[Any]]:
        found: dict[str, NDArray[Any]] = {}
        for k, square in enumerate(self._frame.squares if self._frame is not None else ()):
            before = "compare." if k else ""
            answer = answer_of(square, self._frame.state.node if self._frame is not None else None)
            if answer.labels:
                found[f"{before}label"] = np.array(answer.labels, dtype=np.str_)
            found[f"{before}F(x)"], found[f"{before}F(gx)"] = values_of(square, answer)
        return found

    def caption(self) -> str:
        if self._frame is None or not self._frame.squares:
            return ""
        what = "Class probabilities" if self._frame.squares[0].probabilities else "Outputs"
        whose = answer_of(self._frame.squares[0], self._frame.state.node).whose
        of = f" ({whose})" if whose else ""
        return f"{what} of F(x) and F(ρ(g) x){of}: {subject(self._frame)}."

    def apply_theme(self) -> None:
        for chart in (*self.bars, *self.lines):
            chart.update()


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
    return "NaN" if math.isnan(value) else f"{value:.3f}" if abs(value) < 10 else figure(value)


def _roomy(low: float, high: float) -> tuple[float, float]:
    """Return the ends of an axis: rounding of a constant must not fill it."""
    least = STILL * max(abs(low), abs(high))
    if high - low >= least > 0:
        return low, high
    middle, half = (low + high) / 2, (least or 1.0) / 2
    return middle - half, middle + half


def _tick_text(value: float) -> str:
    return f"{value:.6g}".replace("-", "−")


def _cut(text: str, most: int = 14) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


VIEW = ViewSpec("output", "Output", OutputView, "bottom", 2, "The network's answer before and after the transform.")

if __name__ == "__main__":
    from types import SimpleNamespace

    from widgets.base.preview import preview

    def fill(view: OutputView, samples: SimpleNamespace) -> None:
        view.set_frame(samples.make_frame(compare=True))
        view.set_orbit((samples.make_orbit(), samples.make_orbit("plain-cnn")))

    preview(OutputView, fill)
