"""Places of the steps of an irregularly sampled sequence on an axis of true times. Numpy only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widgets.charts.axis.scales import linear_ticks
from widgets.spaces.sequence.timeline.axes.dates import date_ticks, seconds_of


@dataclass(frozen=True, slots=True, eq=False)
class TimeScale:
    """Step t fills from half-way to the time before it to half-way to the next; its middle, t + 0.5, is its time.

    A *place* is a time counted in mean steps from the left edge of the first step, so that T steps fill T places.

    Attributes:
        steps, places: the knots of the broken line between both, ascending.
        origin, unit: the time at place 0, and how much time a place is.
        dated: whether times are dates, as seconds since 1970.
    """

    steps: NDArray[Any]
    places: NDArray[Any]
    origin: float
    unit: float
    dated: bool = False

    def place(self, step: Any) -> Any:
        """Return the place of any step, also between two; beyond the ends steps are as wide as they are on average."""
        beyond = step - np.clip(step, 0.0, self.steps[-1])
        return np.interp(step, self.steps, self.places) + beyond

    def step(self, place: Any) -> Any:
        """Undo `place`."""
        beyond = place - np.clip(place, 0.0, self.places[-1])
        return np.interp(place, self.places, self.steps) + beyond

    def least(self, count: int) -> float:
        """Return the places that `count` steps fill where they are densest."""
        first = np.arange(max(1, len(self.steps) // 2 - count + 1))
        return float((self.place(first + count) - self.place(first)).min())

    def ticks(self, low: float, high: float, most: int) -> list[tuple[float, float]]:
        """Return (place, time) of round times between two places."""
        first, last = self.origin + low * self.unit, self.origin + high * self.unit
        found = date_ticks(first, last, most)[0] if self.dated else linear_ticks(first, last, most)
        return [((time - self.origin) / self.unit, time) for time in found]


def time_scale(times: NDArray[Any] | None) -> TimeScale | None:
    """Return the scale of ascending times, (T,); None where they are none, or too few or too odd to lie on an axis."""
    if times is None or len(times) < 2:
        return None
    dated = np.issubdtype(np.asarray(times).dtype, np.datetime64)
    t = seconds_of(times) if dated else np.asarray(times, np.float64)
    if not np.isfinite(t).all() or (np.diff(t) <= 0).any():
        return None
    edges = np.r_[1.5 * t[0] - 0.5 * t[1], (t[1:] + t[:-1]) / 2, 1.5 * t[-1] - 0.5 * t[-2]]
    unit = float(edges[-1] - edges[0]) / len(t)
    knots = np.empty(2 * len(t) + 1)
    knots[0::2], knots[1::2] = edges, t
    places = (knots - edges[0]) / unit
    return TimeScale(np.arange(len(knots)) / 2, places, float(edges[0]), unit, dated)
