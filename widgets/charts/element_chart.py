"""Charts over a one-parameter family of elements: the error's curves, and all layers at once as a heat map."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtWidgets import QWidget

from explorer.declare.elements import transforms
from explorer.declare.params import Param
from explorer.square.frame import OrbitCurve
from widgets.base.look import theme
from widgets.base.text.words import figure
from widgets.charts.axis.axes import Axis, LogAxis, Name, NameAxis
from widgets.charts.axis.parameter import Course, ParameterAxis
from widgets.charts.axis.scales import LogScale, power
from widgets.charts.items.curve import Curve, Kept
from widgets.charts.items.heat import Bar, Heat
from widgets.charts.items.marks import DASH, DOT, DOWN, ElementLine, Marks, fill, ink
from widgets.charts.library import pg
from widgets.charts.plot import Plot

SNAP = 5.0  # pixels within which a dragged line falls on an exact element
GRIP = 7.0  # pixels within which a press takes the line
FORMER = "the curve before: this element's is computed while nothing else is asked for"
_COLUMNS = 720  # of the heat map's picture


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """One model's curve with the layers to draw and the colour's role in the theme."""

    curve: OrbitCurve
    layer: str
    output: str
    role: str
    instead: str = ""  # the selected layer, where it has no curve and another one is drawn
    former: bool = False  # whether it is that of another chain of elements, until the one asked for comes

    def errors(self, layer: str) -> NDArray[Any]:
        return np.asarray(self.curve.errors.get(layer, np.full(len(self.curve.values), np.nan)), dtype=float)

    def floor(self) -> NDArray[Any]:
        return np.asarray(self.curve.floor.get(self.layer, np.full(len(self.curve.values), np.nan)), dtype=float)


class ElementChart(Plot):
    """A horizontal axis over a transform's parameter, with the current element as a line that can be dragged."""

    moved = Signal(float, bool)  # value of the parameter, whether the drag is over

    def __init__(self, parent: QWidget | None = None, left: Axis | None = None) -> None:
        self.axis = ParameterAxis()
        super().__init__(parent, left=left or LogAxis("left"), bottom=self.axis)
        self.scale = LogScale()
        self.course = Course()
        self.traces: tuple[Trace, ...] = ()
        self.value = 0.0
        self._drawn: object = None
        self.line = self.add(ElementLine(), 50)

    def show_traces(self, traces: Sequence[Trace], param: Param | None, value: float) -> None:
        """Show curves over a parameter with the current element at `value`."""
        self.course = Course(param)
        self.traces = tuple(traces)
        if not self._holding:  # a drag leads, frames follow
            self.value = value
        self.axis.follow(self.course)
        if param is not None:
            low, high = self._limits(param)
            self.set_ranges((self.course.place(low), self.course.place(high)), self.heights())
        if (drawn := self.drawn()) != self._drawn:  # the element moves over curves that stand still
            self._drawn = drawn
            self.changed()
        self.place_line()

    def drawn(self) -> object:
        """Return what everything but the current element depends on."""
        traces = tuple((t.curve, t.layer, t.output, t.role, t.former) for t in self.traces)
        return traces, self.course, self.scale, self.box.whole, theme.current().name

    def place_line(self) -> None:
        """Put the line where the current element is."""
        self.line.setVisible(self.course.param is not None)
        self.line.setPos(self.course.place(self.value))
        self.write()

    def move_line(self, value: float) -> None:
        """Follow another chart's drag."""
        self.value = value
        self.place_line()

    def heights(self) -> tuple[float, float]:
        """Return the ends of the vertical axis."""
        return self.scale.decades

    def changed(self) -> None:
        """Hand what was shown to the items."""

    def write(self) -> None:
        """Write the header."""

    def dress(self) -> None:
        super().dress()
        if hasattr(self, "line"):
            self.line.dress()

    def _limits(self, param: Param) -> tuple[float, float]:
        if param.periodic:
            return param.minimum, param.maximum
        ends = [float(v) for t in self.traces for v in t.curve.values if math.isfinite(v)]
        if ends and max(ends) > min(ends):
            return min(ends), max(ends)
        low, high = param.minimum, param.maximum
        return (low, high) if high - low <= 400 else (-16.0, 16.0)

    def exact_values(self) -> list[float]:
        param = self.course.param
        found = {float(v) for t in self.traces for v, e in zip(t.curve.values, t.curve.exact) if e}
        if param is not None and param.periodic and param.minimum in found:
            found.add(param.maximum)
        return sorted(found)

    def element_text(self) -> str:
        """Return the current element in words: "angle 30°"."""
        param = self.course.param
        if param is None:
            return ""
        text = f"{param.title.lower()} {self.course.text(self.value)}"
        # a share and a seed are alike in several transforms
        transform = transforms().get(self.traces[0].curve.transform) if self.traces else None
        return f"{transform.title}, {text}" if transform is not None and param.name in ("share", "seed") else text

    def nearest(self, trace: Trace, at: QPointF) -> int | None:
        """Return the index of the curve's element nearest to a position."""
        places = self.course.places(trace.curve.values)
        return int(np.abs(places - at.x()).argmin()) if places.size else None

    # the drag -------------------------------------------------------------------------------------------------
    def near_line(self, at: QPointF) -> bool:
        return abs(at.x() - self.course.place(self.value)) * self.pixels().x() <= GRIP

    def grabbed(self, at: QPointF) -> bool:
        # the whole plot answers when it is not zoomed: a press anywhere puts the line there
        inside = self.box.viewRect().adjusted(-1e-9, -1e-9, 1e-9, 1e-9).contains(at)
        return self.course.param is not None and (self.near_line(at) or (inside and not self.box.zoomed))

    def dragged(self, at: QPointF, done: bool) -> None:
        param = self.course.param
        if param is None:
            return
        value = self.course.value(at.x())
        reach = SNAP / self.pixels().x()
        exact = [v for v in self.exact_values() if abs(self.course.place(v) - at.x()) <= reach]
        if exact:
            value = min(exact, key=lambda v: abs(v - value))
        elif param.step > 0:
            value = param.minimum + round((value - param.minimum) / param.step) * param.step
        low, high = self._limits(param)
        self.move_line(min(max(value, low), high))
        self.moved.emit(self.value, done)

    def clicked_at(self, at: QPointF) -> None:
        if self.grabbed(at):
            self.dragged(at, True)


class CurveItems:
    """The items of one trace: the layer's curve, the output's, the floor, and dots at exact elements."""

    def __init__(self, chart: ElementChart, z: float) -> None:
        self.floor = chart.add(Kept(), z)
        self.output = chart.add(Curve(), z + 2)
        self.layer = chart.add(Curve(), z + 4)
        self.alone = chart.add(Marks(symbol=DOT, size=3), z + 4)
        self.exact = chart.add(Marks(symbol=DOT, size=6.8), z + 5)
        self.all = (self.floor, self.output, self.layer, self.alone, self.exact)

    def show(self, visible: bool) -> None:
        for item in self.all:
            item.setVisible(visible)

    def clear(self) -> None:
        """Draw nothing yet; what is hidden would be crossed out in the legend."""
        nothing = np.zeros(0)
        for line in (self.floor, self.output, self.layer):
            line.setData(nothing, nothing)
        for marks in (self.alone, self.exact):
            marks.set_marks(nothing, nothing, 3)

    def update(self, chart: CurveChart, trace: Trace) -> None:
        scale, places = chart.scale, chart.circle
        x, floor = places(trace, trace.floor())
        there = np.isfinite(floor)
        self.floor.setData(x[there], scale.decade(floor[there]), fillLevel=scale.decades[0])
        x, output = places(trace, trace.errors(trace.output))
        if trace.output == trace.layer:
            x = output = np.zeros(0)
        self.output.setData(x, scale.decade(output))
        x, errors = places(trace, trace.errors(trace.layer))
        self.layer.setData(x, scale.decade(errors))
        gap = ~np.isfinite(np.concatenate([[np.nan], errors, [np.nan]]))
        lone = gap[:-2] & gap[2:] & ~gap[1:-1] if chart.course.ordered else np.zeros(errors.size, dtype=bool)
        self.alone.set_marks(x[lone], scale.decade(errors[lone]), 3)
        self.mark_exact(chart, trace)

    def mark_exact(self, chart: CurveChart, trace: Trace) -> None:
        errors, t = trace.errors(trace.layer), theme.current()
        there = np.flatnonzero(np.asarray(trace.curve.exact, dtype=bool) & ~np.isnan(errors))
        heights = np.fmax(chart.scale.decade(errors[there]), chart.scale.decades[0] + 4 / max(chart.pixels().y(), 1e-9))
        colour = getattr(t, trace.role)
        hollow = (ink(colour, 1.4), fill(t.plot))
        low: dict[int, tuple[Any, ...]] = {}
        for k, i in enumerate(there):
            if chart.scale.outside(errors[i]) < 0:
                low[k] = (DOWN, *hollow)
            elif trace.curve.about(int(i)):
                low[k] = (DOT, *hollow)
        self.exact.set_marks(chart.course.places(trace.curve.values)[there], heights, 6.8, low)

    def dress(self, role: str, ordered: bool, several: bool) -> None:
        t = theme.current()
        colour = getattr(t, role)
        self.floor.setPen(None)
        self.floor.setBrush(fill(t.band, 120 if several else 190))
        line = ink(colour, 1.8)
        dashes = ink(colour, 1.2, 170, Qt.PenStyle.DashLine)
        self.layer.setPen(line if ordered else None)
        self.layer.setSymbol(None if ordered else DOT)
        self.output.setPen(dashes if ordered else None)
        self.output.setSymbol(None if ordered else DASH)
        for item, size in ((self.layer, 3), (self.output, 6)):
            item.setSymbolSize(size)
            item.setSymbolPen(ink(colour, 1.2) if item is self.output else None)
            item.setSymbolBrush(fill(colour))
        for marks in (self.alone, self.exact):
            marks.setPen(None)
            marks.setBrush(fill(colour))


class CurveChart(ElementChart):
    """The error of the selected layer (and of the output) against the parameter."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.curves = (CurveItems(self, 0), CurveItems(self, 1))
        self._look: tuple[Any, ...] = ()
        self._name_keys()
        self.dress()

    def _name_keys(self) -> None:
        """Explain what is drawn, and nothing else."""
        first, traces = self.curves[0], self.traces
        hollow = any(np.any(trace.curve.estimated) for trace in traces)
        known = {
            first.layer: ("layer", bool(traces)),
            first.output: ("output", any(trace.output != trace.layer for trace in traces)),
            first.exact: ("exact, hollow: about" if hollow else "exact", any(np.any(t.curve.exact) for t in traces)),
            first.floor: ("floor", bool(traces)),
        }
        self.header.name_keys({item: name for item, (name, drawn) in known.items() if drawn})

    def circle(self, trace: Trace, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return places and values of a curve; a circle of angles is closed."""
        places, whole, param = self.course.places(trace.curve.values), self.box.whole[0], self.course.param
        if param is not None and param.periodic and places.size > 1 and places[0] == whole[0]:
            return np.append(places, whole[1]), np.append(values, values[0])
        return places, values

    def changed(self) -> None:
        look = (tuple(t.role for t in self.traces), self.course.ordered, theme.current().name)
        if look != self._look:
            self._look = look
            for items, role in zip(self.curves, [t.role for t in self.traces] or ["first"]):
                items.dress(role, self.course.ordered, len(self.traces) > 1)
            self.header.dress()
        for k, items in enumerate(self.curves):
            items.show(k < max(1, len(self.traces)))
            items.update(self, self.traces[k]) if k < len(self.traces) else items.clear()
        self._name_keys()

    def reshaped(self) -> None:
        for items, trace in zip(self.curves, self.traces):
            items.mark_exact(self, trace)

    def dress(self) -> None:
        super().dress()
        if hasattr(self, "_look"):
            self._look = ()
            self.changed()
            self.write()

    def write(self) -> None:
        t = theme.current()
        parts: list[tuple[str, str, bool]] = [(self.element_text(), t.accent, True)]
        for trace in self.traces:
            index = self.nearest(trace, QPointF(self.course.place(self.value), 0))
            error = float(trace.errors(trace.layer)[index]) if index is not None else math.nan
            about = "about " if index is not None and trace.curve.about(index) else ""
            shown = (
                "" if math.isnan(error) or trace.former else f"  {about}{figure(error)}{self._elsewhere(trace, index)}"
            )
            parts.append((f"{trace.curve.model}: {trace.layer or 'no layer'}{shown}", getattr(t, trace.role), False))
            if trace.former:
                parts.append((FORMER, t.muted, False))
                continue
            if trace.instead:
                parts.append((f"{trace.instead} has no curve of its own", t.muted, False))
            if trace.curve.done < len(trace.curve.values):
                parts.append((f"{trace.curve.done} of {len(trace.curve.values)} computed", t.muted, False))
        if not self.traces and self.course.param is not None:
            parts.append(("the curve is computed while nothing else is asked for", t.muted, False))
        self.header.write(parts)

    def _elsewhere(self, trace: Trace, index: int | None) -> str:
        """Return of which element a figure is, where it is that of a neighbour: the curve has so many places only."""
        if index is None or math.isclose(value := float(trace.curve.values[index]), self.value, abs_tol=1e-9):
            return ""
        return f" at {self.course.text(value)}"

    def read(self, at: QPointF) -> str:
        if not self.box.viewRect().contains(at):
            return ""
        lines = []
        for trace in self.traces:
            if (i := self.nearest(trace, at)) is None:
                continue
            error, output = float(trace.errors(trace.layer)[i]), float(trace.errors(trace.output)[i])
            kind = "exact" if trace.curve.exact[i] else "resampled"
            lines.append(f"{trace.curve.model} at {self.course.text(float(trace.curve.values[i]))} ({kind})")
            lines += [FORMER] if trace.former else []
            about = trace.curve.about(i)
            lines.append(f"{trace.layer} {_computed(error, about)}")
            if trace.output != trace.layer:
                lines.append(f"output {_computed(output, about)}")
            lines.append(f"floor {_computed(float(trace.floor()[i]))}")
        return "\n".join(lines)


class HeatChart(ElementChart):
    """A heat map of errors: layers as rows, in execution order, against the parameter of the orbit."""

    clicked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        self.rows = NameAxis("left")
        super().__init__(parent, left=self.rows)
        self.names: list[str] = []
        self._key: object = None
        self.box.invertY(True)
        self.line.turn()
        self.heat = self.add(Heat())
        self.chosen = self.add(pg.PlotCurveItem(), 2)
        self.bar = Bar(lambda decade: power(10.0**decade))
        self.bar.adopt(self)
        self.item.layout.addItem(self.bar, 2, 3)  # beside the plot, as high as it is
        self.set_fonts()
        self.dress()

    def set_fonts(self) -> None:
        super().set_fonts()
        if hasattr(self, "bar"):
            self.bar.set_font(self.small())

    def heights(self) -> tuple[float, float]:
        rows = len(self.traces[0].curve.errors) if self.traces else 0
        return -0.5, max(rows, 1) - 0.5

    def changed(self) -> None:
        """Make the matrix: one row a layer, decades of errors; not computed yet is the plot's ground."""
        curve = self.traces[0].curve if self.traces else None
        if curve is None or not curve.errors or not len(curve.values):
            self.names, self._key = [], None
            self.heat.show_values(np.zeros((0, 0)), QRectF(), self.scale.decades)
        elif (key := (id(curve), curve.done, self.scale, self.box.whole[0])) != self._key:
            self._key, self.names = key, list(curve.errors)
            first, last = self.box.whole[0]
            self.bar.setLevels(self.scale.decades)
            rect = QRectF(first, -0.5, last - first, len(self.names))
            self.heat.show_values(self._matrix(curve), rect, self.scale.decades)
        selected = self.traces[0].layer if self.traces else ""
        self.rows.set_names([Name(name, "accent" if name == selected else "") for name in self.names])
        row = self.names.index(selected) if selected in self.names else None
        (low, high), y = self.box.whole[0], np.array([-0.5, -0.5, 0.5, 0.5, -0.5])
        corners = (np.array([low, high, high, low, low]), y + row) if row is not None else (np.zeros(0), np.zeros(0))
        self.chosen.setData(*corners)

    def _matrix(self, curve: OrbitCurve) -> NDArray[np.float64]:
        places, param = self.course.places(curve.values), self.course.param
        centres = np.linspace(*self.box.whole[0], 2 * _COLUMNS + 1)[1::2]
        distance = np.abs(centres[:, None] - places[None, :])
        if param is not None and param.periodic:
            distance = np.minimum(distance, (param.maximum - param.minimum) - distance)
        errors = np.stack([np.asarray(curve.errors[n], dtype=float) for n in self.names])
        return self.scale.decade(errors)[:, distance.argmin(axis=1)]

    def dress(self) -> None:
        super().dress()
        if hasattr(self, "bar"):
            self.heat.dress()
            self.bar.dress()
            self.chosen.setPen(ink(theme.current().accent, 1.4))
            self.write()

    def write(self) -> None:
        if self.traces:
            trace, t = self.traces[0], theme.current()
            text = f"{trace.curve.model}: every layer, {self.element_text()}"
            former = [(FORMER, t.muted, False)] if trace.former else []
            self.header.write([(text, getattr(t, trace.role), False), *former])

    def row_at(self, at: QPointF) -> str | None:
        index = math.floor(at.y() + 0.5)
        return self.names[index] if 0 <= index < len(self.names) else None

    def grabbed(self, at: QPointF) -> bool:
        return self.course.param is not None and self.near_line(at)

    def clicked_at(self, at: QPointF) -> None:
        if (name := self.row_at(at)) is not None:
            self.clicked.emit(name)

    def read(self, at: QPointF) -> str:
        name = self.row_at(at)
        if name is None or not self.traces or not self.box.viewRect().contains(at):
            return ""
        trace = self.traces[0]
        i = self.nearest(trace, at)
        if i is None:
            return ""
        value = self.course.text(float(trace.curve.values[i]))
        return f"{name} at {value}\n{_computed(float(trace.errors(name)[i]), trace.curve.about(i))}"


def _computed(error: float, about: bool = False) -> str:
    if math.isnan(error):
        return "not computed"
    return f"about {figure(error)} (compared at a few places)" if about else figure(error)
