"""The canvas of meshes for surfaces of volumes: what lies under the mouse is a voxel, and it is shown in all panels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widgets.spaces.mesh.drawing.canvas import MeshCanvas
from widgets.spaces.volume.cursor import Panel, Place

NEAR = 2.5  # voxels of a panel from the place of a voxel, within which a vertex of its surface stands for it


class SurfaceCanvas(MeshCanvas):
    """Shows a surface of each of some panels; vertices of two surfaces belong together where their voxels do."""

    panels: Sequence[Panel] = ()

    def voxel_at(self, panel: int, vertex: int) -> Place | None:
        """Return the voxel of x that a vertex of a panel belongs to; None where it came from outside."""
        if panel >= len(self.panels) or not 0 <= vertex < len(self.looks[panel].vertices):
            return None
        of = self.panels[panel]
        x, y, z = self.looks[panel].vertices[vertex] / (of.spacing * of.stride)
        nz, ny, nx = of.values.shape
        index = np.array([z + (nz - 1) / 2, (ny - 1) / 2 - y, x + (nx - 1) / 2]).round().astype(int)
        k, row, column = (int(v) for v in index.clip(0, np.array(of.values.shape) - 1))
        return of.voxel((k, row, column))

    def number_in(self, panel: int, vertex: int, of: int | None = None) -> int:
        if of is None or of == panel:
            return vertex
        place = self.voxel_at(of, vertex)
        found = None if place is None or panel >= len(self.panels) else self.panels[panel].at(place)
        return -1 if found is None else self._nearest(panel, found)

    def _nearest(self, panel: int, index: Place) -> int:
        """Return the vertex of a panel that is nearest to a value of it, -1 where its surface is elsewhere."""
        of, vertices = self.panels[panel], self.looks[panel].vertices
        if not len(vertices):
            return -1
        nz, ny, nx = of.values.shape
        k, row, column = index
        point = np.array([column - (nx - 1) / 2, (ny - 1) / 2 - row, k - (nz - 1) / 2]) * of.spacing * of.stride
        away: NDArray[Any] = ((vertices - point) ** 2).sum(1)
        best = int(away.argmin())
        return best if away[best] < (NEAR * of.spacing * of.stride) ** 2 else -1
