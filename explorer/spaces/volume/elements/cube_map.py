"""The one element type of volumes: a symmetry of the cube, then a shift by voxels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from explorer.declare.elements import Element, NoAction
from explorer.declare.groups import Matrix
from explorer.declare.types.fields import FieldType
from explorer.spaces.points.fields import Irreps
from explorer.spaces.volume.fields import Fibre, Sides, Voxels

if TYPE_CHECKING:
    from torch import Tensor

    from explorer.declare.inputs import Inputs

_TINY = 1e-9
_DOWN = np.array([1.0, -1.0, 1.0])  # rows are counted downwards, y upwards
Linear = tuple[float, ...]
IDENTITY: Linear = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class CubeMap(Element):
    """u -> A u + t about the centre of the volume, A one of the 48 symmetries of the cube, row by row.

    `shift` is t in voxels of the input, right, up and along the slices; `boundary` says what enters from outside.
    `sides` are those of the input that it is bound to.
    """

    linear: Linear = IDENTITY
    shift: tuple[float, float, float] = (0.0, 0.0, 0.0)
    boundary: str = "circular"
    sides: Sides | None = None

    def __post_init__(self) -> None:
        if not _is_symmetry(self.linear):
            raise ValueError(f"{self.linear} is no symmetry of the cube")

    @property
    def domains(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("volume",)

    @property
    def resamples(self) -> bool:  # type: ignore[override]
        return any(self.shift)

    @property
    def matrix(self) -> Matrix:
        return np.array(self.linear).reshape(3, 3)

    @property
    def group(self) -> str:
        if self.linear == IDENTITY:
            return "Z3"
        return "O" if np.linalg.det(self.matrix) > 0 else "Oh"

    @property
    def identity(self) -> bool:
        return self.linear == IDENTITY and max(map(abs, self.shift)) < _TINY

    def on(self, inputs: Inputs) -> CubeMap:
        z, y, x = inputs.x.shape[-3:]
        return replace(self, sides=(int(z), int(y), int(x)))

    @property
    def wraps(self) -> bool:
        return self.boundary == "circular" and any(self.shift)

    def inverse(self) -> CubeMap:
        back = self.matrix.T
        shift = -back @ np.array(self.shift) + 0.0
        return CubeMap(_linear(back), (float(shift[0]), float(shift[1]), float(shift[2])), self.boundary)

    def merge(self, first: Element) -> CubeMap | None:
        if not isinstance(first, CubeMap):
            return None
        boundaries = {part.boundary for part in (self, first) if any(part.shift)}
        if len(boundaries) == 2:
            return None  # what one wraps round the other cuts off
        shift = self.matrix @ np.array(first.shift) + np.array(self.shift) + 0.0
        joint = float(shift[0]), float(shift[1]), float(shift[2])
        return CubeMap(
            _linear(self.matrix @ first.matrix), joint, boundaries.pop() if boundaries else "circular", first.sides
        )

    def exact(self, field: FieldType, shape: tuple[int, ...]) -> bool:
        if isinstance(field.rep, Fibre) and not field.rep.acts(self.matrix):
            return False
        return not isinstance(field.domain, Voxels) or self._steps(field.domain.spacing) is not None

    def _steps(self, spacing: float) -> tuple[int, int, int] | None:
        """Return the shift in places of a grid of that spacing, None where it ends between two of them."""
        steps = np.array(self.shift) / spacing
        whole = np.round(steps)
        return None if np.abs(steps - whole).max() > _TINY else (int(whole[0]), int(whole[1]), int(whole[2]))

    def act(self, values: Tensor, field: FieldType) -> Tensor:
        # torch is imported only when tensors are there
        from explorer.spaces.volume.elements import moving

        if isinstance(field.rep, Fibre):
            values = field.rep.mixed(values, self.matrix)
        elif isinstance(field.rep, Irreps):
            values = moving.mixed_irreps(values, field.rep, self.linear)
        if not isinstance(field.domain, Voxels):
            return values
        steps = self._steps(field.domain.spacing)
        if steps is None and self.boundary != "circular":
            raise NoAction(
                f"a shift by {_words(self.shift)} voxels ends between the places of this layer, which lie "
                f"{field.domain.spacing:g} voxels apart"
            )
        volume = moving.turned(field.domain.spread(values), self.linear)
        if steps is not None:
            volume = moving.shifted(volume, steps, self.boundary)
        else:
            x, y, z = (by / field.domain.spacing for by in self.shift)
            volume = moving.between(volume, (x, y, z))
        return volume.flatten(1) if field.domain.flat else volume

    def known(self, values: Tensor, field: FieldType) -> Tensor | None:
        domain = field.domain
        if not isinstance(domain, Voxels) or not any(self.shift) or self.boundary == "circular":
            return None
        if np.isinf(domain.spacing) or self._steps(domain.spacing) is None:
            return None
        return domain.as_places(self.act(domain.ones(values), domain.plain))

    # places ---------------------------------------------------------------------------------------------------
    def carried(self, places: NDArray[np.int64], sides: Sides, spacing: float = 1.0) -> NDArray[np.int64]:
        """Return where places (n, 3), slice, row and column of a grid of that size, go; -1 for what is cut off."""
        size = np.array(sides[::-1], float)
        at = (places[:, ::-1] - (size - 1) / 2) * _DOWN @ self.matrix.T + np.array(self.shift) / spacing
        after = np.abs(self.matrix) @ size  # a quarter turn of a box exchanges its sides
        index = np.floor(at * _DOWN + (after - 1) / 2 + 0.5 + _TINY).astype(np.int64)
        if self.boundary == "circular":
            index %= after.astype(np.int64)
        else:
            index[((index < 0) | (index >= after)).any(1)] = -1
        return np.asarray(index[:, ::-1])

    def turned_sides(self, sides: Sides) -> Sides:
        """Return the sides of a volume after the element has acted: a quarter turn exchanges two of them."""
        x, y, z = (int(n) for n in (np.abs(self.matrix) @ np.array(sides[::-1])).round())
        return z, y, x

    def place_of(self, place: int, count: int) -> int:
        """Return where a voxel goes, counted slice by slice and row by row, in the volume that it is bound to."""
        side = round(count ** (1 / 3))
        z, y, x = sides = self.sides or (side, side, side)
        if z * y * x != count or not 0 <= place < count:
            return -1
        ((slice_, row, column),) = self.carried(np.array([np.unravel_index(place, sides)]), sides)
        _, height, width = self.turned_sides(sides)
        return int((slice_ * height + row) * width + column) if slice_ >= 0 else -1


# every layer of every frame asks
@lru_cache(maxsize=256)
def _is_symmetry(linear: Linear) -> bool:
    m = np.array(linear).reshape(3, 3)
    return bool(np.array_equal(m, np.round(m)) and np.array_equal(m @ m.T, np.eye(3)))


def _linear(matrix: Matrix) -> Linear:
    return tuple(float(v) + 0.0 for v in matrix.ravel())


def linear(matrix: Matrix) -> Linear:
    """Return a matrix of the cube as an element holds it."""
    return _linear(np.round(matrix))


def _words(shift: tuple[float, ...]) -> str:
    return ", ".join(f"{by:g}" for by in shift)
