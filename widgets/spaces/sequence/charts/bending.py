"""The curve t -> tau(t) of a chain of steps as a hand bends it: handles, ends and the whole curve. Knows no widget.

x'(t) = x(tau(t)). Of a chain the last step's map acts first: tau = tau_1 o ... o tau_n. The handles are those of the
last warp; what acts after it moves them along the curve, what acts before it moves them up and down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.declare.elements import Step, transforms
from explorer.spaces.sequence.elements.time_map import TimeMap
from explorer.spaces.sequence.elements.transforms.warp import LIMIT, PLACES, handles

WARP, SHIFT, RESCALE = "warp", "shift", "rescale"
GRID = 20_001  # points at most, between which a map is inverted by straight lines
APART = 0.01  # the least distance of two handles, as a share of the sequence
FINE = 4  # digits of a place or an offset


@dataclass(frozen=True, slots=True)
class Handle:
    """A point of the curve that can be dragged.

    `index` is that of its offset among the values of the warp, or -1 and -2 for the first and last step; `free` says
    whether it has a place of its own.
    """

    index: int
    t: float
    tau: float
    free: bool = False

    @property
    def end(self) -> bool:
        return self.index < 0


class Curve:
    """The map of time of a chain of steps on a sequence of so many."""

    def __init__(self, steps: Sequence[Step], count: int) -> None:
        self.steps, self.count = tuple(steps), count
        self.last = max(1.0, count - 1.0)
        self.at = max((i for i, s in enumerate(self.steps) if s.name == WARP), default=len(self.steps))
        self.values = self.steps[self.at].values if self.bent else transforms()[WARP].defaults
        self._maps = [transforms()[s.name].element(*s.values) for s in self.steps]
        self._slope: NDArray[np.float64] | None = None

    @property
    def bent(self) -> bool:
        """Return whether there is a warp in the chain."""
        return self.at < len(self.steps)

    def has(self, name: str) -> bool:
        return any(s.name == name for s in self.steps)

    # the map --------------------------------------------------------------------------------------------------
    def tau(self, t: Any) -> NDArray[np.float64]:
        """Return where the value at t comes from."""
        return self._through(t, self._maps)

    def slope(self) -> NDArray[np.float64]:
        """Return d tau / dt between each two steps, (T - 1,)."""
        if self._slope is None:
            self._slope = np.diff(self.tau(np.arange(self.count)))
        return self._slope

    def _through(self, t: Any, maps: Sequence[Any]) -> NDArray[np.float64]:
        found = np.asarray(t, np.float64)
        for one in reversed(maps):
            if isinstance(one, TimeMap):
                found = one.source(found, self.count)
        return found

    def outer(self, t: float) -> float:
        """Return the place t has where the warp is applied."""
        return float(self._through(t, self._maps[self.at + 1 :]))

    def inner(self, v: float) -> float:
        """Return the step of x that the warp's answer v leads to."""
        return float(self._through(v, self._maps[: self.at]))

    def _back(self, maps: Sequence[Any], y: float) -> float:
        """Return t with tau(t) = y."""
        if not maps:
            return y
        t = np.linspace(-self.last, 2 * self.last, min(GRID, 12 * self.count + 1))
        found = self._through(t, maps)
        if found[-1] < found[0]:
            t, found = t[::-1], found[::-1]
        return float(np.interp(y, found, t))

    def straight(self, t: float) -> float:
        """Return tau(t) as it would be without the warp: the diagonal."""
        return float(self._through(t, [m for k, m in enumerate(self._maps) if k != self.at]))

    def reached(self, tau: float) -> float:
        """Return a t with tau(t) = tau."""
        return self._back(self._maps, tau)

    # handles --------------------------------------------------------------------------------------------------
    def handles(self) -> list[Handle]:
        """Return the ends and the handles of the warp, or those that one would have, in the order of their places."""
        made = []
        warp = transforms()[WARP].element(*self.values)
        assert isinstance(warp, TimeMap)
        for place, _, index in handles(*self.values):
            u = place * self.last
            v = float(warp.source(np.array(u), self.count))
            t = self._back(self._maps[self.at + 1 :], u)
            made.append(Handle(index, t, self.inner(v), index >= len(PLACES)))
        first, last = (Handle(k, t, float(self.tau(t))) for k, t in ((-1, 0.0), (-2, float(self.count - 1))))
        return [first, *made, last]

    def dragged(self, index: int, t: float, tau: float) -> tuple[Step, ...]:
        """Return the steps with a handle at (t, tau), as near to it as the curve stays monotone."""
        if index < 0:
            return self._with_end(index, tau)
        found = handles(*self.values)
        k = next(i for i, h in enumerate(found) if h[2] == index)
        place = found[k][0]
        sides = [(0.0, 0.0), *((p, min(max(p + o, 0.0), 1.0)) for p, o, _ in found), (1.0, 1.0)]
        below, above = sides[k], sides[k + 2]
        values = list(self.values)
        if index >= len(PLACES):
            room = min(APART, (above[0] - below[0]) / 3)
            place = round(min(max(self.outer(t) / self.last, below[0] + room), above[0] - room), FINE)
            values[index - 1] = place
        to = min(max(self._back(self._maps[: self.at], tau) / self.last, below[1]), above[1])
        values[index] = round(min(max(to - place, -LIMIT), LIMIT), FINE) + 0.0
        return self._with(WARP, self.at, values)

    def added(self, t: float) -> tuple[Step, ...] | None:
        """Return the steps with a further handle on the curve at t, which changes nothing yet; None without room."""
        place = round(self.outer(t) / self.last, FINE)
        near = [abs(place - p) for p, _, _ in handles(*self.values)]
        free = [k for k in range(len(PLACES), len(self.values), 2) if not 0.0 < self.values[k] < 1.0]
        if not free or not APART <= place <= 1 - APART or min(near) < APART:
            return None
        warp = transforms()[WARP].element(*self.values)
        assert isinstance(warp, TimeMap)
        values = list(self.values)
        values[free[0]], values[free[0] + 1] = place, round(float(warp.warp(np.array(place))), 2 * FINE)
        return self._with(WARP, self.at, values)

    def removed(self, index: int) -> tuple[Step, ...]:
        """Return the steps without a handle; one of the three that always stand is put in line with its neighbours."""
        values = list(self.values)
        if index >= len(PLACES):
            values[index - 1] = values[index] = 0.0
        else:
            rest = [(p, o) for p, o, k in handles(*values) if k != index]
            at, by = zip(*[(0.0, 0.0), *rest, (1.0, 0.0)], strict=True)
            values[index] = round(float(np.interp(PLACES[index], at, by)), 2 * FINE)
        return self._with(WARP, self.at, values)

    def moved(self, start: float, t: float, whole: bool) -> tuple[Step, ...] | None:
        """Return the steps with the curve moved from `start` to t by the chain's last shift; None without one."""
        k = self._last(SHIFT)
        if k is None:
            return None
        here, there = (float(self._through(v, self._maps[k + 1 :])) for v in (start, t))
        by = self.steps[k].values[0] + there - here
        return self._with(SHIFT, k, [float(round(by)) if whole else round(by, 2), *self.steps[k].values[1:]])

    def _with_end(self, index: int, tau: float) -> tuple[Step, ...]:
        """Rescale so that an end of the curve is at tau; the other one stays, if the chain has a shift as well."""
        k = self._last(RESCALE)
        if k is None:
            return self.steps
        first, last = (float(v) for v in self.tau(np.array([0.0, self.count - 1.0])))
        fixed, own = (first, last) if index == -2 else (last, first)
        if abs(own - fixed) < 1e-9 or (tau - fixed) / (own - fixed) <= 0:
            return self.steps
        rate = transforms()[RESCALE].params[0].clamp(round(self.steps[k].values[0] * (tau - fixed) / (own - fixed), 4))
        scaled = Curve(self._with(RESCALE, k, [rate]), self.count)
        k = scaled._last(SHIFT)
        if k is None:
            return scaled.steps
        at = self.count - 1.0 if index == -1 else 0.0
        gain = float(scaled._nudged(k).tau(at)) - float(scaled.tau(at))
        if abs(gain) < 1e-9:
            return scaled.steps
        by = scaled.steps[k].values[0] + (fixed - float(scaled.tau(at))) / gain
        return scaled._with(SHIFT, k, [round(by, FINE) + 0.0, *scaled.steps[k].values[1:]])

    def _nudged(self, k: int) -> Curve:
        values = self.steps[k].values
        return Curve(self._with(SHIFT, k, [values[0] + 1.0, *values[1:]]), self.count)

    def _last(self, name: str) -> int | None:
        return next((k for k in reversed(range(len(self.steps))) if self.steps[k].name == name), None)

    def _with(self, name: str, k: int, values: Sequence[float]) -> tuple[Step, ...]:
        return (*self.steps[:k], Step(name, tuple(values)), *self.steps[k + 1 :])
