"""Fewer faces between the vertices of a mesh: while a large one moves, and where they cover each other too often.

Numpy only, no Qt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widgets.spaces.mesh.drawing.camera import ball
from widgets.spaces.mesh.drawing.glyphs import face_normals
from widgets.spaces.mesh.drawing.look import MeshLook

Array = NDArray[Any]
MANY = 200_000  # faces from which a mesh has a stand-in
ACROSS = 128  # cells along the longest side
# times that the faces of a mesh may cover a disc as large as it is. A sphere does 4 times, a sponge of 20 x 20 x 20
# cubes some 50 times; 20,000 faces across the whole mesh do 5,000 times, and took a processor 9 s for each picture
LAYERS = 100
GOLDEN = 0.6180339887498949  # multiples of it are spread evenly over all remainders


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


def bearable(look: MeshLook, before: Sequence[MeshLook] = ()) -> MeshLook:
    """Return a look that can be drawn in time: of faces that cover each other often, some are drawn, which is noted.

    Args:
        before: looks of which those with the same faces are known.
    """
    known = next((one for one in before if one.faces is look.faces), None)
    shown = _some(look.vertices, look.faces) if known is None else known.shown
    if shown is None:
        return look
    told = f"{len(shown):,} of {len(look.faces):,} faces drawn"
    return replace(look, shown=shown, note=" · ".join(filter(None, (look.note, told))))


def _some(vertices: Array, faces: Array) -> Array | None:
    """Return the numbers of faces that together cover a mesh no more than LAYERS times, None where all do."""
    if len(faces) <= 2 * LAYERS:  # none covers more than half
        return None
    radius = ball([vertices])[1]
    sizes = np.linalg.norm(face_normals(vertices / radius, faces), axis=1) / 2
    layers = float(np.where(np.isfinite(sizes), sizes, 0).sum()) / np.pi
    if layers <= LAYERS:
        return None
    return np.flatnonzero(np.arange(len(faces)) * GOLDEN % 1 < LAYERS / layers)
