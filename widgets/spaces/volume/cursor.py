"""The voxel that all views of volumes point at, and where it is in each of their panels. Numpy only, no Qt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.volume.drawing.values import VolumePart, centred
from explorer.square.frame import BACK

Place = tuple[int, int, int]  # slice, row, column
PLANES = ("z", "y", "x")  # of the axes that slices are taken along
MOVED = ("ρ(g)x", "ρ′(g)F(x)", "F(ρ(g)x)", "difference")


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One volume of a square: its name, its values every `stride` places of a grid of some spacing."""

    name: str
    values: NDArray[np.floating]
    part: VolumePart
    spacing: float = 1.0
    stride: int = 1

    @property
    def moved(self) -> bool:
        """Return whether its places are those of ρ(g)x."""
        return self.name in MOVED

    def at(self, place: Place) -> Place | None:
        """Return the index of the value that belongs to a voxel of x; None where it was cut off."""
        there = self.part.carried(place) if self.moved else place
        if there is None:
            return None
        sides = self.part.sides_of_gx if self.moved else self.part.sides
        z, y, x = (int(k) for k in centred(there, sides, self._sides(), self.spacing) // self.stride)
        return z, y, x

    def voxel(self, index: Place) -> Place | None:
        """Return the voxel of x that a value belongs to; None where it came from outside."""
        sides = self.part.sides_of_gx if self.moved else self.part.sides
        z, y, x = (int(k) for k in centred(_times(index, self.stride), self._sides(), sides, 1 / self.spacing))
        return self.part.brought((z, y, x)) if self.moved else (z, y, x)

    def _sides(self) -> Place:
        """Return the sides of the whole grid; the last places of it may have been passed over."""
        if self.stride == 1:
            z, y, x = self.values.shape
            return z, y, x
        sides = self.part.sides_of_gx if self.moved else self.part.sides
        z, y, x = (max(1, round(side / self.spacing)) for side in sides)
        return z, y, x

    def slices(self, place: Place | None) -> NDArray[np.floating]:
        """Return the slices through the value of a voxel, across z, y and x, (3, side, side) with NaN around."""
        z, y, x = self.at(place) or _middle(self.values) if place is not None else _middle(self.values)
        side = max(self.values.shape)
        framed = np.full((3, side, side), np.nan, np.float32)
        # a person looks from above along z, from behind along y, from the left along x; z points up in the last two
        for k, image in enumerate((self.values[z], self.values[::-1, y], self.values[::-1, :, x])):
            top, left = (side - image.shape[0]) // 2, (side - image.shape[1]) // 2
            framed[k, top : top + image.shape[0], left : left + image.shape[1]] = image
        return framed

    def ends(self) -> tuple[tuple[str, str, str, str], ...]:
        """Return what lies at the left, the right, the top and the bottom of each slice; () where it is not known."""
        found = self.part.ends_of_gx() if self.moved else self.part.ends
        if not found:
            return ()
        x0, x1, y0, y1, z0, z1 = found
        return (x0, x1, y1, y0), (x0, x1, z1, z0), (y1, y0, z1, z0)

    def mark(self, place: Place) -> tuple[tuple[int, int, int], ...]:
        """Return where a voxel is on the three slices: number, row, column."""
        at = self.at(place)
        if at is None:
            return ()
        z, y, x = at
        nz, ny, nx = self.values.shape
        side = max(nz, ny, nx)
        row_z, column_y, column_x, row_y = (side - nz) // 2, (side - ny) // 2, (side - nx) // 2, (side - ny) // 2
        up = row_z + nz - 1 - z
        cells = ((row_y + y, column_x + x), (up, column_x + x), (up, column_y + y))
        return tuple((k, row, column) for k, (row, column) in enumerate(cells))

    def clicked(self, which: int, row: int, column: int, place: Place) -> Place | None:
        """Return the voxel of x at a row and a column of one of the slices through `place`; None beside it."""
        z, y, x = self.at(place) or _middle(self.values)
        nz, ny, nx = self.values.shape
        side = max(nz, ny, nx)
        across = column - (side - (ny if which == 2 else nx)) // 2
        down = row - (side - (ny if which == 0 else nz)) // 2
        index = {0: (z, down, across), 1: (nz - 1 - down, y, across), 2: (nz - 1 - down, across, x)}[which]
        inside = all(0 <= k < n for k, n in zip(index, self.values.shape, strict=True))
        return self.voxel(index) if inside else None


def _times(index: Place, stride: int) -> Place:
    z, y, x = index
    return z * stride, y * stride, x * stride


def _middle(values: NDArray[np.floating]) -> Place:
    z, y, x = (n // 2 for n in values.shape)
    return z, y, x


def panels(part: VolumePart, identity: bool) -> list[Panel]:
    """Return the panels of a square, row by row: x and ρ(g)x, F(x) and F(ρ(g)x), ρ′(g)F(x) and the difference.

    Where answers are taken back, these stand in place of F(ρ(g)x), beside F(x).
    """
    coarse, fine = part.strides[:2]
    found = [Panel("x", part.x, part, 1.0, coarse)]
    found += [] if identity else [Panel("ρ(g)x", part.gx, part, 1.0, coarse)]
    layer = [("F(x)", part.values)]
    if not identity:
        layer += [("F(ρ(g)x)", part.answer) if part.back is None else (BACK, part.back)]
        layer += [("ρ′(g)F(x)", part.expected), ("difference", part.difference)]
    return found + [Panel(name, v, part, part.spacing, fine) for name, v in layer if v is not None]
