"""Which steps are seen and where: zoom about a point, pan, and the steps worth a tick."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from widgets.chart import linear_ticks

CLOSEST = 8.0  # steps that fill the width at the closest


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """Steps [low, high) across [left, right) pixels; step t fills [t, t + 1), so its middle is t + 0.5."""

    steps: int
    low: float = 0.0
    high: float = 1.0
    left: float = 0.0
    right: float = 1.0

    @property
    def per_pixel(self) -> float:
        """Steps in a pixel."""
        return (self.high - self.low) / max(1.0, self.right - self.left)

    @property
    def zoomed(self) -> bool:
        return self.high - self.low < self.steps * (1 - 1e-12)

    def x_of(self, step: float) -> float:
        """Return where the left edge of a step lies; `step + 0.5` is its middle."""
        return self.left + (step - self.low) / self.per_pixel

    def at(self, x: float) -> float:
        return self.low + (x - self.left) * self.per_pixel

    def step_at(self, x: float) -> int | None:
        """Return the step drawn at x, None outside."""
        step = math.floor(self.at(x))
        return step if 0 <= step < self.steps and self.left <= x < self.right else None

    def whole(self) -> TimeAxis:
        return replace(self, low=0.0, high=float(max(1, self.steps)))

    def zoomed_by(self, factor: float, x: float) -> TimeAxis:
        """Return the axis that shows `factor` times as many steps, with what is at x staying there."""
        centre = self.at(min(max(x, self.left), self.right))
        width = min(float(self.steps), max(min(CLOSEST, float(self.steps)), (self.high - self.low) * factor))
        low = centre - (centre - self.low) / (self.high - self.low) * width
        return replace(self, low=low, high=low + width)._inside()

    def moved(self, pixels: float) -> TimeAxis:
        """Return the axis with its content moved right by so many pixels."""
        by = pixels * self.per_pixel
        return replace(self, low=self.low - by, high=self.high - by)._inside()

    def showing(self, step: float) -> TimeAxis:
        """Return the axis, moved as little as needed for that step to be seen with some room about it."""
        width = self.high - self.low
        room = min(0.1 * width, 5.0)
        low = min(max(self.low, step + 1 + room - width), max(step - room, 0.0) if step < self.low else math.inf)
        low = step - room if step < self.low + room else low
        return replace(self, low=low, high=low + width)._inside()

    def _inside(self) -> TimeAxis:
        width = self.high - self.low
        low = min(max(0.0, self.low), max(0.0, self.steps - width))
        return replace(self, low=low, high=low + width)

    def ticks(self, room: float = 70.0) -> list[int]:
        """Return whole steps with at least `room` pixels between them."""
        most = max(1, int((self.right - self.left) / room))
        found = linear_ticks(self.low, min(self.high, self.steps - 1), most, (1, 2, 5, 10))
        return sorted({round(t) for t in found if abs(t - round(t)) < 1e-6})
