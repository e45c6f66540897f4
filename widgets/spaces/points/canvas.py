"""The canvas of meshes for points: what lies under the mouse is a point, whatever it is drawn as."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QWidget

from widgets.spaces.mesh.drawing.camera import Eye
from widgets.spaces.mesh.drawing.canvas import MeshCanvas
from widgets.spaces.mesh.drawing.pictures import MeshPictures

if TYPE_CHECKING:
    from widgets.spaces.mesh.drawing.picking import Hit

Array = NDArray[Any]


class PointsPictures(MeshPictures):
    """Pictures whose points are seen where their own bodies are in front of them."""

    owners: tuple[Array, ...] = ()

    def seen(self, panel: int, point: Array, eye: Eye) -> bool:
        """Say whether the point, the centre of its body, is hidden by no other body."""
        if float((eye.position - point) @ eye.axes[2]) <= 0 or panel >= len(self.owners):
            return False
        hit = self.cast(panel, eye.position, point)
        if hit is None:
            return True
        owner = self.owners[panel][hit.vertex]
        return bool(np.array_equal(self.looks[panel].vertices[owner], point))


class PointsCanvas(MeshCanvas):
    """Shows points; vertex k of each panel is point k of x, and what is hit is told as the point that owns it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.pictures: PointsPictures = PointsPictures(self)

    def under(self, at: QPointF) -> tuple[int, Hit | None] | None:
        """Return the panel at a point of the widget and what is there, its vertex the number of a point."""
        found = super().under(at)
        if found is None or found[1] is None or found[0] >= len(self.pictures.owners):
            return found
        hit: Hit = found[1]
        return found[0], replace(hit, vertex=int(self.pictures.owners[found[0]][hit.vertex]))
