"""Which steps are seen and where: zoom about a point, pan, and the steps worth a tick."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widgets.charts.chart import linear_ticks
from widgets.sequence.timeline.scale import TimeScale

CLOSEST = 8.0  # steps that fill the width at the closest


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """Steps [low, high) across [left, right) pixels; step t fills [t, t + 1), so its middle is t + 0.5.

    With a `scale`, of true times, low and high are places on it, of which there are as many as steps.
    """

    steps: int
    low: float = 0.0
    high: float = 1.0
    left: float = 0.0
    right: float = 1.0
    scale: TimeScale | None = None

    @property
    def per_pixel(self) -> float:
        """Steps in a pixel, on average where their times are irregular."""
        return (self.high - self.low) / max(1.0, self.right - self.left)

    @property
    def zoomed(self) -> bool:
        return self.high - self.low < self.steps * (1 - 1e-12)

    @property
    def finest(self) -> float:
        """Steps in a pixel where they are widest."""
        return self.per_pixel * (self.scale.slowest if self.scale is not None else 1.0)

    @property
    def first(self) -> float:
        """The step at the left edge."""
        return self.at(self.left)

    @property
    def last(self) -> float:
        """The step at the right edge."""
        return self.at(self.right)

    def x_of(self, step: float) -> float:
        """Return where the left edge of a step lies; `step + 0.5` is its middle."""
        place = step if self.scale is None else float(self.scale.place(step))
        return self.left + (place - self.low) / self.per_pixel

    def xs_of(self, steps: NDArray[Any]) -> NDArray[Any]:
        """Return `x_of` of many steps."""
        places = steps if self.scale is None else self.scale.place(steps)
        return np.asarray(self.left + (places - self.low) / self.per_pixel)

    def at(self, x: float) -> float:
        """Return the step at x, with its fraction."""
        place = self._place(x)
        return place if self.scale is None else float(self.scale.step(place))

    def steps_at(self, xs: NDArray[Any]) -> NDArray[Any]:
        """Return `at` of many x."""
        places = self.low + (xs - self.left) * self.per_pixel
        return np.asarray(places if self.scale is None else self.scale.step(places))

    def width(self, step: float) -> float:
        """Return how wide a step is, in pixels."""
        return self.x_of(step + 1) - self.x_of(step)

    def _place(self, x: float) -> float:
        return self.low + (x - self.left) * self.per_pixel

    def step_at(self, x: float) -> int | None:
        """Return the step drawn at x, None outside."""
        step = math.floor(self.at(x))
        return step if 0 <= step < self.steps and self.left <= x < self.right else None

    def whole(self) -> TimeAxis:
        return replace(self, low=0.0, high=float(max(1, self.steps)))

    def zoomed_by(self, factor: float, x: float) -> TimeAxis:
        """Return the axis that shows `factor` times as many steps, with what is at x staying there."""
        centre = self._place(min(max(x, self.left), self.right))
        width = min(float(self.steps), max(self._closest(), (self.high - self.low) * factor))
        low = centre - (centre - self.low) / (self.high - self.low) * width
        return replace(self, low=low, high=low + width)._inside()

    def _closest(self) -> float:
        """Return the fewest places to be seen: as many as a handful of steps take where they are densest."""
        some = min(CLOSEST, float(self.steps))
        if self.scale is None or self.steps <= CLOSEST:
            return some
        first = np.arange(self.steps - int(CLOSEST) + 1)
        return float((self.scale.place(first + CLOSEST) - self.scale.place(first)).min())

    def moved(self, pixels: float) -> TimeAxis:
        """Return the axis with its content moved right by so many pixels."""
        by = pixels * self.per_pixel
        return replace(self, low=self.low - by, high=self.high - by)._inside()

    def showing(self, step: float) -> TimeAxis:
        """Return the axis, moved as little as needed for that step to be seen with some room about it."""
        width = self.high - self.low
        room = min(0.1 * width, 5.0)
        start, end = step, step + 1
        if self.scale is not None:
            start, end = (float(self.scale.place(v)) for v in (start, end))
        low = min(max(self.low, end + room - width), max(start - room, 0.0) if start < self.low else math.inf)
        low = start - room if start < self.low + room else low
        return replace(self, low=low, high=low + width)._inside()

    def _inside(self) -> TimeAxis:
        width = self.high - self.low
        low = min(max(0.0, self.low), max(0.0, self.steps - width))
        return replace(self, low=low, high=low + width)

    def labels(self, room: float = 70.0) -> list[tuple[float, str]]:
        """Return (x, text) of the ticks: round times, or whole steps in their middle."""
        if self.scale is None:
            return [(self.x_of(k + 0.5), f"{k:_}".replace("_", "\N{NO-BREAK SPACE}")) for k in self.ticks(room)]
        most = max(1, int((self.right - self.left) / room))
        found = self.scale.ticks(self.low, self.high, most)
        return [(self.left + (place - self.low) / self.per_pixel, f"{time:.6g}") for place, time in found]

    def ticks(self, room: float = 70.0) -> list[int]:
        """Return whole steps with at least `room` pixels between them."""
        most = max(1, int((self.right - self.left) / room))
        found = linear_ticks(self.low, min(self.high, self.steps - 1), most, (1, 2, 5, 10))
        return sorted({round(t) for t in found if abs(t - round(t)) < 1e-6})
