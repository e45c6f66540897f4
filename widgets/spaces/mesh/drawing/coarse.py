"""A stand-in for a mesh of many faces while it moves: fewer faces between its own vertices. Numpy only, no Qt."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
MANY = 200_000  # faces from which a mesh has a stand-in
ACROSS = 128  # cells along the longest side


def stand_in(vertices: Array, faces: Array) -> Array:
    """Return the corners (G, 3) of the faces that are left when each cell of a grid has one vertex.

    Source: Rossignac and Borrel, "Multi-resolution 3D approximations for rendering complex scenes", 1993, with a vertex
    of the mesh for each cell, so that values at the vertices need not be averaged.
    """
    low, size = vertices.min(0), float(np.ptp(vertices, axis=0).max()) or 1.0
    cell = ((vertices - low) * (ACROSS / size)).astype(np.int64)
    number = (cell[:, 0] * (ACROSS + 1) + cell[:, 1]) * (ACROSS + 1) + cell[:, 2]
    owner = np.full((ACROSS + 1) ** 3, -1, np.int32)
    owner[number] = np.arange(len(vertices))
    merged = owner[number][faces]
    a, b, c = merged.T
    return merged[(a != b) & (b != c) & (c != a)].astype(np.int64)
