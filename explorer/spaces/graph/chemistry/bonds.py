"""Bonds by distance, where a file tells none.

Two atoms are joined when they are no further apart than the sum of their covalent radii and 0.45 ångström, and at least
0.4 ångström: the rule of Open Babel, N. M. O'Boyle et al., 2011, with the radii of Cordero et al., 2008.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

TOLERANCE, CLOSEST = 0.45, 0.4  # ångström
CROWD = 128  # atoms within reach of an atom, on average; in a crystal of caesium there are half as many
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
    tree, reach = cKDTree(position), 2 * float(radius.max()) + TOLERANCE
    if len(position) > _FEW and tree.count_neighbors(tree, reach) > CROWD * len(position):
        return None
    pairs = tree.query_pairs(reach, output_type="ndarray").astype(np.int64)
    length = np.linalg.norm(position[pairs[:, 0]] - position[pairs[:, 1]], axis=1)
    pairs = pairs[(length >= CLOSEST) & (length <= radius[pairs].sum(1) + TOLERANCE)]
    return np.asarray(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))])
