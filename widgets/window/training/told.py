"""Hold the settings of a training, and all that it has told so far."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widgets.base.text.words import figure

LATELY = 0.8  # of the steps so far: what was judged after so many is told without its step
MOST = 200_000  # points of a series; of more, every second one


class Series:
    """Points of a curve, in arrays that grow."""

    def __init__(self) -> None:
        self._values = np.empty((2, 1024))
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def x(self) -> NDArray[np.float64]:
        return self._values[0, : self._count]

    @property
    def y(self) -> NDArray[np.float64]:
        return self._values[1, : self._count]

    def add(self, x: float, y: float) -> None:
        if self._count == self._values.shape[1]:
            if self._count >= MOST:
                thinned = self._values[:, ::2]
                self._count = thinned.shape[1]
                self._values[:, : self._count] = thinned.copy()
            else:
                self._values = np.concatenate([self._values, np.empty_like(self._values)], axis=1)
        self._values[:, self._count] = x, y
        self._count += 1

    def until(self, step: float) -> int:
        """Return the number of points up to a step."""
        return int(np.searchsorted(self.x, step, side="right"))

    def cut(self, step: float) -> None:
        """Take away what comes after a step."""
        self._count = self.until(step)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Settings that a training is started with; 0 epochs are as many as the card was shipped with."""

    path: Path
    epochs: int = 0
    seed: int = 0
    rate: float = 1.0
    loss: str = ""
    chain: str = ""
    errors: bool = True
    examples: str = ""  # path of what is learned in place of what the card's recipe learns
    goes_on: bool = False  # from what is kept of one that ended unfinished


@dataclass
class Told:
    """The messages of a run so far."""

    losses: dict[str, Series] = field(default_factory=dict)
    errors: dict[str, Series] = field(default_factory=dict)  # of each layer
    figures: dict[str, Series] = field(default_factory=dict)
    kept: list[int] = field(default_factory=list)
    step: int = 0
    total: int = 0
    epoch: int = 0
    epochs: int = 0
    left: float | None = None
    choices: tuple[str, ...] = ()  # losses
    loss: str = ""
    seed: int = 0
    drawn: int | None = None  # the steps after which chance was drawn anew, from the seed
    steered: bool = True
    paused: bool = False  # as it was last asked, or by a loss that diverged: what it says of it may come late
    live: str = ""  # path of the network as it is
    transform: str = ""
    changes: str = ""  # of the settings that it was started with, and after which steps
    turns: tuple[tuple[int, str], ...] = ()  # after how many steps what of them was changed
    branch: int | None = None  # the step that it was taken back to; what followed is there until it goes on

    @property
    def series(self) -> tuple[Series, ...]:
        return (*self.losses.values(), *self.errors.values(), *self.figures.values())

    def add(self, kind: str, name: str, x: Sequence[float], y: Sequence[float]) -> None:
        """Add points to a curve of "losses", "errors" or "figures"."""
        series: Series = getattr(self, kind).setdefault(name, Series())
        for step, value in zip(x, y, strict=True):
            series.add(float(step), float(value))

    def hear(self, found: Mapping[str, Any]) -> None:
        """Take what a training says of its steps; see explorer/app/training/live.py."""
        for step, loss, parts in found.get("steps", ()):
            self.goes_on(int(step))
            self.step = int(step)
            for name, value in (("loss", loss), *parts.items()):
                if value is not None and math.isfinite(value):
                    self.losses.setdefault(name, Series()).add(step, value)
        self.changes = str(found.get("changes", self.changes))
        if "turns" in found:
            self.turns = tuple((int(over), str(words)) for over, words in found["turns"])
        if "kept" in found:
            self.kept = [int(step) for step in found["kept"]]
        if "errors" in found:
            self.goes_on(int(found["step"]))
        for series, key in ((self.errors, "errors"), (self.figures, "figures")):
            for name, value in found.get(key, {}).items():
                into = series.setdefault(name, Series())
                if value is not None and math.isfinite(value) and not (len(into) and into.x[-1] >= found["step"]):
                    into.add(found["step"], value)
        if "back" in found:
            self.step = self.branch = int(found["back"])

    def at(self, points: Series) -> float | None:
        """Return the value of a curve at the step at which it stands."""
        count = points.until(self.step)
        return float(points.y[count - 1]) if count else None

    def figure(self, name: str, points: Series) -> str:
        """Return what was last judged, with its step where that is long ago: nothing is judged while nobody looks."""
        if (y := self.at(points)) is None:
            return ""
        step = points.x[points.until(self.step) - 1]
        return f"{name.replace('_', ' ')} {figure(y)}" + (f" at step {step:,.0f}" if step < LATELY * self.step else "")

    def goes_on(self, step: int) -> None:
        """Take away what followed the step that it was taken back to: it goes on in another way."""
        if self.branch is not None and step > self.branch:
            for points in self.series:
                points.cut(self.branch)
            self.kept = [kept for kept in self.kept if kept <= self.branch]
            self.branch = None
