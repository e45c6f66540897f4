"""Rotations of a volume by any angle: voxels are resampled, so they give a curve over their floor and no verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from explorer.declare.elements import Element, NoAction
from explorer.declare.groups import Matrix
from explorer.declare.types.fields import FieldType
from explorer.spaces.points.fields import Irreps
from explorer.spaces.volume.elements.cube_map import IDENTITY, Linear
from explorer.spaces.volume.fields import Orientations, Pseudoscalar, Sides, Vector, Voxels

if TYPE_CHECKING:
    from torch import Tensor

_DOWN = np.array([1.0, -1.0, 1.0])  # rows are counted downwards, y upwards
_TINY = 1e-9


@dataclass(frozen=True, slots=True)
class VolumeTurn(Element):
    """u -> R u about the centre of the volume, R a rotation, row by row; from outside comes nothing."""

    linear: Linear = IDENTITY

    @property
    def domains(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("volume",)

    @property
    def matrix(self) -> Matrix:
        return np.array(self.linear).reshape(3, 3)

    @property
    def group(self) -> str:
        return "volume-SO3"

    @property
    def identity(self) -> bool:
        return bool(np.abs(self.matrix - np.eye(3)).max() < _TINY)

    @property
    def lattice(self) -> bool:
        """Say whether it is one of the 24 rotations of the cube."""
        return bool(np.abs(self.matrix - np.round(self.matrix)).max() < _TINY)

    def inverse(self) -> VolumeTurn:
        return volume_turn(self.matrix.T)

    def merge(self, first: Element) -> VolumeTurn | None:
        # two resamplings are not one: who turns twice is shown both
        return None

    def exact(self, field: FieldType, shape: tuple[int, ...]) -> bool:
        if isinstance(field.rep, Orientations) and field.rep.group.find(np.round(self.matrix)) is None:
            return False
        return self.lattice or not isinstance(field.domain, Voxels)

    def act(self, values: Tensor, field: FieldType) -> Tensor:
        # torch is imported only when tensors are there
        from explorer.spaces.volume.elements import moving

        values = self._mixed(values, field)
        if not isinstance(field.domain, Voxels) or math.isinf(field.domain.spacing):
            return values
        volume = field.domain.spread(values)
        if self.lattice:
            made = moving.turned(volume, tuple(np.round(self.matrix).ravel()))
        else:
            made = moving.resampled(volume, self.linear)
        return made.flatten(1) if field.domain.flat else made

    def _mixed(self, values: Tensor, field: FieldType) -> Tensor:
        from explorer.spaces.volume.elements import moving

        match field.rep:
            case Irreps():
                return moving.mixed_irreps(values, field.rep, self.linear)
            case Vector():  # a rotation turns polar and axial vectors alike
                return moving.mixed_irreps(values, Irreps(((1, 1, "o"),)), self.linear)
            case Pseudoscalar():
                return values
            case Orientations(group=group):
                if not self.lattice:
                    raise NoAction(f"a {field.rep} field has no orientations between those of {group.name}")
                return field.rep.mixed(values, np.round(self.matrix))
        return values

    def known(self, values: Tensor, field: FieldType) -> Tensor | None:
        from explorer.spaces.volume.elements import moving

        domain = field.domain
        if not isinstance(domain, Voxels) or math.isinf(domain.spacing) or self.lattice:
            return None
        # a spline of ones is 1 wherever it is not cut off
        return (moving.resampled(domain.ones(values), self.linear)[0, 0] > 0.5).to(values.dtype)

    # places -----------------------------------------------------------------------------------------------------
    def carried(self, places: NDArray[np.int64], sides: Sides, spacing: float = 1.0) -> NDArray[np.int64]:
        """Return the voxels nearest to where places (n, 3), slice, row and column, go; -1 for what is cut off."""
        size = np.array(sides[::-1], float)
        at = (places[:, ::-1] - (size - 1) / 2) * _DOWN @ self.matrix.T
        index = np.floor(at * _DOWN + (size - 1) / 2 + 0.5 + _TINY).astype(np.int64)
        index[((index < 0) | (index >= size)).any(1)] = -1
        return np.asarray(index[:, ::-1])

    def turned_sides(self, sides: Sides) -> Sides:
        """Return the sides of a volume after the element has acted: those that it had."""
        return sides


def volume_turn(matrix: Matrix) -> VolumeTurn:
    """Return the element of a rotation matrix; what rounding alone keeps from a rotation of the cube is one."""
    near = np.round(matrix)
    exact = near if np.abs(matrix - near).max() < 1e-14 else matrix
    return VolumeTurn(tuple(float(v) + 0.0 for v in exact.ravel()))
