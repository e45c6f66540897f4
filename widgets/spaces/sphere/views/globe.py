"""Globe: functions on the sphere in space, as panoramas, and their spectra by degree, on both sides of the square."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from explorer.declare.elements import transforms
from explorer.spaces.points.elements.isometry import turn_of
from explorer.spaces.sphere.drawing.values import ROWS, SpherePart
from explorer.spaces.sphere.elements.turn import about
from explorer.square.frame import Square
from explorer.state.state import State
from widgets.base.frame_view import FrameView, Pages
from widgets.base.text.words import figure, subject
from widgets.base.view import ViewSpec, Wish
from widgets.maps.linking import precise
from widgets.maps.map_grid import MapGrid
from widgets.maps.mosaic import symmetric_scale
from widgets.spaces.mesh.drawing import pyvista_import
from widgets.spaces.mesh.drawing.canvas import MeshCanvas
from widgets.spaces.mesh.drawing.look import MeshLook

GLOBES = ("x", "ρ(g)x", "ρ′(g)F(x)", "F(ρ(g)x)")
AT_REST = ("x", "F(x)")
SPECTRA = (("x", "ρ(g)x"), ("F(x)", "F(ρ(g)x)"))
OF_X = ("x", "ρ(g)x")
TURN = "turn-sphere"


@lru_cache(maxsize=2)
def ball(rows: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the vertices of an equirectangular picture on the unit sphere, and faces that join its two ends."""
    polar = np.pi * (np.arange(rows) + 0.5) / rows
    around = np.pi * (2 * np.arange(2 * rows) + 1) / (2 * rows) - np.pi
    ring, height = np.sin(polar)[:, None], np.broadcast_to(np.cos(polar)[:, None], (rows, 2 * rows))
    points = np.stack([ring * np.sin(around), height, ring * np.cos(around)], -1).reshape(-1, 3)
    row, column = np.meshgrid(np.arange(rows - 1), np.arange(2 * rows), indexing="ij")
    a, right = row * 2 * rows + column, row * 2 * rows + (column + 1) % (2 * rows)
    below, across = a + 2 * rows, right + 2 * rows
    faces = np.concatenate(
        [np.stack([a, below, across], -1).reshape(-1, 3), np.stack([a, across, right], -1).reshape(-1, 3)]
    )
    return points, faces


class GlobeView(FrameView[tuple[Square, SpherePart]]):
    """Up to four globes with one eye above; panoramas and spectra below. Alt with a drag turns the function itself."""

    MOST = 1
    NOTHING = "Choose a function on the sphere and a network for it: it is drawn here."
    NONE = "This model does not live on the sphere."

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        content = QWidget()
        self.canvas = MeshCanvas(content)
        self.panoramas = (MapGrid(content), MapGrid(content))
        self.spectra = (MapGrid(content), MapGrid(content))
        below = QHBoxLayout()
        for grid in (*self.panoramas, *self.spectra):
            grid.enlarges = False
            grid.margins = (10.0, 6.0, 8.0, 6.0)
            below.addWidget(grid, 1)
        for grid in self.panoramas:
            grid.pointed.connect(lambda at, grid=grid: self._hover(grid, at))
        for grid in self.spectra:
            grid.pointed.connect(lambda at, grid=grid: self._power(grid, at))
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.canvas, 3)
        column.addLayout(below, 2)
        self.canvas.turned.connect(self._turn)
        self.canvas.let_go.connect(lambda: self.wished.emit(Wish(done=True)))
        self.pages = Pages(self, content, self.NOTHING)
        self._models: set[str] = set()
        self.apply_theme()
        self.refresh()

    # what is shown ----------------------------------------------------------------------------------------------
    def show_catalogue(self, catalogue: Any) -> None:
        super().show_catalogue(catalogue)
        self._models = {model.name for model in catalogue.models if model.domain in VIEW.domains}

    def set_state(self, state: State) -> None:
        if state.model in self._models:
            pyvista_import.begin()  # while the network works
        super().set_state(state)

    def parts(self) -> list[tuple[Square, SpherePart]]:
        return self.with_part(SpherePart)

    def show_empty(self, sentence: str) -> None:
        self.pages.say(sentence)
        self.canvas.show_looks(())

    def draw(self, parts: list[tuple[Square, SpherePart]]) -> None:
        assert self.frame is not None
        self.pages.say("")
        _, part = parts[0]
        wanted = AT_REST if not self.frame.state.steps else GLOBES
        shown = [name for name in wanted if name in part.pictures]
        points, faces = ball(ROWS)
        self.scales = {
            name: symmetric_scale([v for k, v in part.pictures.items() if (k in OF_X) == (name in OF_X)])
            for name in part.pictures
        }
        self.canvas.show_looks(
            [
                MeshLook(points, faces, name, scalars=part.pictures[name].ravel(),
                         levels=(-self.scales[name], self.scales[name]), shading="none")
                for name in shown
            ]
        )  # fmt: skip
        pairs = (("x", "ρ(g)x") if self.frame.state.steps else ("x",), self._layers(part))
        for grid, names in zip(self.panoramas, pairs, strict=True):
            maps = [part.pictures[name] for name in names if name in part.pictures]
            scale = self.scales[names[0]] if maps else 1.0
            # one below the other: each is twice as wide as high
            grid.set_values(np.stack(maps) if maps else None, -scale, scale, "signed", 1)
            grid.set_title(" and ".join(names) if maps else "")
            grid.arrange()
        for grid, names in zip(self.spectra, SPECTRA, strict=True):
            self._spectrum(grid, part, names)

    def _layers(self, part: SpherePart) -> tuple[str, ...]:
        names = ("ρ′(g)F(x)", "F(ρ(g)x)") if self.frame is not None and self.frame.state.steps else ("F(x)",)
        return tuple(name for name in names if name in part.pictures)

    def _spectrum(self, grid: MapGrid, part: SpherePart, names: tuple[str, str]) -> None:
        """Show the power of each degree as bars, before and after beside each other: they are alike."""
        shown = [name for name in names if name in part.spectra]
        bars = np.stack([part.spectra[name] for name in shown], 1).reshape(-1, 1, 1) if shown else None
        count = len(part.spectra[shown[0]]) if shown else 0
        labels = ["g" if name != names[0] else f"l={degree}" for degree in range(count) for name in shown]
        most = max(float(bars.max()), 1e-12) if bars is not None else 1.0
        grid.set_values(bars, 0.0, most, "error", names=labels)
        grid.set_title(f"power by degree, {shown[0]}" if shown else "")
        grid.arrange()
        grid.bar.setVisible(False)  # the length of a bar says it

    def _hover(self, grid: MapGrid, at: tuple[int, int, int] | None) -> None:
        value = grid.item.value_at(at) if at is not None else None
        if at is None or value is None:
            self.hovered.emit("")
            return
        longitude, latitude = (at[2] + 0.5) / ROWS * 180 - 180, 90 - (at[1] + 0.5) / ROWS * 180
        name = grid.title.text.split(" and ")[at[0]]
        self.hovered.emit(f"{name}, longitude {longitude:.0f}°, latitude {latitude:.0f}°:  {precise(value)}")

    def _power(self, grid: MapGrid, at: tuple[int, int, int] | None) -> None:
        value = grid.item.value_at(at) if at is not None else None
        if at is None or value is None:
            self.hovered.emit("")
            return
        degree, which = divmod(at[0], 2)
        self.hovered.emit(f"{SPECTRA[self.spectra.index(grid)][which]}, degree {degree}: power {precise(value)}")

    def _turn(self, further: NDArray[Any]) -> None:
        """Turn the function by a small rotation after the one that it has been turned by."""
        step = self.state.step(TURN)
        before = about(*step.values).matrix if step is not None else np.eye(3)
        turned = turn_of(np.asarray(further) @ before)
        angle = float(np.linalg.norm(turned))
        x, y, z = turned / angle if angle else (0.0, 1.0, 0.0)
        longitude, latitude = np.degrees([np.arctan2(x, z), np.arcsin(np.clip(y, -1.0, 1.0))])
        wanted = zip(transforms()[TURN].params, (angle, float(longitude), float(latitude)), strict=True)
        self.wished.emit(Wish(step=(TURN, tuple(p.clamp(round(v, 2)) for p, v in wanted)), tag=TURN))

    # exports ----------------------------------------------------------------------------------------------------
    def settle(self) -> None:
        self.canvas.settle()

    def turntable(self, count: int) -> Iterator[QImage] | None:
        return self.canvas.turntable(count) if self.parts() else None

    def numbers(self) -> dict[str, NDArray[Any]]:
        found = self.parts()
        if not found:
            return {}
        part = found[0][1]
        return {**part.pictures, **{f"spectrum of {name}": v for name, v in part.spectra.items()}}

    def caption(self) -> str:
        found = self.parts()
        if not found or self.frame is None:
            return ""
        square, part = found[0]
        layer = f", layer {square.layer.name}, channel {part.channel}" if part.channels else ""
        averaged = ", the mean over turns about each point" if part.wide else ""
        return f"Functions on the sphere{layer}{averaged}: {subject(self.frame)}; x ±{figure(self.scales['x'])}."

    def apply_theme(self) -> None:
        for grid in (*self.panoramas, *self.spectra):
            grid.apply_theme()
        self.canvas.update()
        self.pages.apply_theme()


VIEW = ViewSpec(
    "globe", "Globe", GlobeView, "center", 0,
    "Functions on the sphere in space and as panoramas, and their spectra by degree, which stand still.",
    domains=("sphere",), prepare=pyvista_import.begin,
)  # fmt: skip
