"""Fields on planar grids: where grey values and features of images sit."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from explorer.declare.fields import Domain, FieldType, Regular, Representation, Scalar
from explorer.declare.groups import group
from explorer.declare.places import eroded

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Grid(Domain):
    """A regular grid sampled every `spacing` input pixels; `flat` = (height, width) after nn.Flatten.

    A single place that summarises the whole image (global pooling) has infinite spacing: no shift moves it.
    """

    spacing: float = 1.0
    flat: tuple[int, int] | None = None
    name = "grid"
    space = "grid"
    fibred = True

    @property
    def axes(self) -> tuple[str, ...]:
        return ("batch", "channel") if self.flat else ("batch", "channel", "y", "x")

    @property
    def plain(self) -> FieldType:
        return FieldType(Grid(self.spacing))

    def at_spacing(self, spacing: float) -> Domain:
        return replace(self, spacing=spacing)

    def text(self, rep: Representation) -> str:
        flat = f" flat {self.flat[0]}x{self.flat[1]}" if self.flat else ""
        spacing = f" /{_shortest(self.spacing)}" if self.spacing != 1.0 else ""
        return f"grid {rep}{spacing}{flat}"

    def spread(self, values: Tensor) -> Tensor:
        return values.unflatten(1, (-1, *self.flat)) if self.flat else values

    def ones(self, values: Tensor) -> Tensor:
        return values.new_ones((1, 1, *(self.flat or values.shape[-2:])))

    def as_places(self, plain: Tensor) -> Tensor:
        return plain.flatten(0, -3)[0]

    def from_places(self, places: Tensor) -> Tensor:
        return places[None, None]

    def masked(self, values: Tensor, places: Tensor) -> Tensor:
        return (self.spread(values) * places).flatten(1) if self.flat else values * places

    def shrunk(self, places: Tensor, receptive: float) -> Tensor:
        if not (math.isfinite(receptive) and math.isfinite(self.spacing)):
            return places.new_zeros(places.shape)
        radius = math.ceil(receptive / self.spacing - 1e-9)
        return eroded(places, radius) if radius else places


def grid(rep: Representation | None = None, spacing: float = 1.0) -> FieldType:
    """Return a grid field, scalar unless `rep` says otherwise."""
    return FieldType(Grid(spacing), rep or Scalar())


def regular(name: str, spacing: float = 1.0) -> FieldType:
    """Return a grid field in the regular representation of the group called `name`."""
    return FieldType(Grid(spacing), Regular(group(name)))


def _shortest(value: float) -> str:
    """Return the shortest text that float() reads as `value`: 2, not 2.0, and all digits of 1/3."""
    return text if float(text := f"{value:g}") == value else repr(float(value))


def parse_grid(rest: str) -> Grid:
    """Read what stands after the representation of a field on a grid: "/2 flat 3x4".

    Raises:
        LookupError: it is nothing of the kind; ValueError: the spacing is not positive.
    """
    number, side = r"[0-9.]+(?:e[+-]?[0-9]+)?|inf", "[1-9][0-9]*"
    found = re.fullmatch(rf"(?:/(?P<spacing>{number}))?(?:(?:^| )flat (?P<h>{side})x(?P<w>{side}))?", rest)
    if found is None:
        raise LookupError(rest)
    try:
        spacing = float(found["spacing"] or 1.0)
    except ValueError:
        spacing = 0.0
    if spacing <= 0.0:
        raise ValueError(f"the spacing must be a positive number, not {found['spacing']!r}")
    return Grid(spacing, (int(found["h"]), int(found["w"])) if found["h"] else None)
