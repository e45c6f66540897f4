"""The elements of E(3) on points: turns, mirrors and shifts of space, and a change of scale beside them.

All of them move points exactly: nothing is resampled, so each gives a verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from explorer.declare.elements import Element, NoAction
from explorer.declare.types.fields import FieldType, Regular
from explorer.spaces.points.elements.wigner import Matrix, wigner
from explorer.spaces.points.fields import Coordinates, Irreps

if TYPE_CHECKING:
    from torch import Tensor

Floats = NDArray[np.float64]
DOMAINS = ("points",)
TINY = 1e-12
ONE: Matrix = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Isometry(Element):
    """x -> scale R x + t.

    Attributes:
        linear: R, orthogonal, row by row; of determinant -1 where space is seen in a mirror.
        shift: t, in the units of the points.
        scale: a factor above 0 of lengths. Places follow it; a velocity or a charge stays as it is.
    """

    linear: Matrix = ONE
    shift: tuple[float, float, float] = (0.0, 0.0, 0.0)
    scale: float = 1.0
    resamples = False

    @property
    def domains(self) -> tuple[str, ...]:  # type: ignore[override]
        return DOMAINS

    @property
    def group(self) -> str:
        if self.scale != 1.0:
            return "similarity"
        if any(self.shift):
            return "E3" if self.mirrored else "SE3"
        return "O3" if self.mirrored else "SO3"

    @property
    def matrix(self) -> Floats:
        return np.array(self.linear).reshape(3, 3)

    @property
    def mirrored(self) -> bool:
        return bool(np.linalg.det(self.matrix) < 0)

    @property
    def identity(self) -> bool:
        # a product with the inverse rounds
        off = [*(a - b for a, b in zip(self.linear, ONE, strict=True)), *self.shift, self.scale - 1.0]
        return max(map(abs, off)) < TINY

    def inverse(self) -> Isometry:
        back = self.matrix.T
        return isometry(back, -back @ np.array(self.shift) / self.scale, 1.0 / self.scale)

    def merge(self, first: Element) -> Isometry | None:
        if not isinstance(first, Isometry):
            return None
        shift = self.scale * self.matrix @ np.array(first.shift) + np.array(self.shift)
        return isometry(self.matrix @ first.matrix, shift, self.scale * first.scale)

    def exact(self, field: FieldType, shape: tuple[int, ...]) -> bool:
        return True

    def act(self, values: Tensor, field: FieldType) -> Tensor:
        """Return rho(g) values; raise NoAction where they are told in some group's own directions."""
        if not values.numel():  # one point alone has no edges
            return values
        domain = field.domain
        match field.rep:
            case Coordinates():
                first = domain.places_first(values)
                places = first.reshape(*first.shape[:1], -1, 3)
                moved = self.scale * (places @ _like(self.matrix, values).T) + _like(np.array(self.shift), values)
                return domain.as_given(moved.reshape(first.shape))
            case Irreps(still=False):
                return domain.as_given(self._irreps(domain.places_first(values), field.rep))
            case Regular(group=group):
                raise NoAction(f"a motion of space has no action on values in the directions of {group.name}")
        return values

    def _irreps(self, values: Tensor, rep: Irreps) -> Tensor:
        import torch

        if self.linear == ONE:
            return values
        channels = values[:1].numel()
        if channels % rep.size:
            raise NoAction(f"{channels} channels are no whole number of blocks of {rep.size}, those of {rep.written}")
        blocks = values.reshape(len(values), -1, rep.size)
        parts, at = [], 0
        for count, degree, parity in rep.terms:
            width = 2 * degree + 1
            part = blocks[..., at : at + count * width].unflatten(-1, (count, width))
            parts.append((part @ _like(wigner(degree, parity, self.linear), values).T).flatten(-2))
            at += count * width
        return torch.cat(parts, -1).reshape(values.shape)

    def known(self, values: Tensor, field: FieldType) -> Tensor | None:
        return None


def isometry(linear: Floats, shift: Floats | tuple[float, ...] = (0.0, 0.0, 0.0), scale: float = 1.0) -> Isometry:
    """Return the element of a matrix (3, 3) and a shift (3,); what rounding alone keeps from the identity is it."""
    there = np.asarray(linear, np.float64)
    if float(np.abs(there - np.eye(3)).max()) < 1e-14:
        there = np.eye(3)
    x, y, z = (float(s) for s in shift)
    return Isometry(tuple(float(v) + 0.0 for v in there.ravel()), (x + 0.0, y + 0.0, z + 0.0), float(scale))


def rotation(turn: Floats) -> Floats:
    """Return the matrix that turns by |turn| degrees about `turn` (3,), exact at quarter turns about x, y and z."""
    from explorer.declare.groups import rotation_matrix

    degrees = float(np.abs(turn).sum() if np.count_nonzero(turn) == 1 else np.linalg.norm(turn))
    axis = turn / degrees if degrees else np.eye(3)[2]
    c, s = rotation_matrix(degrees)[:, 0]
    found: Floats = c * np.eye(3) + s * np.cross(np.eye(3), axis) + (1 - c) * np.outer(axis, axis)
    return found


def turn_of(matrix: Floats) -> Floats:
    """Return the axis times the angle, in degrees, of a rotation: the inverse of `rotation`."""
    twist = np.array([matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]])
    size = float(np.linalg.norm(twist))
    angle = float(np.arctan2(size, np.trace(matrix) - 1))
    if size > 1e-9:
        return np.asarray(np.degrees(angle) * twist / size)
    if angle < 1.0:
        return np.zeros(3)
    # half a turn: R = 2 a a^T - 1
    column = (matrix + np.eye(3))[:, int(np.argmax(np.diag(matrix)))]
    return np.asarray(180.0 * column / np.linalg.norm(column))


def _like(array: Floats, values: Tensor) -> Tensor:
    import torch

    return torch.as_tensor(array, dtype=values.dtype, device=values.device)
