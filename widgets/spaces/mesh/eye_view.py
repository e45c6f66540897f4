"""Base of the views that draw in space: from where a person looked is kept by sessions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic

from PySide6.QtCore import QPoint

from explorer.square.frame import Square
from widgets.base.frame_view import FrameView, Part
from widgets.spaces.mesh.drawing.camera import eye_of
from widgets.spaces.mesh.drawing.canvas import MeshCanvas


class EyeView(FrameView[Part], Generic[Part]):
    """Draws on one canvas of meshes, `canvas`, whose eye goes with the session."""

    canvas: MeshCanvas

    def ask_menu(self, panel: int, vertex: int, at: QPoint) -> None:
        """Ask for the menu of the place under the mouse, where the layer lies on such places, else of what is drawn."""
        square = self.square_in(panel)
        if square is not None and vertex >= 0 and square.layer.kind_of_places == self.POINTS_AT:
            self.ask_menu_of(square, at, self.POINTS_AT, vertex)
        elif square is not None:
            self.ask_menu_of(square, at, *self.drawn_part())

    def square_in(self, panel: int) -> Square | None:
        """Return the square that a panel is of."""
        return self.squares[0] if self.squares else None

    def drawn_part(self) -> tuple[str, int]:
        """Return which part of the layer is drawn, as interventions call it; ("", -1) for what a person selected."""
        return "", -1

    def looks(self) -> dict[str, Any]:
        looks = super().looks()
        return {**looks, "eye": self.canvas.eye.numbers} if self.canvas.looks else looks

    def see(self, looks: Mapping[str, Any]) -> None:
        if (eye := eye_of(looks.get("eye"))) is not None:
            self.canvas.look_with(eye)
