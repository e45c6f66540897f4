"""Fields on planar grids: where grey values and features of images sit."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from explorer.declare.groups import group
from explorer.declare.types.fields import Domain, FieldType, Regular, Representation, Scalar, shortest
from explorer.declare.types.places import eroded
from explorer.declare.types.written import spacing_and_sides

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
        spacing = f" /{shortest(self.spacing)}" if self.spacing != 1.0 else ""
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


class ChannelsLast(Domain):
    """The places of a grid, with the channels of a place on the last axis."""

    __slots__ = ()
    space = "grid"

    @property
    def plain(self) -> FieldType:
        return FieldType(Grid(self.spacing))

    def channels(self, shape: tuple[int, ...]) -> int:
        return shape[-1]

    def as_places(self, plain: Tensor) -> Tensor:
        return plain.flatten(0, -3)[0]

    def from_places(self, places: Tensor) -> Tensor:
        return places[None, None]

    def shrunk(self, places: Tensor, receptive: float) -> Tensor:
        return Grid(self.spacing).shrunk(places, receptive)


@dataclass(frozen=True, slots=True)
class Tokens(ChannelsLast):
    """The places of a grid row by row as tokens, (batch, tokens, channels), after `extra` tokens that no place has."""

    size: tuple[int, int]
    step: float = 1.0
    extra: int = 0
    name = "token"

    @property
    def axes(self) -> tuple[str, ...]:
        return ("batch", "token", "channel")

    @property
    def spacing(self) -> float:
        return self.step

    def at_spacing(self, spacing: float) -> Domain:
        return replace(self, step=spacing)

    def by_channel(self, values: Tensor) -> Tensor:
        return values.transpose(1, 2)

    def text(self, rep: Representation) -> str:
        more = f"+{self.extra}" if self.extra else ""
        return f"token {rep} /{shortest(self.step)} of {self.size[0]}x{self.size[1]}{more}"

    def spread(self, values: Tensor) -> Tensor:
        maps: Tensor = values[:, self.extra :].transpose(1, 2).unflatten(2, self.size)
        return maps

    def gathered(self, maps: Tensor, values: Tensor) -> Tensor:
        """Undo `spread`, with the extra tokens of `values`."""
        import torch

        tokens: Tensor = torch.cat([values[:, : self.extra], maps.flatten(2).transpose(1, 2)], 1)
        return tokens

    def ones(self, values: Tensor) -> Tensor:
        return values.new_ones((1, 1, *self.size))

    def masked(self, values: Tensor, places: Tensor) -> Tensor:
        return self.gathered(self.spread(values) * places, values)


@dataclass(frozen=True, slots=True)
class Pixels(ChannelsLast):
    """A grid with the channels of a place on the last axis: (batch, y, x, channel)."""

    step: float = 1.0
    name = "pixel"

    @property
    def axes(self) -> tuple[str, ...]:
        return ("batch", "y", "x", "channel")

    @property
    def spacing(self) -> float:
        return self.step

    def at_spacing(self, spacing: float) -> Domain:
        return replace(self, step=spacing)

    def by_channel(self, values: Tensor) -> Tensor:
        return self.spread(values).flatten(2)

    def text(self, rep: Representation) -> str:
        return f"pixel {rep}" + (f" /{shortest(self.step)}" if self.step != 1.0 else "")

    def spread(self, values: Tensor) -> Tensor:
        return values.movedim(-1, 1)

    def gathered(self, maps: Tensor, values: Tensor) -> Tensor:
        """Undo `spread`."""
        return maps.movedim(1, -1)

    def ones(self, values: Tensor) -> Tensor:
        return values.new_ones((1, 1, *values.shape[1:3]))

    def masked(self, values: Tensor, places: Tensor) -> Tensor:
        return values * places[..., None]


def parse_pixels(rest: str) -> Pixels:
    """Read what stands after the representation of pixels: "/4"; raise LookupError otherwise."""
    found = re.fullmatch(r"(?:/([0-9.]+))?", rest)
    if found is None or not float(found[1] or 1):
        raise LookupError(rest)
    return Pixels(float(found[1] or 1))


def parse_tokens(rest: str) -> Tokens:
    """Read what stands after the representation of tokens: "/4 of 3x3+1"; raise LookupError otherwise."""
    found = re.fullmatch(r"/([0-9.]+) of ([1-9][0-9]*)x([1-9][0-9]*)(?:\+([0-9]+))?", rest)
    if found is None or not float(found[1]):
        raise LookupError(rest)
    return Tokens((int(found[2]), int(found[3])), float(found[1]), int(found[4] or 0))


def grid(rep: Representation | None = None, spacing: float = 1.0) -> FieldType:
    """Return a grid field, scalar unless `rep` says otherwise."""
    return FieldType(Grid(spacing), rep or Scalar())


def regular(name: str, spacing: float = 1.0) -> FieldType:
    """Return a grid field in the regular representation of the group called `name`."""
    return FieldType(Grid(spacing), Regular(group(name)))


def parse_grid(rest: str) -> Grid:
    """Read what stands after the representation of a field on a grid: "/2 flat 3x4".

    Raises:
        LookupError: it is nothing of the kind; ValueError: the spacing is not positive.
    """
    spacing, flat = spacing_and_sides(rest, 2)
    return Grid(spacing, (flat[0], flat[1]) if flat else None)
