"""Vectors that a sample tells of its points, such as velocities and forces, and the cell that its points lie in."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample, Signal
from explorer.spaces.points.fields import PSEUDO_VECTOR, VECTOR

CORNERS = np.array([(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)], np.float64)  # in edges of a cell
EDGES = tuple((a, b) for a in range(8) for b in range(a + 1, 8) if np.abs(CORNERS[a] - CORNERS[b]).sum() == 1)


def vector_signals(sample: Sample) -> dict[str, Signal]:
    """Return the signals of a sample that are a vector or a pseudo-vector at each point, by name."""
    return {name: s for name, s in sample.signals.items() if s.field in (VECTOR, PSEUDO_VECTOR)}


def vectors_of(sample: Sample) -> dict[str, NDArray[np.float64]]:
    """Return {name: (points, 3)}, the vectors at its points."""
    return {name: np.asarray(s.values, np.float64) for name, s in vector_signals(sample).items()}


def corners_of(sample: Sample) -> NDArray[np.float64] | None:
    """Return the (8, 3) corners of the cell, as `CORNERS` counts them; None where nothing goes on beyond one."""
    cell, periodic = sample.signals.get("cell"), sample.signals.get("periodic")
    if cell is None or periodic is None or not periodic.values.any():
        return None
    return np.asarray(CORNERS @ cell.values.reshape(3, 3).astype(np.float64))
