"""Vector fields on the plane, as optical flow and the slope of a picture are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from explorer.declare.groups import Matrix
from explorer.declare.types.declared import Mixed
from explorer.declare.types.written import Written

if TYPE_CHECKING:
    from torch import Tensor

# what the components are along, x right and y up
AXES = {"": ((1.0, 0.0), (0.0, -1.0)), "up": ((1.0, 0.0), (0.0, 1.0)), "yx": ((0.0, -1.0), (1.0, 0.0))}


@dataclass(frozen=True, slots=True)
class PlaneVector(Mixed):
    """Vectors, channel = 2 * field + component.

    Attributes:
        axes_of: "" for (right, down), as of flow over pixels, "up" for (right, up), "yx" for (down, right).
    """

    axes_of: str = ""

    @property
    def size(self) -> int:
        return 2

    def __str__(self) -> str:
        return f"plane vector {self.axes_of}".strip()

    def matrix(self, h: Matrix) -> Matrix:
        basis = np.array(AXES[self.axes_of])  # a row for each component
        turned: Matrix = basis @ h @ basis.T
        return turned

    def mixed(self, values: Tensor, h: Matrix) -> Tensor:
        import torch

        if np.array_equal(h, np.eye(2)):
            return values
        mix = torch.as_tensor(self.matrix(h), device="cpu").to(values)
        return torch.einsum("rs,bns...->bnr...", mix, values.unflatten(1, (-1, 2))).flatten(1, 2)


HOMES = ("grid", "pixel")
REPRESENTATIONS = {str(rep): Written(lambda _, rep=rep: rep, HOMES) for rep in map(PlaneVector, AXES)}  # type: ignore[misc]
