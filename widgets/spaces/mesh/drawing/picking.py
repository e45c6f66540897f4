"""Find what a ray from the eye hits: a face, and of it the nearest vertex and edge. Imported with the first mesh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyvista as pv
from numpy.typing import NDArray

from widgets.spaces.mesh.drawing.look import MeshLook, Slice

Array = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Hit:
    """The first point (3,) of a surface on a ray, its face, and the corner and the side (0 to 2) nearest to it.

    `edge` is 3 face + side; the side k joins the corners k and k + 1.
    """

    point: Array
    face: int
    vertex: int
    edge: int

    def index(self, kind: str) -> int:
        """Return the number of the "vertex", the "edge" or the "face"."""
        return {"vertex": self.vertex, "edge": self.edge, "face": self.face}[kind]


class Picker:
    """Casts rays onto the surface of one panel. What makes this quick is built at the first ray onto a mesh."""

    def __init__(self) -> None:
        self._mesh = pv.PolyData()
        self._of: tuple[Array, Array] | None = None

    def hit(self, drawn: pv.PolyData, look: MeshLook, start: Array, end: Array, cut: Slice | None) -> Hit | None:
        """Return what the way from start to end meets first of what is shown of the mesh, or None."""
        ends = kept(start, end, cut)
        if ends is None or not len(look.faces):
            return None
        if self._of is None or self._of[0] is not look.vertices or self._of[1] is not look.faces:
            self._mesh = drawn.copy(deep=False)  # pyvista keeps the search tree with the mesh, for good
            self._of = look.vertices, look.faces
        points, faces = self._mesh.intersect_with_line(*ends, tolerance=0.0)
        return nearest(look, np.asarray(points[0], float), int(faces[0])) if len(faces) else None


def kept(start: Array, end: Array, cut: Slice | None) -> tuple[Array, Array] | None:
    """Return the part of a way that is on the side of the cut which is shown, None where nothing is."""
    if cut is None:
        return start, end
    normal = np.array(cut.normal)
    beyond = normal @ start - cut.offset, normal @ end - cut.offset
    if max(beyond) <= 0:
        return start, end
    if min(beyond) >= 0:
        return None
    between = start + (end - start) * (beyond[0] / (beyond[0] - beyond[1]))
    return (between, end) if beyond[0] > 0 else (start, between)


def nearest(look: MeshLook, point: Array, face: int) -> Hit:
    """Return the hit at a point of a face."""
    corners = look.faces[face]
    at = look.vertices[corners]
    away = np.linalg.norm(at - point, axis=1)
    ways = np.roll(at, -1, axis=0) - at
    lengths = np.maximum((ways**2).sum(1), 1e-300)
    along = np.clip(((point - at) * ways).sum(1) / lengths, 0, 1)[:, None]
    aside = np.linalg.norm(at + along * ways - point, axis=1)
    return Hit(point, face, int(corners[away.argmin()]), 3 * face + int(aside.argmin()))
