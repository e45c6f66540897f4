"""Fields on volumes: where the values of voxels sit, and how those at one voxel mix."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from explorer.declare.elements import NoAction
from explorer.declare.groups import FiniteGroup, Matrix
from explorer.declare.types.fields import Domain, FieldType, Representation, Scalar, shortest
from explorer.declare.types.places import eroded
from explorer.declare.types.written import Written, spacing_and_sides
from explorer.spaces.volume.cube import NAMES, cube_group

if TYPE_CHECKING:
    from torch import Tensor

SPATIAL = 3  # axes of a volume
Sides = tuple[int, int, int]  # slices, rows, columns


@dataclass(frozen=True, slots=True)
class Voxels(Domain):
    """The voxels of a volume, sampled every `step` voxels of the input: (batch, channel, z, y, x).

    `flat` is (slices, rows, columns) after nn.Flatten. One place that summarises the whole volume has infinite spacing.
    """

    step: float = 1.0
    flat: Sides | None = None
    name = "voxel"
    space = "volume"
    fibred = True

    @property
    def axes(self) -> tuple[str, ...]:
        return ("batch", "channel") if self.flat else ("batch", "channel", "z", "y", "x")

    @property
    def spacing(self) -> float:
        return self.step

    def at_spacing(self, spacing: float) -> Domain:
        return replace(self, step=spacing)

    @property
    def plain(self) -> FieldType:
        return FieldType(Voxels(self.step))

    def text(self, rep: Representation) -> str:
        flat = f" flat {'x'.join(map(str, self.flat))}" if self.flat else ""
        return f"voxel {rep}" + (f" /{shortest(self.step)}" if self.step != 1.0 else "") + flat

    def spread(self, values: Tensor) -> Tensor:
        return values.unflatten(1, (-1, *self.flat)) if self.flat else values

    def ones(self, values: Tensor) -> Tensor:
        return values.new_ones((1, 1, *(self.flat or values.shape[-SPATIAL:])))

    def as_places(self, plain: Tensor) -> Tensor:
        return plain.flatten(0, -1 - SPATIAL)[0]

    def from_places(self, places: Tensor) -> Tensor:
        return places[None, None]

    def masked(self, values: Tensor, places: Tensor) -> Tensor:
        return (self.spread(values) * places).flatten(1) if self.flat else values * places

    def shrunk(self, places: Tensor, receptive: float) -> Tensor:
        if not (math.isfinite(receptive) and math.isfinite(self.step)):
            return places.new_zeros(places.shape)
        radius = math.ceil(receptive / self.step - 1e-9)
        return eroded(places, radius) if radius else places

    def picture(self, values: Tensor, rep: Representation, most: int) -> tuple[Tensor, int]:
        """Return the middle slice of each channel, and how many channels there are."""
        volume = self.spread(values)[0]
        return volume[:, volume.shape[1] // 2], len(volume)


class Fibre(Representation):
    """Channels that an element of O_h mixes at each voxel."""

    __slots__ = ()

    def mixed(self, values: Tensor, h: Matrix) -> Tensor:
        """Return values, (batch, channel, ...), with the channels changed by the point part h of an element.

        Raises:
            NoAction: there is no such action.
        """
        raise NotImplementedError

    def acts(self, h: Matrix) -> bool:
        """Return whether h acts on it."""
        return True


@dataclass(frozen=True, slots=True)
class Orientations(Fibre):
    """The regular representation of O or O_h: channel = field * |H| + index, permuted by h."""

    group: FiniteGroup

    @property
    def size(self) -> int:
        return self.group.order

    def __str__(self) -> str:
        return f"regular({self.group.name})"

    def acts(self, h: Matrix) -> bool:
        return self.group.find(h) is not None

    def mixed(self, values: Tensor, h: Matrix) -> Tensor:
        import torch

        index = self.group.find(h)
        if index is None:
            raise NoAction(f"a {self} field has no mirrored orientations, so a reflection has no action")
        if index == 0:
            return values
        order = torch.as_tensor(self.group.regular_permutation(index), device=values.device)
        mixed: Tensor = values.unflatten(1, (-1, self.group.order)).index_select(2, order).flatten(1, 2)
        return mixed


@dataclass(frozen=True, slots=True)
class Vector(Fibre):
    """Vectors (x, y, z), channel = 3 * field + component; an axial one, such as a curl, ignores the inversion."""

    axial: bool = False

    @property
    def size(self) -> int:
        return SPATIAL

    def __str__(self) -> str:
        return f"{'axial' if self.axial else 'polar'} vector"

    def mixed(self, values: Tensor, h: Matrix) -> Tensor:
        import torch

        if np.array_equal(h, np.eye(SPATIAL)):
            return values
        matrix = h * np.linalg.det(h).round() if self.axial else h
        source = np.abs(matrix).argmax(1)  # one number in each row: the components are permuted, with signs
        signs = torch.as_tensor(matrix[range(SPATIAL), source], device="cpu").to(values)
        parts = values.unflatten(1, (-1, SPATIAL)).index_select(2, torch.as_tensor(source, device=values.device))
        mixed: Tensor = (parts * signs.view(-1, *[1] * (parts.ndim - 3))).flatten(1, 2)
        return mixed


@dataclass(frozen=True, slots=True)
class Pseudoscalar(Fibre):
    """Numbers that change their sign where space is mirrored."""

    def __str__(self) -> str:
        return "pseudoscalar"

    def mixed(self, values: Tensor, h: Matrix) -> Tensor:
        return -values if np.linalg.det(h) < 0 else values


HOMES = ("voxel", "point")
REPRESENTATIONS = {
    **{f"regular({n})": Written(lambda _, n=n: Orientations(cube_group(n)), HOMES) for n in NAMES},  # type: ignore[misc]
    "polar vector": Written(lambda _: Vector(), HOMES),
    "axial vector": Written(lambda _: Vector(axial=True), HOMES),
    "pseudoscalar": Written(lambda _: Pseudoscalar(), HOMES),
}

VOLUME = FieldType(Voxels(), Scalar(intensity=True))


def voxel(rep: Representation | None = None, spacing: float = 1.0) -> FieldType:
    """Return a field on voxels, scalar unless `rep` says otherwise."""
    return FieldType(Voxels(spacing), rep or Scalar())


def parse_voxels(rest: str) -> Voxels:
    """Read what stands after the representation of a field on voxels: "/2 flat 3x4x5".

    Raises:
        LookupError: it is nothing of the kind; ValueError: the spacing is not positive.
    """
    spacing, flat = spacing_and_sides(rest, 3)
    return Voxels(spacing, (flat[0], flat[1], flat[2]) if flat else None)
