"""A transform's parameter along an axis: its coordinates, its ticks, and its values in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.declare.params import Param
from explorer.declare.telling.numerals import with_minus
from widgets.charts.axis.axes import ValueAxis
from widgets.charts.axis.scales import linear_ticks

TURNS = (1, 2, 5, 10, 15, 30, 45, 90, 180)


@dataclass(frozen=True, slots=True)
class Course:
    """The values that a parameter runs through, as places on an axis; `param` is None before there is one."""

    param: Param | None = None

    @property
    def logarithmic(self) -> bool:
        """Return whether the parameter multiplies (a factor, a gain): equal ratios are then equally far apart."""
        return self.param is not None and self.param.minimum > 0

    def place(self, value: float) -> float:
        return math.log(max(value, 1e-12)) if self.logarithmic else value

    def value(self, place: float) -> float:
        return math.exp(place) if self.logarithmic else place

    def places(self, values: NDArray[Any]) -> NDArray[Any]:
        return np.log(np.maximum(values, 1e-12)) if self.logarithmic else np.asarray(values, dtype=float)

    @property
    def ordered(self) -> bool:
        """Return whether neighbouring values are neighbours: seeds of a shuffle are not, and no line joins them."""
        return self.param is None or self.param.name != "seed"

    @property
    def axis_name(self) -> str:
        """Return what is counted along the axis, where no unit at its ticks says so."""
        if self.param is None or self.param.unit or self.logarithmic or self.param.name == "share":
            return ""
        return self.param.title.lower()

    def tick_text(self, tick: float) -> str:
        if self.param is not None and self.param.name == "share":
            return f"{100 * tick:g} %"
        unit = self.param.unit if self.param is not None and self.param.unit in ("°", "×") else ""
        return with_minus(f"{tick:g}{unit}")

    def ticks(self, low: float, high: float, most: int) -> list[float]:
        """Return the values to label between two places."""
        low, high = self.value(low), self.value(high)
        if self.logarithmic:
            twos = [2.0**k for k in range(-8, 9)]
            return [v for v in twos if low * 0.999 <= v <= high * 1.001]
        if self.param is not None and self.param.unit == "°":
            step = next((s for s in TURNS if (high - low) / s <= most), 180)
            return [float(k * step) for k in range(math.ceil(low / step), math.floor(high / step) + 1)]
        found = linear_ticks(low, high, most)
        return [v for v in found if v == round(v)] if self.param is not None and self.param.whole else found

    def text(self, value: float) -> str:
        """Return a value in words: "30°", "5 %"."""
        if self.param is not None and self.param.name == "share":
            return f"{100 * value:.4g} %"
        unit = self.param.unit if self.param is not None else ""
        return with_minus(f"{value:.4g}") + (f" {unit}" if unit.isalpha() else unit)


class ParameterAxis(ValueAxis):
    """The axis below a chart over a parameter; where no unit says what is counted, its name stands at the end."""

    def __init__(self) -> None:
        self.course = Course()
        super().__init__("bottom", text=lambda place: self.course.tick_text(self.course.value(place)))

    def follow(self, course: Course) -> None:
        if course != self.course:
            self.course = course
            self.end = course.axis_name
            self.redraw()

    def ticks(self, low: float, high: float, most: int) -> list[float]:
        if self.course.param is None:
            return []
        return [self.course.place(v) for v in self.course.ticks(low, high, most)]
