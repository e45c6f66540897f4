"""Fields of coefficients: functions on the sphere by spherical harmonics, functions on SO(3) by Wigner matrices.

Axis 2 of a tensor (batch, channel, coefficients) holds one block for each degree l: of 2 l + 1 numbers (order m) on the
sphere, of (2 l + 1)² (m, then n) on SO(3). A rotation mixes the orders m within a degree and never two degrees.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from explorer.declare.types.fields import Domain, FieldType, Representation, Scalar

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Coefficients(Domain):
    """The coefficients of functions up to a degree; `wide` says whether each order has a column as well (SO(3))."""

    degree: int
    wide: bool = False
    space = "sphere"

    @property
    def name(self) -> str:  # type: ignore[override]
        return "rotation" if self.wide else "harmonic"

    @property
    def axes(self) -> tuple[str, ...]:
        return ("batch", "channel", "coefficient")

    def text(self, rep: Representation) -> str:
        return f"{self.name} {rep} to {self.degree}"

    @property
    def count(self) -> int:
        """Return how many coefficients there are."""
        return sum(self.width(degree) for degree in range(self.degree + 1))

    def width(self, degree: int) -> int:
        return (2 * degree + 1) ** 2 if self.wide else 2 * degree + 1

    def parts(self, unit: str, places: int) -> tuple[tuple[int, ...], ...]:
        if unit != "degree" or places != self.count:
            return ()
        ends = [sum(self.width(k) for k in range(degree)) for degree in range(self.degree + 2)]
        return tuple(tuple(range(a, b)) for a, b in pairwise(ends))

    def blocks(self, values: Tensor) -> list[Tensor]:
        """Return the block of each degree, (..., 2 l + 1, 1 or 2 l + 1)."""
        parts = values.split([self.width(degree) for degree in range(self.degree + 1)], -1)
        return [part.unflatten(-1, (2 * degree + 1, -1)) for degree, part in enumerate(parts)]

    def picture(self, values: Tensor, rep: Representation, most: int) -> tuple[Tensor, int]:
        """Return (channels, degrees, coefficients): a row for each degree, its orders about the middle."""
        rows = self.blocks(values[0])
        wide = rows[-1].flatten(-2).shape[-1]
        picture = values.new_zeros((values.shape[1], len(rows), wide))
        for degree, row in enumerate(rows):
            flat = row.flatten(-2)
            left = (wide - flat.shape[-1]) // 2
            picture[:, degree, left : left + flat.shape[-1]] = flat
        return picture, values.shape[1]


def harmonic(degree: int) -> FieldType:
    """Return the field of functions on the sphere up to a degree."""
    return FieldType(Coefficients(degree))


def rotation(degree: int) -> FieldType:
    """Return the field of functions on SO(3) up to a degree."""
    return FieldType(Coefficients(degree, True))


def signal(degree: int) -> FieldType:
    """Return the field of a measured function on the sphere."""
    return FieldType(Coefficients(degree), Scalar(intensity=True))


def _parsed(wide: bool, rest: str) -> Coefficients:
    found = re.fullmatch(r"to ([0-9]{1,2})", rest)
    if found is None:
        raise LookupError(rest)
    return Coefficients(int(found[1]), wide)


def parse_harmonic(rest: str) -> Coefficients:
    """Read what stands after the representation of a function on the sphere: "to 6"; raise LookupError otherwise."""
    return _parsed(False, rest)


def parse_rotation(rest: str) -> Coefficients:
    """Read what stands after the representation of a function on SO(3): "to 4"; raise LookupError otherwise."""
    return _parsed(True, rest)
