"""The part of a timeline that is in sight, as its rows are told of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from widgets.spaces.sequence.timeline.axes.axis import TimeAxis
from widgets.spaces.sequence.timeline.axes.scale import TimeScale
from widgets.spaces.sequence.timeline.layout import Slot
from widgets.spaces.sequence.timeline.pyramids.pyramid import bucket_for
from widgets.spaces.sequence.timeline.rows import Scene


@dataclass(frozen=True, slots=True)
class Sight:
    """The steps in sight across the pixels of the view box, and how far rows are scrolled up.

    Attributes:
        ratio: pixels of the screen in a pixel.
        deadline: the moment by which what takes long has to end.
    """

    axis: TimeAxis
    scroll: float = 0.0
    ratio: float = 1.0
    deadline: float = math.inf

    def column(self, scale: TimeScale | None) -> float:
        """Return the width of a column in places: a power of two, not wider than a pixel; of steps, at least one."""
        each = self.axis.per_pixel / self.ratio
        return float(bucket_for(each)) if scale is None else 2.0 ** math.floor(math.log2(max(each, 1e-9)))


class RowItem(Protocol):
    """An item that draws a row."""

    def show_row(self, slot: Slot, scene: Scene, scale: TimeScale | None) -> None:
        """Take the row and its place."""

    def follow(self, sight: Sight) -> bool:
        """Follow zoom, pan and scrolling; return False where there is more to be done."""
        ...

    def dress(self) -> None:
        """Take the colours of the theme."""

    def setVisible(self, on: bool) -> None:
        """Show or hide the row."""
