"""Bonds by distance, where a file tells none.

Two atoms are joined when they are no further apart than the sum of their covalent radii and 0.45 ångström, and at least
0.4 ångström: the rule of Open Babel, N. M. O'Boyle et al., 2011, with the radii of Cordero et al., 2008.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

TOLERANCE, CLOSEST = 0.45, 0.4  # ångström
CROWD = 8  # atoms in a cube that all reach each other, on average over atoms; in a crystal of caesium there are two
_FEW = 1000  # atoms of which every pair may be looked at
TOO_CLOSE = "atoms lie too close together to tell which are bonded"


def near_pairs(position: NDArray[np.float64], radius: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """Return (bonds, 2) in ascending order, None where atoms lie so close together that distances tell nothing.

    Args:
        position: (atoms, 3), finite.
        radius: (atoms,), of the bonds of each.
    """
    from scipy.spatial import cKDTree

    if len(position) < 2:
        return np.zeros((0, 2), np.int64)
    reach = 2 * float(radius.max()) + TOLERANCE
    if len(position) > _FEW and _crowd(position, reach / 2) > CROWD:
        return None
    pairs = cKDTree(position).query_pairs(reach, output_type="ndarray").astype(np.int64)
    length = np.linalg.norm(position[pairs[:, 0]] - position[pairs[:, 1]], axis=1)
    pairs = pairs[(length >= CLOSEST) & (length <= radius[pairs].sum(1) + TOLERANCE)]
    return np.asarray(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))])


def _crowd(position: NDArray[np.float64], side: float) -> float:
    """Return how many atoms lie in the cube of an atom, on average."""
    cubes = np.floor((position - position.min(0)) / side)
    _, counts = np.unique(cubes, axis=0, return_counts=True)
    return float((counts.astype(np.float64) ** 2).sum() / len(position))
