"""Wigner blocks: how values of a degree turn when space does, read off e3nn's spherical harmonics.

Y_l(R v) = D_l(R) Y_l(v) at more directions than D_l has columns determines D_l. e3nn's own `D_from_matrix` goes through
angles in single precision: in double precision its blocks are off by 1e-7 to 1e-6, these by 1e-15.
"""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Matrix = tuple[float, ...]  # nine numbers, row by row


def _harmonics(degree: int, directions: Floats) -> Floats:
    import torch

    from explorer.work.e3nn_parts import o3

    found: Floats = o3().spherical_harmonics(degree, torch.from_numpy(directions), True).numpy()
    return found


@cache
def _directions(degree: int) -> tuple[Floats, Floats]:
    """Return directions that tell a value of this degree, and the pseudo-inverse of its harmonics there."""
    count = 4 * (2 * degree + 1)
    # Fibonacci's lattice is spread evenly, which keeps the inverse tame
    k = np.arange(count) + 0.5
    z, angle = 1 - 2 * k / count, np.pi * (1 + 5**0.5) * k
    there = np.stack([np.sqrt(1 - z**2) * np.cos(angle), np.sqrt(1 - z**2) * np.sin(angle), z], 1)
    inverse = np.asarray(np.linalg.pinv(_harmonics(degree, there)), np.float64)
    return there, inverse


@lru_cache(maxsize=512)
def wigner(degree: int, parity: str, linear: Matrix) -> Floats:
    """Return (2 l + 1, 2 l + 1) of an orthogonal matrix given row by row; `parity` is "e" or "o"."""
    matrix = np.array(linear).reshape(3, 3)
    mirrored = np.linalg.det(matrix) < 0
    proper = -matrix if mirrored else matrix
    sign = -1.0 if mirrored and parity == "o" else 1.0
    if degree == 0:
        return np.full((1, 1), sign)
    if degree == 1:
        return np.asarray(sign * proper)
    directions, inverse = _directions(degree)
    return np.asarray(sign * (inverse @ _harmonics(degree, directions @ proper.T)).T)
