"""Choose the part of a picture that is seen."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class Camera(QObject):
    """The part of a picture that is seen. Panels that share one zoom and pan together."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.zoom, self.x, self.y = 1.0, 0.5, 0.5  # the centre, as a fraction of the picture
        self.most = 64.0  # how far the zoom goes

    def set(self, zoom: float, x: float, y: float) -> None:
        zoom = min(max(zoom, 1.0), self.most)
        half = 0.5 / zoom
        x, y = min(max(x, half), 1 - half), min(max(y, half), 1 - half)
        if (zoom, x, y) != (self.zoom, self.x, self.y):
            self.zoom, self.x, self.y = zoom, x, y
            self.changed.emit()

    def reset(self) -> None:
        self.set(1.0, 0.5, 0.5)
