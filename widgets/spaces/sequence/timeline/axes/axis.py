"""The steps in sight across the pixels of a timeline."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widgets.spaces.sequence.timeline.axes.scale import TimeScale


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
        place = self.low + (x - self.left) * self.per_pixel
        return place if self.scale is None else float(self.scale.step(place))

    def width(self, step: float) -> float:
        """Return how wide a step is, in pixels."""
        return self.x_of(step + 1) - self.x_of(step)

    def step_at(self, x: float) -> int | None:
        """Return the step drawn at x, None outside."""
        step = math.floor(self.at(x))
        return step if 0 <= step < self.steps and self.left <= x < self.right else None
