"""The action of the cube's symmetries on volumes once more, written with coordinates."""

from __future__ import annotations

import numpy as np
from torch import Tensor


def moved(x: Tensor, h: np.ndarray) -> Tensor:
    """Return f(h⁻¹ u), voxel by voxel."""
    side = x.shape[-1]
    axis = np.arange(side) - (side - 1) / 2
    z, y, x_ = np.meshgrid(axis, -axis, axis, indexing="ij")
    source = np.einsum("dc,...d->...c", h, np.stack([x_, y, z], -1))
    at = np.rint(source * np.array([1, -1, 1]) + (side - 1) / 2).astype(int)
    return x[..., at[..., 2], at[..., 1], at[..., 0]]
