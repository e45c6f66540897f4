"""Finite groups given by matrices, with their Cayley tables and regular representations.

A finite group is stored as the list of its matrices in a defining representation; everything else
(composition, inverses, the regular representation) is derived from them. C4, D4, C8 and the octahedral
groups are therefore the same code with other generators.

Convention for the plane: x points right, y points up, angles are counter-clockwise as displayed, the mirror
is left-right, and an element of D_n is `rotation o mirror^m` (the mirror acts first), with index `m * n + r`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FiniteGroup:
    """A finite group of orthogonal matrices; elements are the indices 0..order-1, 0 is the identity."""

    name: str
    matrices: Matrix  # (order, d, d)
    labels: tuple[str, ...]
    _table: NDArray[np.int64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        products = np.einsum("gij,hjk->ghik", self.matrices, self.matrices)
        distance = np.abs(products[:, :, None] - self.matrices[None, None]).max(axis=(-1, -2))  # (g, h, k)
        table = distance.argmin(axis=-1)
        if distance.min(axis=-1).max() > 1e-9:
            raise ValueError(f"the matrices of {self.name} are not closed under products")
        object.__setattr__(self, "_table", table)

    @property
    def order(self) -> int:
        return len(self.matrices)

    def __len__(self) -> int:
        return self.order

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FiniteGroup) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return group, (self.name,)

    def elements(self) -> Iterator[int]:
        return iter(range(self.order))

    def compose(self, g: int, h: int) -> int:
        """Return the index of g h (h acts first)."""
        return int(self._table[g, h])

    def inverse(self, g: int) -> int:
        return int(np.flatnonzero(self._table[g] == 0)[0])

    def random(self, rng: np.random.Generator) -> int:
        return int(rng.integers(self.order))

    def find(self, matrix: Matrix, tolerance: float = 1e-9) -> int | None:
        """Return the index of `matrix`, or None when it is not in the group."""
        distance = np.abs(self.matrices - np.asarray(matrix)).max(axis=(-1, -2))
        g = int(distance.argmin())
        return g if distance[g] <= tolerance else None

    def regular_permutation(self, g: int) -> NDArray[np.int64]:
        """Return p with (rho(g) f)[h] = f[p[h]] = f[g^-1 h], the left-regular representation."""
        permutation: NDArray[np.int64] = self._table[self.inverse(g)].copy()
        return permutation


def rotation_matrix(degrees: float) -> Matrix:
    """Return the counter-clockwise rotation, exact at multiples of 90 degrees."""
    quarter, rest = divmod(degrees, 90.0)
    if rest == 0.0:
        c, s = ((1, 0), (0, 1), (-1, 0), (0, -1))[int(quarter) % 4]
    else:
        c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))  # type: ignore[assignment]
    return np.array([[c, -s], [s, c]], dtype=np.float64)


MIRROR: Matrix = np.array([[-1.0, 0.0], [0.0, 1.0]])


@cache
def cyclic(n: int) -> FiniteGroup:
    """Return C_n, rotations of the plane by multiples of 360/n degrees."""
    turns = [rotation_matrix(360.0 * r / n) for r in range(n)]
    return FiniteGroup(f"C{n}", np.stack(turns), tuple(f"r{360 * r / n:g}" for r in range(n)))


@cache
def dihedral(n: int) -> FiniteGroup:
    """Return D_n of order 2n: index m*n + r is rotation by 360 r/n after m left-right mirrors."""
    turns = [rotation_matrix(360.0 * r / n) for r in range(n)]
    labels = [f"r{360 * r / n:g}" for r in range(n)]
    return FiniteGroup(
        f"D{n}", np.stack(turns + [t @ MIRROR for t in turns]), tuple(labels + [f"m {name}" for name in labels])
    )


@cache
def group(name: str) -> FiniteGroup:
    """Return the finite group called `name` ("C4", "D4", "C8", ...)."""
    # [0-9] and not isdigit(), which also accepts superscripts; no leading zero, for one group has one name
    if (found := re.fullmatch(r"([CD])([1-9][0-9]?)", name)) and int(found[2]) <= 64:
        return cyclic(int(found[2])) if found[1] == "C" else dihedral(int(found[2]))
    raise ValueError(f"unknown group {name!r}; known are C1..C64 and D1..D64")
