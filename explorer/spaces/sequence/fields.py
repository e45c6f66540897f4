"""Fields along time: where the values of sequences and of their pairs of steps sit."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from explorer.declare.types.fields import Domain, FieldType, Representation, Scalar, shortest
from explorer.declare.types.places import eroded

if TYPE_CHECKING:
    from torch import Tensor

# what the rows and the columns of a layer on pairs of steps may be, where they are not the steps of x
ANSWER = "answer"  # steps of what is written
NUMBERS = "numbers"  # steps of something else, which have no names


@dataclass(frozen=True, slots=True)
class Steps(Domain):
    """The steps of a sequence: one axis is time, all others together are the channels.

    Time is axis 0, except in somebody else's network with a batch axis: (1, steps, channels), (1, channels, steps).
    Behind a stride or a pool a place stands for several steps: `apart` is the distance of two of them. What a kernel
    without padding leaves is `cut`: places are as far apart as their number says not, and round no circle.
    """

    axis: int = 0
    apart: float = 1.0
    cut: bool = False
    name = "step"
    space = "sequence"
    counted = True
    batched = False
    remembers = True

    @property
    def axes(self) -> tuple[str, ...]:
        return ("step", "channel")

    @property
    def spacing(self) -> float:
        return self.apart

    def at_spacing(self, spacing: float) -> Domain:
        return replace(self, apart=spacing)

    @property
    def plain(self) -> FieldType:
        return FieldType(replace(self, axis=0))

    def text(self, rep: Representation) -> str:
        apart = f" /{shortest(self.apart)}" if self.apart != 1.0 else ""
        return f"step {rep}{apart}" + " cut" * self.cut + (f" on axis {self.axis}" if self.axis else "")

    def channels(self, shape: tuple[int, ...]) -> int:
        return math.prod(shape) // max(1, shape[self.axis])

    def places_first(self, values: Tensor) -> Tensor:
        return values.movedim(self.axis, 0) if self.axis else values

    def as_given(self, values: Tensor) -> Tensor:
        return values.movedim(0, self.axis) if self.axis else values

    def masked(self, values: Tensor, places: Tensor) -> Tensor:
        return values * places.view(-1, *[1] * (values.ndim - 1 - self.axis))

    def shrunk(self, places: Tensor, receptive: float) -> Tensor:
        # what has a state needs no more than what has come before: there nothing is shrunk
        radius = math.ceil(receptive / self.apart - 1e-9) if math.isfinite(receptive) else 0
        return eroded(places, radius) if radius > 0 else places


@dataclass(frozen=True, slots=True)
class Strands(Representation):
    """Channels come in pairs, one for each strand of DNA: channel c and its mirror from the end belong together."""

    size = 2

    def __str__(self) -> str:
        return "strands"


STEP = FieldType(Steps())  # (steps, ...)
STEP_INPUT = FieldType(Steps(), Scalar(intensity=True))


def parse_steps(rest: str) -> Steps:
    """Read what stands after the representation of a field on steps, "/2 cut on axis 1"; else raise LookupError."""
    form = r"(?:/(?P<apart>[0-9.]+(?:e[+-]?[0-9]+)?))?(?P<cut>(?:^| )cut)?(?:(?:^| )on axis (?P<axis>[0-9]))?"
    found = re.fullmatch(form, rest)
    if found is None:
        raise LookupError(rest)
    try:
        apart = float(found["apart"] or 1.0)
    except ValueError:
        apart = 0.0
    if apart <= 0.0:
        raise ValueError(f"the spacing must be a positive number, not {found['apart']!r}")
    return Steps(int(found["axis"] or 0), apart, bool(found["cut"]))
