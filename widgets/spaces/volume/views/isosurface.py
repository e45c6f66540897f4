"""Isosurface: where a volume and a layer's answer have a value, as surfaces in space, on both sides of the square."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QSlider, QWidget

from explorer.declare.elements import transforms
from explorer.spaces.points.elements.isometry import rotation, turn_of
from explorer.spaces.volume.drawing.values import VolumePart
from explorer.square.frame import BACK, Square
from widgets.base.controls.row import ControlRow, stacked
from widgets.base.text.words import figure, subject
from widgets.base.view import ViewSpec, Wish
from widgets.maps.linking import precise
from widgets.maps.mosaic import symmetric_scale
from widgets.spaces.mesh.drawing import pyvista_import
from widgets.spaces.mesh.drawing.canvas import SOON
from widgets.spaces.mesh.drawing.look import MeshLook, blank
from widgets.spaces.mesh.eye_view import EyeView
from widgets.spaces.volume.canvas import SurfaceCanvas
from widgets.spaces.volume.cursor import PLANES, Panel, panels

SHOWN = ("x", "ρ(g)x", "ρ′(g)F(x)", "F(ρ(g)x)")
AT_REST = ("x", "F(x)")
PULLED_BACK = ("x", "ρ(g)x", "F(x)", BACK)
AGAIN_MS = 60  # after which it is asked again whether pyvista is there
FULL = 1000  # steps of the slider
TURN = "rotate-volume"
SNAP = 6.0  # degrees from a rotation of the cube, within which the volume goes there when it is let go
GREY, RED, BLUE = (176, 180, 188), (205, 92, 60), (70, 130, 190)


class IsosurfaceView(EyeView[tuple[Square, VolumePart]]):
    """Four panels with one eye: x and ρ(g)x in grey, what the layer answers in red above zero and blue below.

    Alt with a drag turns the volume itself, by any angle; let go near a rotation of the cube, it becomes that one,
    which resamples nothing and gives a verdict.
    """

    POINTS_AT = "voxel"
    KEPT: ClassVar = {"level": "level"}
    NOTHING = "Choose a volume and a network on volumes: their surfaces are drawn here."
    NONE = "This model does not live on volumes."

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.canvas: SurfaceCanvas = SurfaceCanvas(self)
        self.level = QSlider(Qt.Orientation.Horizontal)
        self.level.setRange(1, FULL - 1)
        self.level.setValue(round(0.4 * FULL))
        self.level.setAccessibleName("Level")
        self.level.setToolTip("The value of the surface, as a share of the largest one")
        self.level.valueChanged.connect(lambda _: self.refresh())
        self.level.setMinimumWidth(120)  # the window can be 1000 pixels wide
        self._chrome = ControlRow("Level", self.level, "")
        self.words = self._chrome.words[-1]
        stacked(self, self._chrome, self.canvas, gap=2)
        self.canvas.hovered.connect(self._hover)
        self.canvas.picked.connect(self._picked)
        self.canvas.asked.connect(self.ask_menu)
        self.canvas.turned.connect(self._turn)
        self.canvas.let_go.connect(self._let_go)
        self._again = QTimer(self, singleShot=True, interval=AGAIN_MS)
        self._again.timeout.connect(self.refresh)
        self._kept: dict[int, tuple[NDArray[Any], float, float, MeshLook]] = {}  # of each panel
        self._panels: list[Panel] = []
        self._names: list[str] = []
        self.apply_theme()
        self.refresh()

    # what comes in ----------------------------------------------------------------------------------------------
    def parts(self) -> list[tuple[Square, VolumePart]]:
        return self.with_part(VolumePart)

    def show_empty(self, sentence: str) -> None:
        self._chrome.hide()
        self._panels, self._names, self.canvas.panels = [], [], ()
        self.canvas.message = sentence
        self.canvas.show_looks(())

    def draw(self, parts: list[tuple[Square, VolumePart]]) -> None:
        assert self.frame is not None
        if not pyvista_import.done():
            pyvista_import.begin()
            self.canvas.message = SOON
            self.canvas.show_looks(())
            self._again.start()
            return
        self._chrome.show()
        self.canvas.message = ""
        identity = not self.frame.state.steps
        wanted: tuple[str, ...] = AT_REST if identity else SHOWN
        if not identity and any(part.back is not None for _, part in parts):
            wanted = PULLED_BACK
        if len(parts) > 1:  # of two models, both ways round the square of each
            wanted = tuple(name for name in wanted if name not in ("x", "ρ(g)x"))
        named = [(panel, square) for square, part in parts for name in wanted for panel in panels(part, identity)
                 if panel.name == name]  # fmt: skip
        self._panels = [panel for panel, _ in named]
        self._names = [panel.name if len(parts) == 1 else f"{panel.name} · {square.title}" for panel, square in named]
        most = symmetric_scale([p.values for p in self._panels if p.name not in ("x", "ρ(g)x")])
        share = self.level.value() / FULL
        looks = []
        for k, panel in enumerate(self._panels):
            values, *at, look = self._kept.get(k, (None, 0.0, 0.0, None))
            if values is not panel.values or at != [share, most] or look is None:
                look = self._look(panel, share, most)
                self._kept[k] = (panel.values, share, most, look)
            looks.append(replace(look, title=self._names[k]))
        if not any(p.name not in ("x", "ρ(g)x") for p in self._panels):
            looks.append(blank("This layer has no voxels: its answer stands still.", "F(x)"))
        self.canvas.panels = tuple(self._panels)
        self.canvas.show_looks(looks)
        self.words.setText(f"{share:.0%} of the range of x, ±{figure(share * most)} in the layer")

    def _look(self, panel: Panel, share: float, most: float) -> MeshLook:
        from widgets.spaces.volume.surface import isosurface

        values = panel.values
        if panel.name in ("x", "ρ(g)x"):
            low, high = float(values.min()), float(values.max())
            found = [(isosurface(values, low + share * (high - low)), GREY)]
        else:
            found = [(isosurface(values, share * most), RED), (isosurface(-values, share * most), BLUE)]
        if not any(len(v) for (v, _), _ in found):
            return blank("No voxel reaches this level.", panel.name)
        vertices = np.concatenate([v for (v, _), _ in found]) * panel.spacing * panel.stride
        before = np.cumsum([0, *(len(v) for (v, _), _ in found)])
        faces = np.concatenate([f + at for ((_, f), _), at in zip(found, before, strict=False)])
        colours = np.concatenate([np.tile(np.array(ink, np.uint8), (len(v), 1)) for (v, _), ink in found])
        return MeshLook(vertices, faces, panel.name, colours=colours)

    # what the person does ---------------------------------------------------------------------------------------
    def _hover(self, panel: int, vertex: int) -> None:
        place = self.canvas.voxel_at(panel, vertex) if vertex >= 0 else None
        if place is None:
            self.hovered.emit("")
            return
        value = self._panels[panel].values[self._panels[panel].at(place) or place]
        where = ", ".join(f"{name} {k}" for name, k in zip(PLANES, place, strict=True))
        self.hovered.emit(f"{self._names[panel]}, voxel {where} of x:  {precise(float(value))}")

    def _picked(self, panel: int, kind: str, vertex: int) -> None:
        """Cut the slices at the voxel that was clicked."""
        place = self.canvas.voxel_at(panel, vertex) if kind == "vertex" else None
        if place is not None:
            self.pointer.moved.emit(int(np.ravel_multi_index(place, self._panels[panel].part.sides)))

    def _turned(self) -> NDArray[Any]:
        """Return the rotation that the volume has been turned by."""
        step = self.state.step(TURN)
        return rotation(np.asarray(step.values if step is not None else np.zeros(3), float))

    def _wish(self, matrix: NDArray[Any], digits: int = 2) -> None:
        wanted = zip(transforms()[TURN].params, turn_of(matrix), strict=True)
        self.wished.emit(Wish(step=(TURN, tuple(p.clamp(round(float(v), digits)) for p, v in wanted)), tag=TURN))

    def _turn(self, further: NDArray[Any]) -> None:
        """Turn the volume by a small rotation after the one that it has been turned by."""
        self._wish(np.asarray(further) @ self._turned())

    def _let_go(self) -> None:
        """Go to the rotation of the cube that is near, if one is."""
        here = self._turned()
        near = transforms()[TURN].near
        assert near is not None
        others = [np.eye(3), *(rotation(np.array(turn)) for turn in near(*turn_of(here))[:1])]
        found = min(others, key=lambda other: float(np.linalg.norm(turn_of(other @ here.T))))
        if 1e-6 < float(np.linalg.norm(turn_of(found @ here.T))) < SNAP:
            self._wish(found, 9)  # so near that no voxel is resampled
        self.wished.emit(Wish(done=True))

    # exports ----------------------------------------------------------------------------------------------------
    def settle(self) -> None:
        if self.parts() and not self._panels:
            pyvista_import.wait()
            self.refresh()
        self.canvas.settle()

    def turntable(self, count: int) -> Iterator[QImage] | None:
        return self.canvas.turntable(count) if self._panels else None

    def numbers(self) -> dict[str, NDArray[Any]]:
        return {name: panel.values for name, panel in zip(self._names, self._panels, strict=True)}

    def caption(self) -> str:
        if not self._panels or self.frame is None:
            return ""
        square = self.parts()[0][0]
        return f"Surfaces at {self.words.text()}, layer {square.layer.name}: {subject(self.frame)}."

    def apply_theme(self) -> None:
        self._chrome.apply_theme()
        self.canvas.update()


VIEW = ViewSpec(
    "isosurface", "Isosurface", IsosurfaceView, "center", 1,
    "Where a volume and a layer's answer have a value, as surfaces in space.", domains=("volume",),
    prepare=pyvista_import.begin,
)  # fmt: skip
