"""Values that views of volumes draw: frozen, and read-only arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as field_of  # `field` is a number here
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.points.drawing.routes import Route, Routed
from explorer.spaces.points.drawing.spectrum import Curve, Degreed, Spectrum
from explorer.spaces.volume.elements.cube_map import CubeMap
from explorer.spaces.volume.elements.volume_turn import VolumeTurn
from explorer.spaces.volume.fields import Sides
from explorer.square.frame import Array

TURNED = 1e-6  # of the entries of a matrix, up to which an axis counts as one of the three


@dataclass(frozen=True, slots=True, eq=False)
class VolumePart(Routed, Degreed):
    """The part of a frame that lies on voxels.

    Attributes:
        x, gx: one channel of x and of ρ(g)x, (z, y, x), both every `coarse` voxels along each axis.
        values, answer, expected, difference: F(x), F(ρ(g)x), ρ′(g)F(x) and their difference in the channel that is
            shown, (z, y, x); None where the layer has no voxels, or no such action.
        back: the answer as the inverse of g takes it back; None unless it is asked for.
        channel, channels: which of how many is shown.
        spacing: of the layer's voxels, in voxels of x.
        maps: the steps of g in turn, for places.
        sides: of x.
        group, labels: of the orientations of the layer; "" and () where it has none.
        kinds: of the channels of one block of values: "0e", "1o 2/3"; () where channels have no degrees.
        field: which field of orientations `gallery` holds.
        gallery, gallery_moved: every orientation of that field, (orientations, z, y, x): of F(x) and of F(ρ(g)x).
        order: to which orientation each has gone; () where the group has no such element.
        strides: how many voxels of the layer lie between two of the arrays of x, of the layer, of the gallery.
        routes: {steerable convolution: its paths, with what they carry of x}.
        spectrum: sizes of the layer's values by degree, over all voxels; None where it has no degrees.
        curves: {layer: functions of a distance that it shows}.
        voxel: how long the voxels of x are along x, y and z, in mm; () where that is not known.
        ends: what lies where x, y and z begin and end, ("L", "R", "P", "A", "I", "S"); () where that is not known.
    """

    data: ClassVar[str] = "volume"
    apart: ClassVar[str] = "voxels"

    x: Array
    gx: Array
    values: Array | None
    answer: Array | None
    expected: Array | None
    difference: Array | None
    channel: int
    channels: int
    spacing: float
    maps: tuple[CubeMap | VolumeTurn, ...]
    sides: Sides
    group: str = ""
    labels: tuple[str, ...] = ()
    field: int = 0
    gallery: Array | None = None
    gallery_moved: Array | None = None
    order: tuple[int, ...] = ()
    strides: tuple[int, int, int] = (1, 1, 1)
    routes: Mapping[str, tuple[Route, ...]] = field_of(default_factory=dict)
    spectrum: Spectrum | None = None
    curves: Mapping[str, Curve] = field_of(default_factory=dict)
    kinds: tuple[str, ...] = ()
    back: Array | None = None
    voxel: tuple[float, ...] = ()
    ends: tuple[str, ...] = ()

    def spectrum_at(self, place: int | None) -> Spectrum | None:
        return self.spectrum

    def marks(self, curve: Curve) -> NDArray[np.floating]:
        """Return how far voxels are from each other, up to the end of the curve."""
        most = float(curve.along[-1])
        squares = np.arange(int(most) + 1) ** 2
        apart = np.sqrt(np.unique(squares[:, None, None] + squares[:, None] + squares))
        return np.asarray(apart[(apart > 0) & (apart <= most)])

    def name_of(self, channel: int) -> str:
        """Return what a channel of the layer is called: its number, its field and orientation, or its degree."""
        if self.labels:
            field, h = divmod(channel, len(self.labels))
            return f"field {field}, {self.labels[h]}"
        return f"channel {channel}" + (f" · {self.kinds[channel % len(self.kinds)]}" if self.kinds else "")

    def carried(self, place: tuple[int, int, int]) -> tuple[int, int, int] | None:
        """Return where a voxel of x, (slice, row, column), goes; None where it is cut off."""
        at, sides = np.array([place]), self.sides
        for one in self.maps:
            at = one.carried(at, sides)
            if at.min() < 0:
                return None
            sides = one.turned_sides(sides)
        z, y, x = (int(v) for v in at[0])
        return z, y, x

    def brought(self, place: tuple[int, int, int]) -> tuple[int, int, int] | None:
        """Return the voxel of x whose value a voxel of ρ(g)x has; None where that came from outside."""
        sides = [self.sides]
        for one in self.maps:
            sides.append(one.turned_sides(sides[-1]))
        at = np.array([place])
        for one, size in zip(reversed(self.maps), reversed(sides[1:]), strict=True):
            at = one.inverse().carried(at, size)
            if at.min() < 0:
                return None
        z, y, x = (int(v) for v in at[0])
        return z, y, x

    def ends_of_gx(self) -> tuple[str, ...]:
        """Return what lies where the axes of ρ(g)x begin and end; () where they run between those of x."""
        turned = np.eye(3)
        for one in self.maps:
            turned = one.matrix @ turned
        whole = np.round(turned).astype(int)
        if not self.ends or np.abs(turned - whole).max() > TURNED:
            return ()
        found: list[str] = []
        for row in whole:  # which axis of x lies along this one, and which way round
            axis = int(np.abs(row).argmax())
            found += self.ends[2 * axis : 2 * axis + 2][:: int(row[axis])]
        return tuple(found)

    @property
    def sides_of_gx(self) -> Sides:
        """Return the sides of ρ(g)x."""
        sides = self.sides
        for one in self.maps:
            sides = one.turned_sides(sides)
        return sides


def centred(place: tuple[int, int, int], sides: Sides, others: Sides, spacing: float) -> NDArray[np.int64]:
    """Return the nearest place of a grid of another size and spacing about the same centre."""
    at = (np.array(place) - (np.array(sides) - 1) / 2) / spacing + (np.array(others) - 1) / 2
    return np.clip(np.floor(at + 0.5), 0, np.array(others) - 1).astype(np.int64)
