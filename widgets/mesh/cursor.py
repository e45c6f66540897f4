"""What the views of meshes point at together: the vertex under the mouse, and the feature that colours mean."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class _Cursor(QObject):
    moved = Signal(object)  # a vertex of x (int), or None
    chosen = Signal(object)  # the Choice by which surfaces are coloured


cursor = _Cursor()
