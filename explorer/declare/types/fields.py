"""Field types: what a tensor inside a network is a field *of*, and over *what*.

A captured tensor alone says nothing about how it should be drawn or how it should move. A `FieldType` pairs a
domain (where the values sit) with a representation (how the values at one place mix under the point group).
From that pair follow the group action (`explorer.declare.elements`), the view that draws it, and linked selection.
Nothing here imports torch: declarations are cheap values that the window can read before torch has arrived.

The action is the induced representation (Cohen et al., "A General Theory of Equivariant CNNs on Homogeneous
Spaces", 2019): (rho(g) f)(u) = rho_fibre(h) f(g^-1 u), where h is the point part of g.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Protocol

from explorer.declare.groups import FiniteGroup

if TYPE_CHECKING:
    from torch import Tensor


class Domain:
    """The places where the values of a field sit, and the layout of a tensor's axes over them.

    Subclasses are frozen values. Everything that depends on the layout is asked here, so that nothing else asks which
    domain it is.

    Attributes:
        name: first word of the text of a field that lies on it.
        space: name of the space whose inputs lie on it; "" where none do.
        batched: whether axis 0 counts samples; else a tensor holds one sample.
        placed: whether there are places for an element to move; else there is one value for the whole input.
        counted: whether a person selects a place by its number, as a node or a step; never of what has a batch.
        fibred: whether a finite group can mix the channels at a place (regular fields).
        remembers: whether what comes in from outside, as padding, counts like any other input. On other domains a
            layer that sees everything has no verdict where something was cut off.
        paired: whether each value belongs to two places: such values are often the same both ways.
    """

    __slots__ = ()
    name: ClassVar[str] = ""
    space: ClassVar[str] = ""
    batched: ClassVar[bool] = True
    placed: ClassVar[bool] = True
    remembers: ClassVar[bool] = False
    fibred: ClassVar[bool] = False
    counted: ClassVar[bool] = False
    paired: ClassVar[bool] = False

    @property
    def axes(self) -> tuple[str, ...]:
        """Return the name of each axis."""
        return ("batch", "channel")

    @property
    def spacing(self) -> float:
        """Return the distance of two neighbours in places of the input."""
        return 1.0

    def at_spacing(self, spacing: float) -> Domain:
        """Return the same domain with another distance of neighbours."""
        return self

    def text(self, rep: Representation) -> str:
        """Return a field on this domain in words that `parse_field` reads."""
        return f"{self.name} {rep}"

    def rep_axes(self, rep: Representation) -> tuple[str, ...]:
        """Return the names of the axes of a field with this representation."""
        return rep.axes(self) or self.axes

    def channels(self, shape: tuple[int, ...]) -> int:
        """Return how many values there are at one place of a tensor of that shape."""
        return shape[1] if self.batched and len(shape) > 1 else 1 if self.batched else math.prod(shape[1:])

    # layout ---------------------------------------------------------------------------------------------------
    def spread(self, values: Tensor) -> Tensor:
        """Return values with an axis for each direction, where places were flattened."""
        return values

    def places_first(self, values: Tensor) -> Tensor:
        """Return values with the places on axis 0, where nothing is a batch."""
        return values

    def as_given(self, values: Tensor) -> Tensor:
        """Undo `places_first`."""
        return values

    def rows(self, values: Tensor) -> Tensor:
        """Return (batch, everything else); without a batch all of it is one row."""
        return values.reshape(1, -1) if not self.batched or values.ndim < 2 else values.flatten(1)

    def by_channel(self, values: Tensor) -> Tensor:
        """Return (batch, channels, places)."""
        if self.batched:
            return values.flatten(2) if values.ndim > 2 else values.reshape(*self.rows(values).shape, 1)
        v = self.places_first(values) if values.ndim else values.view(1)  # as an energy, one number of all
        return v.reshape(len(v), -1).t()[None] if len(v) else v.new_zeros((1, 1, 0))

    def by_place(self, values: Tensor) -> Tensor:
        """Return the values of one sample as (places, channels)."""
        v = self.places_first(values) if values.ndim else values.view(1)
        return v.flatten(1) if v.ndim > 1 else v[:, None]

    def table(self, values: Tensor, rep: Representation) -> Tensor:
        """Return the values of one sample as (places, channels); those of pairs as (channels, places, places)."""
        v = self.places_first(values)
        if not v.ndim:
            return v.reshape(1, 1)
        return v.reshape(len(v), -1) if len(v) else v.new_zeros((0, 1))

    def picture(self, values: Tensor, rep: Representation, most: int) -> tuple[Tensor, int]:
        """Return the values of one sample as images, (channels, height, width), and how many channels there are.

        Args:
            most: how many channels are drawn, for those that are columns of one image.
        """
        if self.batched:
            v = self.spread(values)[0] if values.ndim > 1 else values
            if v.ndim == 2:  # places in a row: a line of one image for each channel
                return v[None, :most], len(v)
            v = v.reshape(-1, 1, 1) if v.ndim < 2 else v.flatten(0, -3)
            return v, len(v)
        v = self.places_first(values) if values.ndim else values.view(1)
        total = v[:1].numel()
        if not len(v):  # no places have no values, but they have channels
            return v.new_zeros((1, 0, max(1, total))), total
        return v.reshape(len(v), -1)[None, :, :most], total

    # what is cut off ------------------------------------------------------------------------------------------
    @property
    def plain(self) -> FieldType:
        """Return the field of one number at each place."""
        return FieldType(self)

    def ones(self, values: Tensor) -> Tensor:
        """Return 1 at each place of a tensor on this domain, as a field `plain`."""
        return values.new_ones((len(self.places_first(values)), 1))

    def as_places(self, plain: Tensor) -> Tensor:
        """Return the numbers of a field `plain` by place alone."""
        return plain[:, 0]

    def from_places(self, places: Tensor) -> Tensor:
        """Undo `as_places`."""
        return places[:, None]

    def masked(self, values: Tensor, places: Tensor) -> Tensor:
        """Return values times a number for each place."""
        return values * places

    def shrunk(self, places: Tensor, receptive: float) -> Tensor:
        """Return the places, (…) in {0, 1}, that see no place that is 0 within a radius in places of the input."""
        return places

    def parts(self, unit: str, places: int) -> tuple[tuple[int, ...], ...]:
        """Return the places of each part of a kind, such as "degree"; () where there are none of it."""
        return ()


@dataclass(frozen=True, slots=True)
class Point(Domain):
    """A single place: one value per sample and channel, such as class scores and pooled vectors."""

    name = "point"
    placed = False
    fibred = True

    def text(self, rep: Representation) -> str:
        return "invariant" if rep == Scalar() else f"point {rep}"

    def table(self, values: Tensor, rep: Representation) -> Tensor:
        # a vector holds the channels of the one place
        return Domain.table(self, values[None] if values.ndim == 1 else values, rep)

    def shrunk(self, places: Tensor, receptive: float) -> Tensor:
        return places.new_zeros(places.shape)


@dataclass(frozen=True, slots=True)
class Pairs(Domain):
    """Ordered pairs of nodes or steps (attention): the last two axes are (to, from), those before the channels."""

    name = "pair"
    batched = False
    paired = True
    remembers = True

    @property
    def axes(self) -> tuple[str, ...]:
        return ("channel", "node", "node")

    def channels(self, shape: tuple[int, ...]) -> int:
        return math.prod(shape[:-2])

    def by_channel(self, values: Tensor) -> Tensor:
        return values.reshape(1, -1, values.shape[-1] * values.shape[-2])

    def by_place(self, values: Tensor) -> Tensor:
        return values.reshape(-1, values.shape[-2] * values.shape[-1]).t()

    def table(self, values: Tensor, rep: Representation) -> Tensor:
        return values.reshape(-1, *values.shape[-2:])

    def picture(self, values: Tensor, rep: Representation, most: int) -> tuple[Tensor, int]:
        v = self.table(values, rep)
        return v, len(v)

    def ones(self, values: Tensor) -> Tensor:
        return values.new_ones((1, *values.shape[-2:]))

    def as_places(self, plain: Tensor) -> Tensor:
        return plain[0]

    def from_places(self, places: Tensor) -> Tensor:
        return places[None]


class Acting(Protocol):
    """Act on fields, as group elements do."""

    def act(self, values: Tensor, field: FieldType) -> Tensor: ...


class Representation:
    """The change of the values at one place under an element, beside moving along with their place.

    Subclasses are frozen values; `str` gives the words that `parse_field` reads.
    """

    __slots__ = ()

    @property
    def size(self) -> int:
        """Return how many channels belong together."""
        return 1

    def axes(self, domain: Domain) -> tuple[str, ...]:
        """Return the names of the axes where they are not those of the domain, else ()."""
        return ()

    def acted(self, element: Acting, values: Tensor, field: FieldType) -> Tensor:
        """Return rho(g) of values of a field with this representation; raise NoAction where it has none."""
        return element.act(values, field)

    def parts(self, unit: str, channels: int) -> tuple[tuple[int, ...], ...]:
        """Return the channels of each part of a kind, () where there are none; a "value" is what belongs together."""
        if unit != "value" or channels % self.size:
            return ()
        return tuple(tuple(range(first, first + self.size)) for first in range(0, channels, self.size))


@dataclass(frozen=True, slots=True)
class Scalar(Representation):
    """A representation whose channels are scalar fields: the point group moves places and never mixes channels.

    `intensity` marks measured grey values (an input image): brightness acts on these alone.
    """

    intensity: bool = False

    @property
    def size(self) -> int:
        return 1

    def __str__(self) -> str:
        return "intensity" if self.intensity else "scalar"


@dataclass(frozen=True, slots=True)
class Regular(Representation):
    """Channels come in blocks of |H|, one per group element, permuted by h: channel = field * |H| + index."""

    group: FiniteGroup

    @property
    def size(self) -> int:
        return self.group.order

    def __str__(self) -> str:
        return f"regular({self.group.name})"


@dataclass(frozen=True, slots=True)
class FieldType:
    """A domain and a representation; `guessed` when inferred rather than declared by the model."""

    domain: Domain
    rep: Representation = Scalar()
    guessed: bool = False

    @property
    def axes(self) -> tuple[str, ...]:
        return self.domain.rep_axes(self.rep)

    @property
    def stacked(self) -> bool:
        """Return whether channels lie on several axes."""
        return self.axes.count("channel") > 1

    @property
    def batched(self) -> bool:
        """Say whether axis 0 counts samples; else there is one sample, such as a graph or a sequence."""
        return self.domain.batched

    @property
    def invariant(self) -> bool:
        """Say whether nothing moves under any point-group element."""
        return not self.domain.placed and isinstance(self.rep, Scalar)

    @property
    def spacing(self) -> float:
        return self.domain.spacing

    def sides(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return how many places a tensor of this shape has along each axis of places."""
        return tuple(size for size, axis in zip(shape, self.axes) if axis not in ("batch", "channel"))

    def at_spacing(self, spacing: float) -> FieldType:
        return replace(self, domain=self.domain.at_spacing(spacing))

    def guess(self) -> FieldType:
        return replace(self, guessed=True)

    def declared(self) -> FieldType:
        return replace(self, guessed=False)

    def __str__(self) -> str:
        return self.domain.text(self.rep)


INVARIANT = FieldType(Point())
PAIR = FieldType(Pairs())  # (..., nodes, nodes)


def shortest(value: float) -> str:
    """Return the shortest text that float() reads as `value`: 2, not 2.0, and all digits of 1/3."""
    return text if float(text := f"{value:g}") == value else repr(float(value))
