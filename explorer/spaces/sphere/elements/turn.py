"""The one element type of the sphere: a rotation, which acts on each degree by its Wigner matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from explorer.declare.elements import Element
from explorer.declare.groups import Matrix
from explorer.declare.types.fields import FieldType
from explorer.spaces.sphere.fields import Coefficients

if TYPE_CHECKING:
    from torch import Tensor

    from explorer.declare.inputs import Inputs

_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Turn(Element):
    """p -> R p, with R row by row; y is the axis of the poles."""

    linear: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    resamples = False

    @property
    def domains(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("sphere",)

    @property
    def matrix(self) -> Matrix:
        return np.array(self.linear).reshape(3, 3)

    @property
    def group(self) -> str:
        return "sphere-SO3"

    @property
    def identity(self) -> bool:
        return bool(np.abs(self.matrix - np.eye(3)).max() < _TINY)

    def inverse(self) -> Turn:
        return turn_by(self.matrix.T)

    def merge(self, first: Element) -> Turn | None:
        return turn_by(self.matrix @ first.matrix) if isinstance(first, Turn) else None

    def exact(self, field: FieldType, shape: tuple[int, ...]) -> bool:
        return True  # nothing is resampled: coefficients mix within a degree

    def act(self, values: Tensor, field: FieldType) -> Tensor:
        if not isinstance(field.domain, Coefficients) or self.identity:
            return values
        import torch

        from explorer.spaces.sphere.harmonics import wigner

        blocks = field.domain.blocks(values)
        moved = [wigner(degree, self.linear).to(block) @ block for degree, block in enumerate(blocks)]
        return torch.cat([block.flatten(-2) for block in moved], -1)

    def known(self, values: Tensor, field: FieldType) -> Tensor | None:
        return None

    def on(self, inputs: Inputs) -> Turn:
        return self


def turn_by(matrix: Matrix) -> Turn:
    """Return the turn by a matrix."""
    return Turn(tuple(float(v) + 0.0 for v in np.asarray(matrix).ravel()))


def about(angle: float, longitude: float, latitude: float) -> Turn:
    """Return the turn by degrees about an axis, counter-clockwise where it points to the eye."""
    a, lon, lat = np.radians([angle, longitude, latitude])
    x, y, z = np.cos(lat) * np.sin(lon), np.sin(lat), np.cos(lat) * np.cos(lon)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return turn_by(np.eye(3) + np.sin(a) * cross + (1 - np.cos(a)) * cross @ cross)
