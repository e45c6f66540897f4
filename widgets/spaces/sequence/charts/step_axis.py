"""An axis of time: whole steps in their middles, or round times where the steps lie at true times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from explorer.declare.telling.numerals import with_minus
from widgets.charts.axis.axes import ValueAxis
from widgets.charts.axis.scales import linear_ticks
from widgets.spaces.sequence.timeline.axes.dates import date_text, date_ticks
from widgets.spaces.sequence.timeline.axes.scale import TimeScale

GAP, DATE = 60, 95  # pixels between labels: of numbers, and of dates


class StepAxis(ValueAxis):
    """Coordinates are places of a `TimeScale`, or steps where there is none; step t fills [t, t + 1)."""

    def __init__(self, orientation: str) -> None:
        self.steps, self.times, self._form = 1, None, "%Y-%m-%d"
        super().__init__(orientation, text=self._word)
        self.end = "step"

    times: TimeScale | None

    def follow(self, steps: int, times: TimeScale | None) -> None:
        """Take a sequence of so many steps, at their true times where there are any."""
        if steps != self.steps or times is not self.times:
            self.steps, self.times = steps, times
            self.end = "step" if times is None else "date" if times.dated else "time"
            self.fit()
            self.redraw()

    def place(self, step: Any) -> Any:
        """Return the coordinates of steps; `step + 0.5` is the middle of one."""
        return step if self.times is None else self.times.place(step)

    def step(self, place: Any) -> Any:
        """Undo `place`."""
        return place if self.times is None else self.times.step(place)

    def ticks(self, low: float, high: float, most: int) -> list[float]:
        if self.times is not None and self.times.dated:
            most = max(1, int(most * GAP / DATE))
            scale = self.times
            self._form = date_ticks(scale.origin + low * scale.unit, scale.origin + high * scale.unit, most)[1]
        if self.times is not None:
            return [place for place, _ in self.times.ticks(low, high, most)]
        found = linear_ticks(low - 0.5, min(high, self.steps) - 0.5, most, (1, 2, 5, 10))
        return [v + 0.5 for v in found if v == round(v)]

    def _word(self, place: float) -> str:
        if self.times is not None and self.times.dated:
            return date_text(self.times.origin + place * self.times.unit, self._form)
        if self.times is not None:
            return with_minus(f"{self.times.origin + place * self.times.unit:.6g}")
        return with_minus(f"{round(place - 0.5):_}".replace("_", "\N{NO-BREAK SPACE}"))

    def widest(self) -> Sequence[str]:
        ends = (0.5, self.steps - 0.5) if self.times is None else (0.0, float(self.steps))
        return ["−0.00", *(self._word(end) for end in ends)]
