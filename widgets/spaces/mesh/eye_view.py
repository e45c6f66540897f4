"""Base of the views that draw in space: from where a person looked is kept by sessions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic

from widgets.base.frame_view import FrameView, Part
from widgets.spaces.mesh.drawing.camera import eye_of
from widgets.spaces.mesh.drawing.canvas import MeshCanvas


class EyeView(FrameView[Part], Generic[Part]):
    """Draws on one canvas of meshes, `canvas`, whose eye goes with the session."""

    canvas: MeshCanvas

    def looks(self) -> dict[str, Any]:
        looks = super().looks()
        return {**looks, "eye": self.canvas.eye.numbers} if self.canvas.looks else looks

    def see(self, looks: Mapping[str, Any]) -> None:
        if (eye := eye_of(looks.get("eye"))) is not None:
            self.canvas.look_with(eye)
