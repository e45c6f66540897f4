"""Tell masks from values: entries that lie so far off all others that a softmax gives them nothing.

People write −1e9, the lowest float32, −1e4 or −∞ where an entry must not count. There is no list of such numbers: a
mask is told from the gap between it and the values. One entry alone, however far off, is no mask but an outlier.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

APART = 100.0  # times the largest value a mask is at least; and so far from all of them: e to the −100 is no float32
CONSTANTS = 4  # different masks at most, as where those of padding and of the future were added
LOOKED_AT = 2**20  # entries among which a gap is sought


def bound_of(values: NDArray[Any]) -> float:
    """Return the magnitude beyond which finite entries are masks, infinity where there are none."""
    if values.dtype.kind != "f" or not values.size:
        return np.inf
    flat = values.reshape(-1)[:: max(1, values.size // LOOKED_AT)]
    flat = flat[np.isfinite(flat)].astype(np.float64)
    if not np.abs(flat).max(initial=0.0) > APART:
        return np.inf
    found, counts = np.unique(flat, return_counts=True)
    order = np.argsort(np.abs(found), kind="stable")
    found, counts = found[order], counts[order]
    size = np.abs(found)
    digits = 4 * float(np.finfo(values.dtype).eps)
    gaps = np.flatnonzero((size[1:] >= APART * size[:-1]) & (size[1:] - size[:-1] >= APART))
    for gap in gaps.tolist():
        near, far = found[: gap + 1], np.sort(found[gap + 1 :])
        spread = float(np.ptp(near))
        # a mask with a value added to it lies about the mask as values lie about each other
        apart = np.diff(far) > spread + digits * np.abs(far[1:])
        if spread > 0 and np.count_nonzero(apart) < CONSTANTS and counts[gap + 1 :].sum() > 1:
            return float(np.sqrt(size[gap]) * np.sqrt(size[gap + 1]))
    return np.inf


def masked(values: NDArray[Any], bound: float) -> NDArray[np.bool_]:
    """Return which entries are masks: −∞, and what is finite and beyond the bound."""
    found: NDArray[np.bool_] = values == -np.inf
    return found | ((np.abs(values) > bound) & (values != np.inf)) if bound < np.inf else found
