"""Charts over a one-parameter family of elements: the error's curves, and all layers at once as a heat map."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from explorer.declare.elements import transforms
from explorer.declare.params import Param
from explorer.square.frame import OrbitCurve
from widgets.base import theme
from widgets.base.theme import Theme
from widgets.base.words import figure
from widgets.charts.chart import CENTRE, LEFT, RIGHT, Chart, draw_hair, draw_mark, faded, linear_ticks

SNAP = 5.0  # pixels within which a dragged line falls on an exact element
TURNS = (1, 2, 5, 10, 15, 30, 45, 90, 180)
_COLUMNS = 720  # of the heat map's picture


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """One model's curve with the layers to draw and the colour's role in the theme."""

    curve: OrbitCurve
    layer: str
    output: str
    role: str

    def errors(self, layer: str) -> NDArray[Any]:
        return np.asarray(self.curve.errors.get(layer, np.full(len(self.curve.values), np.nan)), dtype=float)

    def floor(self) -> NDArray[Any]:
        return np.asarray(self.curve.floor.get(self.layer, np.full(len(self.curve.values), np.nan)), dtype=float)


class ElementChart(Chart):
    """A horizontal axis over a transform's parameter, with the current element as a line that can be dragged."""

    moved = Signal(float, bool)  # value of the parameter, whether the drag is over

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.param: Param | None = None
        self.traces: tuple[Trace, ...] = ()
        self.value = 0.0

    def show_traces(self, traces: Sequence[Trace], param: Param | None, value: float) -> None:
        self.param = param
        self.traces = tuple(traces)
        if not self._holding:  # a drag leads, frames follow
            self.value = value
        if param is not None:
            low, high = self._limits(param)
            self.set_whole(self._u(low), self._u(high))
        self.changed()
        self.update()

    def changed(self) -> None:
        """Prepare what is derived from the traces."""

    def _limits(self, param: Param) -> tuple[float, float]:
        if param.periodic:
            return param.minimum, param.maximum
        ends = [float(v) for t in self.traces for v in t.curve.values if math.isfinite(v)]
        if ends and max(ends) > min(ends):
            return min(ends), max(ends)
        low, high = param.minimum, param.maximum
        return (low, high) if high - low <= 400 else (-16.0, 16.0)

    @property
    def logarithmic(self) -> bool:
        """Whether the parameter multiplies (a factor, a gain): equal ratios are then equally far apart."""
        return self.param is not None and self.param.minimum > 0

    def _u(self, value: float) -> float:
        return math.log(max(value, 1e-12)) if self.logarithmic else value

    def _v(self, u: float) -> float:
        return math.exp(u) if self.logarithmic else u

    def us(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return parameter values as positions on the horizontal axis."""
        return np.log(np.maximum(values, 1e-12)) if self.logarithmic else np.asarray(values, dtype=float)

    def exact_values(self) -> list[float]:
        found = {float(v) for t in self.traces for v, e in zip(t.curve.values, t.curve.exact) if e}
        if self.param is not None and self.param.periodic and self.param.minimum in found:
            found.add(self.param.maximum)
        return sorted(found)

    @property
    def ordered(self) -> bool:
        """Whether neighbouring values are neighbours: seeds of a shuffle are not, and no line joins them."""
        return self.param is None or self.param.name != "seed"

    @property
    def axis_name(self) -> str:
        """Return what is counted along the axis, where no unit at its ticks says so."""
        if self.param is None or self.param.unit or self.logarithmic or self.param.name == "share":
            return ""
        return self.param.title.lower()

    # painting -------------------------------------------------------------------------------------------------
    def drawn_key(self) -> object:
        """Return what everything but the current element depends on: it moves over curves that stand still."""
        traces = tuple((trace.curve, trace.layer, trace.output, trace.role) for trace in self.traces)
        return traces, self.param, self._range, self.scale

    def paint_axis(self, p: QPainter, t: Theme) -> None:
        """Draw the parameter's ticks under the plot."""
        if self.param is None:
            return
        plot, metrics = self.plot(), QFontMetricsF(self.small())
        top, height = plot.bottom() + 3, self.height() - plot.bottom() - 3
        name = self.axis_name
        room = self.width() - metrics.horizontalAdvance(name) - 8 if name else math.inf
        for tick in self._ticks(max(1, int(plot.width() / 56))):
            x, text = self.x_of(self._u(tick)), self._tick_text(tick)
            half = metrics.horizontalAdvance(text) / 2 + 2
            p.setPen(QPen(faded(t.line, 150), 1))
            draw_hair(p, QPointF(x, plot.top()), QPointF(x, plot.bottom() + 3))
            p.setPen(QColor(t.muted))
            centre = min(max(x, half), self.width() - half)
            if centre + half < room:
                p.drawText(QRectF(centre - half, top, 2 * half, height), CENTRE, text)
        if name:
            p.setPen(QColor(t.muted))
            p.drawText(QRectF(room, top, self.width() - room - 2, height), RIGHT, name)

    def _tick_text(self, tick: float) -> str:
        if self.param is not None and self.param.name == "share":
            return f"{100 * tick:g} %"
        unit = self.param.unit if self.param is not None and self.param.unit in ("°", "×") else ""
        return f"{tick:g}{unit}".replace("-", "−")

    def _ticks(self, most: int) -> list[float]:
        low, high = self._v(self._range[0]), self._v(self._range[1])
        if self.logarithmic:
            twos = [2.0**k for k in range(-8, 9)]
            return [v for v in twos if low * 0.999 <= v <= high * 1.001]
        if self.param is not None and self.param.unit == "°":
            step = next((s for s in TURNS if (high - low) / s <= most), 180)
            return [float(k * step) for k in range(math.ceil(low / step), math.floor(high / step) + 1)]
        found = linear_ticks(low, high, most)
        return [v for v in found if v == round(v)] if self.param is not None and self.param.whole else found

    def paint_cursor(self, p: QPainter, t: Theme) -> None:
        """Draw the current element as a line with a handle, and its value at the top."""
        if self.param is None:
            return
        plot, x = self.plot(), self.x_of(self._u(self.value))
        if not plot.left() - 1 <= x <= plot.right() + 1:
            return
        p.setPen(QPen(QColor(t.accent), 1.6))
        p.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()))
        p.setBrush(QColor(t.accent))
        p.setPen(Qt.PenStyle.NoPen)
        p.drawPolygon(QPolygonF([QPointF(x - 5, plot.top() - 5), QPointF(x + 5, plot.top() - 5),
                                 QPointF(x, plot.top() + 3)]))  # fmt: skip

    def text_of(self, value: float) -> str:
        if self.param is not None and self.param.name == "share":
            return f"{100 * value:.4g} %"
        unit = self.param.unit if self.param is not None else ""
        return f"{value:.4g}".replace("-", "−") + (f" {unit}" if unit.isalpha() else unit)

    def element_text(self) -> str:
        """Return the current element in words: "angle 30°"."""
        if self.param is None:
            return ""
        text = f"{self.param.title.lower()} {self.text_of(self.value)}"
        # a share and a seed are alike in several transforms
        transform = transforms().get(self.traces[0].curve.transform) if self.traces else None
        return f"{transform.title}, {text}" if transform is not None and self.param.name in ("share", "seed") else text

    # the drag -------------------------------------------------------------------------------------------------
    def grabbed(self, at: QPointF) -> bool:
        near = abs(at.x() - self.x_of(self._u(self.value))) <= 7
        # the whole plot answers when it is not zoomed: a press anywhere puts the line there
        return self.param is not None and self.plot().adjusted(-6, -8, 6, 0).contains(at) and (near or not self.zoomed)

    def dragged(self, at: QPointF, done: bool) -> None:
        if self.param is None:
            return
        value = self._v(self.value_at(at.x()))
        exact = [v for v in self.exact_values() if abs(self.x_of(self._u(v)) - at.x()) <= SNAP]
        if exact:
            value = min(exact, key=lambda v: abs(v - value))
        elif self.param.step > 0:
            value = self.param.minimum + round((value - self.param.minimum) / self.param.step) * self.param.step
        low, high = self._limits(self.param)
        self.value = min(max(value, low), high)
        self.moved.emit(self.value, done)
        self.update()

    def nearest(self, trace: Trace, at: QPointF) -> int | None:
        """Return the index of the curve's element nearest to a position."""
        us = self.us(trace.curve.values)
        return int(np.abs(us - self.value_at(at.x())).argmin()) if us.size else None


class CurveChart(ElementChart):
    """The error of the selected layer (and of the output) against the parameter."""

    def points(self, trace: Trace, values: NDArray[Any]) -> list[list[QPointF]]:
        """Return the curve as stretches without gaps; a circle of angles is closed."""
        us, values = self.us(trace.curve.values), values.copy()
        if self.param is not None and self.param.periodic and us.size > 1 and us[0] == self._whole[0]:
            us, values = np.append(us, self._whole[1]), np.append(values, values[0])
        stretches: list[list[QPointF]] = [[]]
        for u, v in zip(us, values):
            if math.isnan(v):
                stretches.append([])
            else:
                stretches[-1].append(QPointF(self.x_of(u), self.y_of(v)))
        return [s for s in stretches if s]

    def paint(self, p: QPainter, t: Theme) -> None:
        self.keep(p, "curves", self.drawn_key(), lambda q: self._paint_curves(q, t))
        self.paint_cursor(p, t)
        self._paint_header(p, t)

    def _paint_curves(self, p: QPainter, t: Theme) -> None:
        plot = self.plot()
        self.paint_ground(p, t)
        self.paint_axis(p, t)
        p.save()
        p.setClipRect(plot)
        for trace in self.traces:
            p.setPen(Qt.PenStyle.NoPen)
            p.setBrush(faded(t.band, 190 if len(self.traces) == 1 else 120))
            for stretch in self.points(trace, trace.floor()):
                ends = [QPointF(stretch[-1].x(), plot.bottom()), QPointF(stretch[0].x(), plot.bottom())]
                p.drawPolygon(QPolygonF([*stretch, *ends]))
        for trace in self.traces:
            self._paint_trace(p, t, trace)
        p.restore()
        self.paint_frame(p, t)

    def _paint_trace(self, p: QPainter, t: Theme, trace: Trace) -> None:
        colour = getattr(t, trace.role)
        p.setBrush(Qt.BrushStyle.NoBrush)
        if trace.output and trace.output != trace.layer:
            p.setPen(QPen(faded(colour, 170), 1.2, Qt.PenStyle.DashLine if self.ordered else Qt.PenStyle.SolidLine))
            for stretch in self.points(trace, trace.errors(trace.output)):
                if self.ordered:
                    p.drawPolyline(QPolygonF(stretch))
                for at in () if self.ordered else stretch:
                    p.drawLine(QPointF(at.x() - 3, at.y()), QPointF(at.x() + 3, at.y()))
        values = trace.errors(trace.layer)
        p.setPen(QPen(QColor(colour), 1.8))
        for stretch in self.points(trace, values):
            if len(stretch) > 1 and self.ordered:
                p.drawPolyline(QPolygonF(stretch))
            else:
                for at in stretch:
                    draw_mark(p, "dot", at, colour, 1.5)
                p.setPen(QPen(QColor(colour), 1.8))
                p.setBrush(Qt.BrushStyle.NoBrush)
        bottom = self.plot().bottom()
        for value, error, exact in zip(trace.curve.values, values, trace.curve.exact):
            if exact and not math.isnan(error):
                at = QPointF(self.x_of(self._u(float(value))), min(self.y_of(error), bottom - 4))
                draw_mark(p, "down" if self.scale.outside(error) < 0 else "dot", at, colour, 3.4)

    def _paint_header(self, p: QPainter, t: Theme) -> None:
        parts: list[tuple[str, str, bool]] = [(self.element_text(), t.accent, True)]
        keys: list[tuple[str, str, str]] = []
        for trace in self.traces:
            colour = getattr(t, trace.role)
            index = int(np.abs(self.us(trace.curve.values) - self._u(self.value)).argmin())
            error = float(trace.errors(trace.layer)[index])
            shown = "" if math.isnan(error) else f"  {figure(error)}"
            parts.append((f"{trace.curve.model}: {trace.layer or 'no layer'}{shown}", colour, False))
            if trace.curve.done < len(trace.curve.values):
                parts.append((f"{trace.curve.done} of {len(trace.curve.values)} computed", t.muted, False))
            if not keys:
                kinds = ("line", "dashes") if self.ordered else ("dot", "line")
                keys += [(kinds[0], "layer", colour), (kinds[1], "output", colour)]
        keys += [("dot", "exact", t.muted), ("band", "floor", t.band)]
        self.paint_header(p, parts, keys if self.traces else ())

    def read(self, at: QPointF) -> str:
        if not self.plot().contains(at):
            return ""
        lines = []
        for trace in self.traces:
            if (i := self.nearest(trace, at)) is None:
                continue
            error, output = float(trace.errors(trace.layer)[i]), float(trace.errors(trace.output)[i])
            kind = "exact" if trace.curve.exact[i] else "resampled"
            lines.append(f"{trace.curve.model} at {self.text_of(float(trace.curve.values[i]))} ({kind})")
            lines.append(f"{trace.layer} {_computed(error)}")
            if trace.output != trace.layer:
                lines.append(f"output {_computed(output)}")
            lines.append(f"floor {_computed(float(trace.floor()[i]))}")
        return "\n".join(lines)


class HeatChart(ElementChart):
    """Every layer (rows, in execution order) against the parameter: where on the orbit each one is off."""

    clicked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.names: list[str] = []
        self._image = QImage()
        self._key: object = None

    def plot(self) -> QRectF:
        metrics, line = QFontMetricsF(self.small()), self.line()
        widest = max((metrics.horizontalAdvance(name) for name in self.names), default=0.0)
        left = min(widest + 10, 0.3 * self.width())
        return QRectF(self.rect()).adjusted(left, line + 7, -8, -(line + 6))

    def changed(self) -> None:
        """Make the picture: one row a layer, colours on the error axis; not computed yet is the plot's ground."""
        curve = self.traces[0].curve if self.traces else None
        if curve is None or not curve.errors or not len(curve.values):
            self.names, self._image, self._key = [], QImage(), None
            return
        key = (id(curve), curve.done, theme.current().name, self.scale, self._whole)
        if key == self._key:
            return
        self._key, self.names = key, list(curve.errors)
        us = self.us(curve.values)
        centres = np.linspace(*self._whole, 2 * _COLUMNS + 1)[1::2]
        distance = np.abs(centres[:, None] - us[None, :])
        if self.param is not None and self.param.periodic:
            distance = np.minimum(distance, (self.param.maximum - self.param.minimum) - distance)
        errors = np.stack([np.asarray(curve.errors[n], dtype=float) for n in self.names])[:, distance.argmin(axis=1)]
        span = math.log10(self.scale.high / self.scale.low)
        with np.errstate(divide="ignore", invalid="ignore"):
            level = np.clip(np.log10(np.maximum(errors, self.scale.low) / self.scale.low) / span, 0, 1)
        table = theme.error_map()
        pixels = np.ascontiguousarray(table[np.nan_to_num(level * (len(table) - 1)).astype(int)])
        pixels[np.isnan(errors)] = (0, 0, 0, 0)
        h, w = pixels.shape[:2]
        self._image = QImage(pixels.data, w, h, 4 * w, QImage.Format.Format_RGBA8888).copy()

    def paint(self, p: QPainter, t: Theme) -> None:
        self.changed()  # the theme may be another one
        self.keep(p, "layers", self.drawn_key(), lambda q: self._paint_layers(q, t))
        self.paint_cursor(p, t)
        self._paint_scale(p, t)

    def _paint_layers(self, p: QPainter, t: Theme) -> None:
        plot = self.plot()
        p.fillRect(plot, QColor(t.plot))
        p.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        (low, high), (first, last) = self._range, self._whole
        scale = self._image.width() / (last - first)
        source = QRectF((low - first) * scale, 0, (high - low) * scale, self._image.height())
        p.drawImage(plot, self._image, source)
        row = plot.height() / max(1, len(self.names))
        stride = max(1, math.ceil(self.line() / row))
        selected = self.traces[0].layer if self.traces else ""
        metrics = QFontMetricsF(self.small())
        for i, name in enumerate(self.names):
            top = plot.top() + i * row
            if name == selected:
                p.setBrush(Qt.BrushStyle.NoBrush)
                p.setPen(QPen(QColor(t.accent), 1.4))
                p.drawRect(QRectF(plot.left(), top, plot.width(), row))
            if name == selected or i % stride == 0:
                p.setPen(QColor(t.accent if name == selected else t.muted))
                text = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, plot.left() - 8)
                p.drawText(QRectF(0, top + row / 2 - 10, plot.left() - 5, 20), RIGHT, text)
        self.paint_axis(p, t)
        self.paint_frame(p, t)

    def _paint_scale(self, p: QPainter, t: Theme) -> None:
        """Title on the left, the colour bar with its ends on the right."""
        plot, line = self.plot(), self.line()
        trace = self.traces[0] if self.traces else None
        low, high = figure(self.scale.low), figure(self.scale.high)
        metrics = QFontMetricsF(self.small())
        bar = min(120.0, 0.25 * plot.width())
        right = plot.right() - metrics.horizontalAdvance(high) - 4
        table = theme.error_map()
        for k in range(24):
            colour = QColor(*(int(v) for v in table[int((k + 0.5) / 24 * len(table))][:3]))
            p.fillRect(QRectF(right - bar + k * bar / 24, 5, bar / 24 + 0.5, line - 4), colour)
        p.setPen(QColor(t.muted))
        p.drawText(QRectF(right + 4, 2, 60, line + 2), LEFT, high)
        p.drawText(QRectF(right - bar - 64, 2, 60, line + 2), RIGHT, low)
        if trace is not None:
            p.setPen(QColor(getattr(t, trace.role)))
            room = right - bar - 70 - plot.left()
            text = f"{trace.curve.model}: every layer, {self.element_text()}"
            p.drawText(QRectF(plot.left(), 2, room, line + 2), LEFT,
                       metrics.elidedText(text, Qt.TextElideMode.ElideRight, room))  # fmt: skip

    def row_at(self, at: QPointF) -> str | None:
        plot = self.plot()
        index = math.floor((at.y() - plot.top()) / plot.height() * len(self.names)) if self.names else -1
        return self.names[index] if 0 <= index < len(self.names) else None

    def grabbed(self, at: QPointF) -> bool:
        return abs(at.x() - self.x_of(self._u(self.value))) <= 7 and super().grabbed(at)

    def clicked_at(self, at: QPointF) -> None:
        if (name := self.row_at(at)) is not None:
            self.clicked.emit(name)

    def read(self, at: QPointF) -> str:
        name = self.row_at(at)
        if name is None or not self.traces or not self.plot().contains(at):
            return ""
        trace = self.traces[0]
        i = self.nearest(trace, at)
        if i is None:
            return ""
        return f"{name} at {self.text_of(float(trace.curve.values[i]))}\n{_computed(float(trace.errors(name)[i]))}"


def _computed(error: float) -> str:
    return "not computed" if math.isnan(error) else figure(error)
