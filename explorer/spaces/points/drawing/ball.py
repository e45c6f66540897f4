"""Balls of triangles, and the harmonics in the directions of their corners: values of a degree drawn as surfaces."""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Index = NDArray[np.int64]


@cache
def ball(times: int) -> tuple[Floats, Index]:
    """Return the corners (10 · 4^times + 2, 3) and the faces of a unit ball, read-only."""
    from explorer.spaces.mesh.samples.surfaces import icosphere

    vertices, faces = (np.array(part) for part in icosphere(times))
    vertices.flags.writeable = faces.flags.writeable = False
    return np.asarray(vertices, np.float64), np.asarray(faces, np.int64)


def fineness(points: int) -> int:
    """Return how finely surfaces are drawn at so many points."""
    return 3 if points <= 24 else 2 if points <= 200 else 1


@lru_cache(maxsize=64)
def harmonics(degree: int, times: int) -> Floats:
    """Return Y_l in the directions of a ball's corners, (corners, 2 l + 1), read-only."""
    import torch

    from explorer.spaces.points.harmonics import spherical

    found = np.array(spherical(degree, torch.from_numpy(ball(times)[0].copy())).numpy())
    found.flags.writeable = False
    return found
