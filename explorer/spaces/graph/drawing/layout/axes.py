"""Turn drawn places: what spreads most lies from left to right, and rounding never says which way round.

A ring spreads as much in one direction as in another, and a symmetric graph has no heavier end: there the numbers of
the nodes, or the axes that the places came with, take the place of what the shape leaves open.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.work.eigenspaces import basis_by_rule, first_largest, ranks, signed

Places = NDArray[Any]

ALIKE = 1e-2  # spreads whose difference is less, as a share of the largest, say nothing
EVEN = 1e-6  # a sum that is smaller, as a share of its terms, is 0


def axes_of_spread(places: Places) -> Places:
    """Return orthonormal axes, (d, d), the one along which centred places (N, d) spread most first.

    Where spreads are alike, those of the given axes that reach farthest into their space, in their order.
    """
    spread, axes = np.linalg.eigh(np.einsum("na,nb->ab", places, places))
    spread, axes = spread[::-1], axes[:, ::-1].copy()
    level = ranks(spread, ALIKE * float(spread[0]))
    for one in np.unique(level):
        axes[:, level == one] = basis_by_rule(axes[:, level == one])
    return _turned(axes, axes.sum(0), np.abs(axes).sum(0))


def upright(places: Places) -> Places:
    """Turn places in the plane so that they spread most from left to right, the heavier ends right and above.

    What spreads alike in all directions is turned so that the farthest node, the first of them, lies to the right.
    """
    centred = places - places.mean(axis=0)
    axes = axes_of_spread(centred)
    spread = np.sort(np.einsum("na,ab->nb", centred, axes).var(0))
    if spread[0] > (1 - ALIKE) * spread[1]:
        far = centred[first_largest(np.hypot(*centred.T)[:, None])[0]]
        far = far / max(float(np.hypot(*far)), 1e-300)
        axes = np.array([[far[0], -far[1]], [far[1], far[0]]])
    turned = np.einsum("na,ab->nb", centred, axes)
    return _turned(turned, (turned**3).sum(0), (np.abs(turned) ** 3).sum(0))


def _turned(columns: Places, sums: Places, sizes: Places) -> Places:
    """Return columns with the sign that makes their sums positive; with that of their first largest entry if even."""
    by_sum = columns * np.where(sums < 0, -1.0, 1.0)
    return np.where(np.abs(sums) > EVEN * sizes, by_sum, signed(columns))
