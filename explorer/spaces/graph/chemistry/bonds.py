"""Bonds: of what kind they are where a file tells it, and which there are by distance where it tells none.

Two atoms are joined when they are no further apart than the sum of their covalent radii and 0.45 ångström, and at least
0.4 ångström: the rule of Open Babel, N. M. O'Boyle et al., 2011, with the radii of Cordero et al., 2008.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample
from explorer.spaces.graph.chemistry.atoms import BONDS, element_of

TOLERANCE, CLOSEST = 0.45, 0.4  # ångström
CROWD = 8  # atoms in a cube that all reach each other, on average over atoms; in a crystal of caesium there are two
_AT_ONCE = 2**17  # pairs whose distance is worked out at a time
_FEW = 1000  # atoms of which every pair may be looked at
TOO_CLOSE = "atoms lie too close together to tell which are bonded"


def bond_kinds(sample: Sample) -> NDArray[np.int64] | None:
    """Return (edges,) of what kind each listed bond is, 1 to 4 in the order of `BONDS`.

    None where nodes are no atoms, or edge_attr does not tell exactly one of these kinds for each bond.
    """
    given = sample.signals.get("edge_attr")
    if given is None or not sample.names or not all(map(element_of, sample.names)):
        return None
    told = np.asarray(given.values)
    if told.ndim != 2 or told.shape[1] != len(BONDS) or not (np.isin(told, (0, 1)).all() and (told.sum(1) == 1).all()):
        return None
    return np.asarray(told.argmax(1) + 1, np.int64)


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
    pairs = cKDTree(position).query_pairs(reach, output_type="ndarray").astype(np.int64, copy=False)
    keep = np.empty(len(pairs), bool)
    for first in range(0, len(pairs), _AT_ONCE):  # what is worked out on the way takes less than the pairs
        some = pairs[first : first + _AT_ONCE]
        length = np.linalg.norm(position[some[:, 0]] - position[some[:, 1]], axis=1)
        keep[first : first + _AT_ONCE] = (length >= CLOSEST) & (length <= radius[some].sum(1) + TOLERANCE)
    pairs = pairs[keep]
    return np.asarray(pairs[np.argsort(pairs[:, 0] * len(position) + pairs[:, 1])])


def _crowd(position: NDArray[np.float64], side: float) -> float:
    """Return how many atoms lie in the cube of an atom, on average."""
    cubes = np.floor((position - position.min(0)) / side)
    _, counts = np.unique(cubes, axis=0, return_counts=True)
    return float((counts.astype(np.float64) ** 2).sum() / len(position))
