"""Globe: functions on the sphere in space, as panoramas, and their spectra by degree, on both sides of the square."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QImage, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from explorer.declare.elements import transforms
from explorer.spaces.points.elements.isometry import turn_of
from explorer.spaces.sphere.drawing.values import ROWS, SpherePart
from explorer.spaces.sphere.elements.turn import about
from explorer.square.frame import BACK, Square
from widgets.base.frame_view import Pages
from widgets.base.text.words import figure, subject
from widgets.base.view import ViewSpec, Wish, numbers_of
from widgets.maps.linking import precise
from widgets.maps.map_grid import MapGrid
from widgets.maps.mosaic import symmetric_scale
from widgets.spaces.mesh.drawing import pyvista_import
from widgets.spaces.mesh.drawing.canvas import MeshCanvas
from widgets.spaces.mesh.drawing.look import MeshLook
from widgets.spaces.mesh.eye_view import EyeView
from widgets.spaces.points.charts.degree_chart import DegreeChart

GLOBES = ("x", "ρ(g)x", "ρ′(g)F(x)", "F(ρ(g)x)")
AT_REST = ("x", "F(x)")
PULLED_BACK = ("x", "ρ(g)x", "F(x)", BACK)
SPECTRA = (("x", "ρ(g)x"), ("F(x)", "F(ρ(g)x)"))
OF_X = ("x", "ρ(g)x")
NO_DEGREES = "This layer has no coefficients: its answer stands still."
TURN = "turn-sphere"
NARROW = 520  # pixels of width up to which four charts in a row have no room for their axes


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


class GlobeView(EyeView[tuple[Square, SpherePart]]):
    """Up to four globes with one eye above; panoramas and spectra below. Alt with a drag turns the function itself."""

    NOTHING = "Choose a function on the sphere and a network for it: it is drawn here."
    NONE = "This model does not live on the sphere."
    figure_height = 1.5  # of the width of a figure in a column: globes, panoramas and spectra two in a row

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        content = QWidget()
        self.canvas = MeshCanvas(content)
        self.panoramas = (MapGrid(content), MapGrid(content))
        self._named: dict[MapGrid, list[str]] = {}  # what the maps of each are of, from above
        self.spectra = tuple(DegreeChart(content, "power", names) for names in SPECTRA)
        self._below = QGridLayout()
        self._across = 0  # panoramas and spectra in a row
        for grid in self.panoramas:
            grid.enlarges = False
            grid.levels_elsewhere = True  # below the globes
            grid.margins = (10.0, 6.0, 8.0, 6.0)
            grid.pointed.connect(lambda at, grid=grid: self._hover(grid, at))
        for chart in self.spectra:
            chart.hovered.connect(self.hovered)
        self.spectra[1].asked.connect(lambda degree, at: self.ask_menu_of(self.parts()[0][0], at, "degree", degree))
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.canvas, 3)
        column.addLayout(self._below, 2)
        self._column = column
        self.canvas.asked.connect(self.ask_menu)
        self.canvas.turned.connect(self._turn)
        self.canvas.let_go.connect(lambda: self.wished.emit(Wish(done=True)))
        self._arrange()
        self.pages = Pages(self, content, self.NOTHING)
        self.apply_theme()
        self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Place panoramas and spectra in a row, two below the other two where that is narrow."""
        across = 4 if self.width() >= NARROW else 2
        if across == self._across:
            return
        self._across = across
        for k, (widget, share) in enumerate(zip((*self.panoramas, *self.spectra), (4, 4, 5, 5), strict=True)):
            self._below.removeWidget(widget)
            self._below.addWidget(widget, *divmod(k, across))
            self._below.setColumnStretch(k, (share if across == 4 else 1) if k < across else 0)
            self._below.setRowStretch(k, int(k < 4 // across))
        self._column.setStretch(1, 2 if across == 4 else 3)

    # what is shown ----------------------------------------------------------------------------------------------
    def parts(self) -> list[tuple[Square, SpherePart]]:
        return self.with_part(SpherePart)

    def show_empty(self, sentence: str) -> None:
        self.pages.say(sentence)
        self.canvas.show_looks(())

    def draw(self, parts: list[tuple[Square, SpherePart]]) -> None:
        assert self.frame is not None
        self.pages.say("")
        part = parts[0][1]
        several, rest = len(parts) > 1, not self.frame.state.steps
        wanted: tuple[str, ...] = AT_REST if rest else GLOBES
        if not rest and any(BACK in p.pictures for _, p in parts):
            wanted = PULLED_BACK
        if several and any("F(x)" in p.pictures for _, p in parts):  # both ways round the square of each
            wanted = tuple(name for name in wanted if name not in OF_X)
        shown = [
            (p.pictures[name], name, name if not several or name in OF_X else f"{name} · {square.title}")
            for square, p in (parts if wanted[0] not in OF_X else parts[:1]) for name in wanted if name in p.pictures
        ]  # fmt: skip
        points, faces = ball(ROWS)
        self.scales = {
            name: symmetric_scale([v for _, p in parts for k, v in p.pictures.items() if (k in OF_X) == (name in OF_X)])
            for _, p in parts for name in p.pictures
        }  # fmt: skip
        self.canvas.show_looks(
            [
                MeshLook(points, faces, title, scalars=picture.ravel(),
                         levels=(-self.scales[name], self.scales[name]), shading="none")
                for picture, name, title in shown
            ]
        )  # fmt: skip
        of_x = [("x", "x", part)] if rest else [("x", "x", part), ("ρ(g)x", "ρ(g)x", part)]
        answers = [(name, name, part) for name in (("F(x)",) if rest else wanted[-2:])]
        if several:
            answers = [(f"{answers[-1][0]} · {square.title}", answers[-1][1], p) for square, p in parts]
        for grid, told in zip(self.panoramas, (of_x, answers), strict=True):
            told = [(title, name, p) for title, name, p in told if name in p.pictures]
            maps = [p.pictures[name] for _, name, p in told]
            scale = self.scales[told[0][1]] if maps else 1.0
            self._named[grid] = [title for title, _, _ in told]
            # one below the other: each is twice as wide as high
            grid.set_values(np.stack(maps) if maps else None, -scale, scale, "signed", 1)
            grid.set_title(" and ".join(self._named[grid]), brief=(", ".join(self._named[grid]), "answers"))
            grid.arrange()
        spectra = [(part, names, "power by degree") for names in SPECTRA]
        if several:
            # by their names: titles that begin alike would be cut to the same words
            spectra = [(p, SPECTRA[1], f"{square.model} · power") for square, p in parts]
        for chart, (p, names, title) in zip(self.spectra, spectra, strict=True):
            chart.show_spectrum(p.spectrum_of(*names), title, NO_DEGREES, "" if several else "power")

    def _hover(self, grid: MapGrid, at: tuple[int, int, int] | None) -> None:
        value = grid.item.value_at(at) if at is not None else None
        if at is None or value is None:
            self.hovered.emit("")
            return
        longitude, latitude = (at[2] + 0.5) / ROWS * 180 - 180, 90 - (at[1] + 0.5) / ROWS * 180
        name = self._named[grid][at[0]]
        self.hovered.emit(f"{name}, longitude {longitude:.0f}°, latitude {latitude:.0f}°:  {precise(value)}")

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
        return numbers_of(
            (square, {**part.pictures, **{f"spectrum of {name}": v for name, v in part.spectra.items()}})
            for square, part in found
        )

    def caption(self) -> str:
        found = self.parts()
        if not found or self.frame is None:
            return ""
        square, part = found[0]
        layer = f", layer {square.layer.name}, channel {part.channel}" if part.channels else ""
        averaged = ", the mean over turns about each point" if part.wide else ""
        return f"Functions on the sphere{layer}{averaged}: {subject(self.frame)}; x ±{figure(self.scales['x'])}."

    def apply_theme(self) -> None:
        for grid in self.panoramas:
            grid.apply_theme()
        for chart in self.spectra:
            chart.dress()
        self.canvas.update()
        self.pages.apply_theme()


VIEW = ViewSpec(
    "globe", "Globe", GlobeView, "center", 0,
    "Functions on the sphere in space and as panoramas, and their spectra by degree, which stand still.",
    domains=("sphere",), prepare=pyvista_import.begin,
)  # fmt: skip
