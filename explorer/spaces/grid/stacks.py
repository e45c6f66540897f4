"""Fields on grids with channels on several axes, as of capsules (batch, kinds, vector, y, x), or on none."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from explorer.declare.types.fields import Domain, Representation, shortest
from explorer.spaces.grid.fields import ChannelsLast

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Stack(ChannelsLast):
    """A grid with `before` axes of channels between those of the batch and of the places, and `after` of them last."""

    before: int
    after: int = 0
    step: float = 1.0
    name = "stack"

    @property
    def axes(self) -> tuple[str, ...]:
        return ("batch", *("channel",) * self.before, "y", "x", *("channel",) * self.after)

    @property
    def spacing(self) -> float:
        return self.step

    def at_spacing(self, spacing: float) -> Domain:
        return replace(self, step=spacing)

    def channels(self, shape: tuple[int, ...]) -> int:
        return math.prod(shape[1:]) // max(1, math.prod(self._sides(shape)))

    def by_channel(self, values: Tensor) -> Tensor:
        return self.spread(values).flatten(2)

    def text(self, rep: Representation) -> str:
        step = f" /{shortest(self.step)}" if self.step != 1.0 else ""
        return f"stack {rep}{step} {self.before}+{self.after}"

    def spread(self, values: Tensor) -> Tensor:
        rows = 1 + self.before
        if not self.before + self.after:
            return values[:, None]
        return values.movedim((rows, rows + 1), (-2, -1)).flatten(1, -3)

    def gathered(self, maps: Tensor, values: Tensor) -> Tensor:
        rows, shape = 1 + self.before, tuple(values.shape)
        channels = shape[1:rows] + shape[rows + 2 :]
        if not channels:
            return maps[:, 0]
        found: Tensor = maps.unflatten(1, channels).movedim((-2, -1), (rows, rows + 1))
        return found

    def ones(self, values: Tensor) -> Tensor:
        return values.new_ones((1, 1, *self._sides(tuple(values.shape))))

    def masked(self, values: Tensor, places: Tensor) -> Tensor:
        return values * places.view(*places.shape[-2:], *(1,) * self.after)

    def _sides(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape[1 + self.before : 3 + self.before]


def parse_stack(rest: str) -> Stack:
    """Read what stands after the representation of a stack: "/2 2+0"; raise LookupError otherwise."""
    found = re.fullmatch(r"(?:/([0-9.]+) )?([0-9])\+([0-9])", rest)
    if found is None or not float(found[1] or 1):
        raise LookupError(rest)
    return Stack(int(found[2]), int(found[3]), float(found[1] or 1))
