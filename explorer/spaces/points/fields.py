"""Fields on points in space: numbers that stay, positions, and values of each degree that turn with space."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from explorer.declare.types.fields import Acting, FieldType, Representation, Scalar
from explorer.spaces.graph.fields import Edges, Graphs, Nodes

if TYPE_CHECKING:
    from torch import Tensor

MOST_DEGREE = 8
TERM = "(?:[0-9]{1,4}x)?[0-9]{1,2}[eo]"  # "2x1o", "0e"


@dataclass(frozen=True, slots=True)
class Particles(Nodes):
    """Points of a cloud, atoms of a molecule, bodies that move: axis 0 says which; renumbered as nodes are."""

    name = "particle"
    space = "points"

    @property
    def axes(self) -> tuple[str, ...]:
        return ("particle", "channel")


@dataclass(frozen=True, slots=True)
class Rows(Graphs):
    """Rows that a network lists by itself, as of pairs of points that are near: a motion leaves them in their order."""

    name = "row"
    space = "points"

    @property
    def axes(self) -> tuple[str, ...]:
        return ("row", "channel")


@dataclass(frozen=True, slots=True)
class Coordinates(Representation):
    """Places in space, three numbers each: a motion x -> R x + t moves them as it moves points."""

    size = 3

    def __str__(self) -> str:
        return "coordinates"


@dataclass(frozen=True, slots=True)
class Irreps(Representation):
    """Channels that a motion x -> R x + t mixes by the Wigner blocks of R, one irreducible representation each.

    "2x0e+1x1o" is two scalars and a vector. A value of degree l has 2 l + 1 numbers, in the basis of e3nn's real
    spherical harmonics, where 1o is a vector (x, y, z); "o" changes its sign under inversion, "e" does not: 0o is a
    pseudo-scalar, 1e a pseudo-vector. More channels than `size` are a whole number of such blocks.
    """

    terms: tuple[tuple[int, int, str], ...]  # how many, degree, parity "e" or "o"

    @property
    def size(self) -> int:
        return sum(count * (2 * degree + 1) for count, degree, _ in self.terms)

    @property
    def still(self) -> bool:
        """Say whether nothing moves them: scalars alone."""
        return all(degree == 0 and parity == "e" for _, degree, parity in self.terms)

    @property
    def slices(self) -> tuple[tuple[int, str, int], ...]:
        """Return (degree, parity, first channel) of each value in a block."""
        found, at = [], 0
        for count, degree, parity in self.terms:
            for _ in range(count):
                found.append((degree, parity, at))
                at += 2 * degree + 1
        return tuple(found)

    def parts(self, unit: str, channels: int) -> tuple[tuple[int, ...], ...]:
        if unit not in ("value", "degree") or channels % self.size:
            return ()
        blocks = [
            (degree, tuple(range(start + first, start + first + 2 * degree + 1)))
            for start in range(0, channels, self.size)
            for degree, _, first in self.slices
        ]
        if unit == "value":
            return tuple(block for _, block in blocks)
        degrees = range(max(degree for degree, _ in blocks) + 1)
        return tuple(tuple(c for d, block in blocks if d == degree for c in block) for degree in degrees)

    @property
    def written(self) -> str:
        return "+".join(f"{count}x{degree}{parity}" for count, degree, parity in self.terms)

    def __str__(self) -> str:
        return f"irreps({self.written})"


@dataclass(frozen=True, slots=True)
class Arrows(Representation):
    """Vectors whose components x, y, z lie along one axis of a tensor, as (points, 3, channels) has them.

    Attributes:
        axis: of the three components.
        parity: "o" for vectors, "e" for what keeps its sign under inversion, as a cross product.
    """

    axis: int
    parity: str = "o"

    def __str__(self) -> str:
        return f"{'vectors' if self.parity == 'o' else 'pseudo-vectors'} (x, y, z on axis {self.axis})"

    def acted(self, element: Acting, values: Tensor, field: FieldType) -> Tensor:
        # what renumbers points finds them on their axis, which is one less where the components have left before it
        domain = field.domain
        if not domain.placed and values.ndim == 1:  # of the whole, without an axis of wholes
            return replace(self, axis=1).acted(element, values[None], field)[0]
        if isinstance(domain, Nodes) and self.axis < domain.axis:
            domain = replace(domain, axis=domain.axis - 1)
        moved = element.act(values.movedim(self.axis, -1), FieldType(domain, Irreps(((1, 1, self.parity),))))
        return moved.movedim(-1, self.axis)


def irreps(text: str) -> Irreps:
    """Read "2x0e+1x1o" or "0e+1o".

    Raises:
        ValueError: no such text, no value, or a degree above `MOST_DEGREE`.
    """
    terms = []
    for term in text.replace(" ", "").split("+"):
        if re.fullmatch(TERM, term) is None:
            raise ValueError(f"{term[:40]!r} is no irreducible representation; one is written 1o or 2x1o")
        count, _, rest = term.rpartition("x")
        degree = int(rest[:-1])
        if degree > MOST_DEGREE:
            raise ValueError(f"{term} is of degree {degree}, and the highest one here is {MOST_DEGREE}")
        if (copies := int(count or 1)) > 0:
            terms.append((copies, degree, rest[-1]))
    if not terms:
        raise ValueError(f"{text!r} has no values")
    return Irreps(tuple(terms))


def particle(text: str) -> FieldType:
    """Return the field of values at particles of these irreps."""
    return FieldType(Particles(), irreps(text))


def edge(text: str) -> FieldType:
    """Return the field of values at listed edges of these irreps."""
    return FieldType(Edges(), irreps(text))


def whole(text: str) -> FieldType:
    """Return the field of values of whole clouds, (clouds, channels), of these irreps."""
    return FieldType(Graphs(), irreps(text))


PARTICLE = FieldType(Particles())  # (particles, ...)
PARTICLE_INPUT = FieldType(Particles(), Scalar(intensity=True))
POSITION = FieldType(Particles(), Coordinates())  # (particles, 3)
VECTOR = particle("1x1o")  # (particles, 3)
PSEUDO_SCALAR = particle("1x0o")
PSEUDO_VECTOR = particle("1x1e")  # (particles, 3)
WHOLE = FieldType(Graphs())  # (1, channels)
CELL_EDGES = whole("3x1o")  # (1, 9): the three edges of a cell
EDGE_VECTOR = edge("1x1o")  # (edges, 3)
