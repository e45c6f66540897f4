"""Fields on planar grids: where grey values and features of images sit."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from explorer.declare.elements import NoAction
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

    def gathered(self, maps: Tensor, values: Tensor) -> Tensor:
        """Undo `spread`."""
        return maps.flatten(1) if self.flat else maps

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


Motion = Callable[["Tensor"], "Tensor"]  # of maps, (batch, channel, y, x)


class ChannelsLast(Domain):
    """The places of a grid, with the channels of a place on the last axis."""

    __slots__ = ()
    space = "grid"

    def gathered(self, maps: Tensor, values: Tensor) -> Tensor:
        """Undo `spread`, with all of `values` that lies on no place."""
        raise NotImplementedError

    def moved(self, values: Tensor, motion: Motion) -> Tensor:
        """Return values with their places moved as maps are."""
        return self.gathered(motion(self.spread(values)), values)

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
    """The places of a grid row by row as tokens, (batch, tokens, channels), between tokens that no place has.

    Attributes:
        extra, after: how many of them come first, as a class token does, and last.
    """

    size: tuple[int, int]
    step: float = 1.0
    extra: int = 0
    after: int = 0
    name = "token"

    @property
    def count(self) -> int:
        return self.size[0] * self.size[1] + self.extra + self.after

    @property
    def inside(self) -> slice:
        """Return which of the tokens are places."""
        return slice(self.extra, self.extra + self.size[0] * self.size[1])

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
        return f"token {rep} {_tokens_text(self)}"

    def spread(self, values: Tensor) -> Tensor:
        maps: Tensor = values[:, self.inside].transpose(1, 2).unflatten(2, self.size)
        return maps

    def gathered(self, maps: Tensor, values: Tensor) -> Tensor:
        import torch

        ends = values[:, : self.extra], values[:, self.inside.stop :]
        tokens: Tensor = torch.cat([ends[0], maps.flatten(2).transpose(1, 2), ends[1]], 1)
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
        return maps.movedim(1, -1)

    def ones(self, values: Tensor) -> Tensor:
        return values.new_ones((1, 1, *values.shape[1:3]))

    def masked(self, values: Tensor, places: Tensor) -> Tensor:
        return values * places[..., None]


@dataclass(frozen=True, slots=True)
class TokenPairs(ChannelsLast):
    """Pairs of tokens, (batch, head, to, from), such as attention over an image; each row of a head is a channel.

    Rows and columns of tokens that are places move along with these, all others stand still.
    """

    tokens: Tokens
    name = "token-pair"

    @property
    def axes(self) -> tuple[str, ...]:
        return ("batch", "head", "to", "from")

    @property
    def spacing(self) -> float:
        return self.tokens.step

    def at_spacing(self, spacing: float) -> Domain:
        return replace(self, tokens=replace(self.tokens, step=spacing))

    def channels(self, shape: tuple[int, ...]) -> int:
        return math.prod(shape[1:-1])

    def by_channel(self, values: Tensor) -> Tensor:
        return values.reshape(len(values), -1, values.shape[-1])

    def text(self, rep: Representation) -> str:
        return f"token-pair {rep} {_tokens_text(self.tokens)}"

    def spread(self, values: Tensor) -> Tensor:
        """Return what each token of each head attends to over the image, (batch, heads x tokens, y, x)."""
        if values.shape[-1] != self.tokens.count:
            return values  # a coarse picture of a matrix that is never formed
        maps: Tensor = values[..., self.tokens.inside].flatten(1, -2).unflatten(2, self.tokens.size)
        return maps

    def picture(self, values: Tensor, rep: Representation, most: int) -> tuple[Tensor, int]:
        if values.ndim == 3 and values.shape[-1] != self.tokens.count:
            return values, len(values)
        v = self.spread(values)[0]
        return v, len(v)

    def order(self, motion: Motion, like: Tensor) -> tuple[Tensor, Tensor] | None:
        """Return which token comes to each place, and 1, or 0 where none does; None where values mix."""
        import torch

        inside, (h, w) = self.tokens.inside, self.tokens.size
        numbers = torch.arange(1, h * w + 1, dtype=torch.float64, device=like.device).view(1, 1, h, w)
        moved = motion(numbers)
        whole = moved.round()
        if not torch.allclose(moved, whole, rtol=0, atol=1e-6):
            return None
        index = torch.arange(self.tokens.count, device=like.device)
        there = torch.ones(self.tokens.count, dtype=like.dtype, device=like.device)
        index[inside] = (whole.flatten().long() - 1).clamp(0, h * w - 1) + self.tokens.extra
        there[inside] = (whole.flatten() > 0).to(like.dtype)
        return index, there

    def moved(self, values: Tensor, motion: Motion) -> Tensor:
        import torch

        if (found := self.order(motion, values)) is not None:
            index, there = found
            values = values.index_select(-2, index).index_select(-1, index)
            return values if bool(there.all()) else values * there[:, None] * there
        if hasattr(values, "head_rows"):
            raise NoAction("a matrix of so many pairs of patches is moved by whole patches only")
        inside = self.tokens.inside
        for _ in range(2):
            ends = values[..., : inside.start], values[..., inside.stop :]
            maps = motion(self.spread(values)).flatten(2).unflatten(1, values.shape[1:-1])
            values = torch.cat([ends[0], maps, ends[1]], -1).transpose(-1, -2)
        return values

    def ones(self, values: Tensor) -> Tensor:
        return values.new_ones((1, 1, *self.tokens.size))

    def masked(self, values: Tensor, places: Tensor) -> Tensor:
        there = places.new_ones(self.tokens.count)
        there[self.tokens.inside] = places.flatten()
        return values * there[:, None] * there


def parse_pixels(rest: str) -> Pixels:
    """Read what stands after the representation of pixels: "/4"; raise LookupError otherwise."""
    found = re.fullmatch(r"(?:/([0-9.]+))?", rest)
    if found is None or not float(found[1] or 1):
        raise LookupError(rest)
    return Pixels(float(found[1] or 1))


def _tokens_text(tokens: Tokens) -> str:
    more = f"+{tokens.extra}" if tokens.extra or tokens.after else ""
    more += f"+{tokens.after}" if tokens.after else ""
    return f"/{shortest(tokens.step)} of {tokens.size[0]}x{tokens.size[1]}{more}"


def parse_tokens(rest: str) -> Tokens:
    """Read what stands after the representation of tokens: "/4 of 3x3+1+2"; raise LookupError otherwise."""
    found = re.fullmatch(r"/([0-9.]+) of ([1-9][0-9]*)x([1-9][0-9]*)(?:\+([0-9]+))?(?:\+([0-9]+))?", rest)
    if found is None or not float(found[1]):
        raise LookupError(rest)
    return Tokens((int(found[2]), int(found[3])), float(found[1]), int(found[4] or 0), int(found[5] or 0))


def parse_token_pairs(rest: str) -> TokenPairs:
    """Read what stands after the representation of pairs of tokens, as of tokens."""
    return TokenPairs(parse_tokens(rest))


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
