"""Show what a vertex sees: its patch unrolled in a frame, its responses at every rotation, and the layer's kernels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from explorer.spaces.mesh.drawing.values import GeodesicPatch, MeshPart
from explorer.square.frame import Square
from widgets.base.controls.elided_combo import ElidedCombo
from widgets.base.frame_view import FrameView
from widgets.base.look import theme
from widgets.base.text.words import counterpart, figure, subject
from widgets.base.view import ViewSpec, Wish
from widgets.charts.adaptive import Adaptive
from widgets.spaces.mesh.charts.kernel_chart import KernelChart
from widgets.spaces.mesh.charts.patch_chart import PatchChart
from widgets.spaces.mesh.charts.patch_geometry import PatchLook, angle_of, around, frame_map, plane, radius_of
from widgets.spaces.mesh.charts.rose_chart import Rose, RoseChart
from widgets.spaces.mesh.looks import Choice, block_of, colours_of, looks, vertex_words

NOTHING = "Choose a mesh and a network on meshes: what a vertex sees is drawn here."
NONE = "This model does not live on a mesh."
SELECT = "Click a vertex of the surface: its surroundings are unrolled here."
WAIT = "The surroundings of vertex {} come as soon as nothing else is computed; on very large meshes they do not."
SCALARS = "This layer has scalars, which point nowhere."
ELSEWHERE = "Responses at every rotation are at"
NO_KERNELS = "No layer of this network shows weight functions on a patch."

Found = tuple[Square, MeshPart]


class PatchView(FrameView[Found]):
    """Three parts: the patch, the rose of responses, the kernels. A click on a vertex of the patch selects it."""

    POINTS_AT, FOLLOWS, NOTHING, NONE = "vertex", ("node",), NOTHING, NONE

    figure_height = 1.2  # of the width of a figure in a column: patches, rose and kernels below each other

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.choice = Choice()
        self._kept: dict[tuple[int, str], NDArray[Any]] = {}
        self._of: Any = None  # the surface, vertex and model that the zoom belongs to
        self.patch, self.rose, self.kernels = PatchChart(self), RoseChart(self), KernelChart()
        self.model, self.layer = ElidedCombo(), ElidedCombo()
        self.model.setAccessibleName("Network whose kernels are drawn")
        self.layer.setAccessibleName("Kernels of")
        self.layer.setToolTip("The layer whose kernels are drawn")
        self.words = QLabel(NO_KERNELS)
        self.words.setWordWrap(True)
        self.words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._chrome, self._label = QWidget(), QLabel("Kernels of")
        self._chrome.setProperty("chrome", True)  # left out of exported figures
        row = QHBoxLayout(self._chrome)
        row.setContentsMargins(8, 2, 8, 2)
        row.setSpacing(6)
        for box in (self.model, self.layer):
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(9)
        for part in (self._label, self.layer, self.model):
            row.addWidget(part)
        row.addStretch(1)
        self.rolled = QScrollArea(self)
        self.rolled.setWidget(self.kernels)
        self.rolled.setWidgetResizable(True)
        self.rolled.setFrameShape(QFrame.Shape.NoFrame)
        self._right = QWidget()
        column = QVBoxLayout(self._right)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._chrome)
        column.addWidget(self.rolled, 1)
        column.addWidget(self.words, 1)
        both = Adaptive(self, turned=self._share)
        both.addWidget(self.patch, 6)
        both.addWidget(self.rose, 3)
        both.addWidget(self._right, 6)
        self.patch.pointed.connect(self._pointed)
        self.patch.picked.connect(lambda v: self.wished.emit(Wish({"node": v, "other": None})))
        self.rose.hovered.connect(self.hovered)
        self.rose.picked.connect(self._pick_channel)
        self.rose.asked.connect(self._ask_layer)
        self.kernels.hovered.connect(self.hovered)
        self.model.activated.connect(lambda _: self.refresh())
        self.layer.activated.connect(lambda _: self._draw_kernels(False))
        self.pointer.moved.connect(self.patch.point_at)
        self.pointer.chosen.connect(self._choose)
        self.apply_theme()
        self.show_frame(None)

    def _share(self, flat: bool) -> None:
        """Give the rose as much as a patch where all stand below each other."""
        layout = self.layout()
        if isinstance(layout, Adaptive):
            for k, part in enumerate((6, 3, 6) if flat else (6, 5, 4)):
                layout.setStretch(k, part)

    # what comes in --------------------------------------------------------------------------------------------
    def parts(self) -> list[Found]:
        """Return the squares that live on a mesh."""
        return self.with_part(MeshPart)

    def shown(self) -> Found | None:
        """Return the square that is looked at: of two models the chosen one."""
        parts = self.parts()
        return parts[min(max(0, self.model.currentIndex()), len(parts) - 1)] if parts else None

    def patch_of(self, part: MeshPart) -> GeodesicPatch | None:
        """Return what was unrolled round the selected vertex, None while another one's is still there."""
        return part.patch if part.patch is not None and part.patch.vertex == self.state.node else None

    def _choose(self, choice: Choice) -> None:
        """Take over how the surface is coloured."""
        if choice != self.choice:
            self.choice = choice
            self._when_visible("state", self.follow)

    # what is drawn --------------------------------------------------------------------------------------------
    def show_empty(self, sentence: str) -> None:
        self._offer_models()
        self._right.hide()
        self.rose.hide()
        self.patch.show_looks((), 1.0, sentence)
        self.rose.show_rose(None)

    def draw(self, parts: list[Found]) -> None:
        self._offer_models()
        self._right.show()
        self.rose.setVisible(self.state.node is not None)
        square, part = self.shown() or parts[0]
        self._draw_patch(square, part)
        self._draw_rose(square, part)
        self._draw_kernels(True)

    def _offer_models(self) -> None:
        titles = [square.title for square, _ in self.parts()]
        with QSignalBlocker(self.model):
            if titles != [self.model.itemText(k) for k in range(self.model.count())]:
                self.model.clear()
                self.model.addItems(titles)
        self.model.setVisible(len(titles) > 1)

    def _draw_patch(self, square: Square, part: MeshPart) -> None:
        node, patch = self.state.node, self.patch_of(part)
        if patch is None or self.frame is None:
            there = node is not None and node < len(part.order)
            self.patch.show_looks((), 1.0, WAIT.format(node) if there else SELECT)
            return
        identity = not self.frame.state.steps
        sides = ("F(x)",) if identity else ("F(x)", "F(ρ(g)x)")
        plain = replace(self.choice, sides=sides, arrows=False, frames=False, block=block_of(part, self.choice))
        before, after = plane(patch.polar), frame_map(part, patch.vertex)
        rings, rays = (0, 0) if patch.points is None else patch.points.shape[:2]
        made = []
        for k, look in enumerate(looks(square, plain, identity, None, None)):
            colours = colours_of(look) if len(look.vertices) else colours_of(replace(look, vertices=before_3d(before)))
            numbers = np.arange(len(before)) if k == 0 else part.order
            faces = part.shape.faces if k == 0 or np.linalg.det(after) > 0 else part.shape.faces[:, [0, 2, 1]]
            made.append(
                PatchLook(
                    title=f"x · vertex {node}" if k == 0 else _side_words(after),
                    places=self._same(k, "places", before if k == 0 else before @ after.T),
                    faces=self._same(k, "faces", faces),
                    colours=self._same(k, "colours", colours[numbers] if len(look.vertices) else colours),
                    numbers=numbers,
                    frame=np.eye(2),
                    other=None if identity else after.T if k == 0 else after,
                    rings=rings, rays=rays, reach=patch.reach, exact=patch.injectivity,
                )
            )  # fmt: skip
        of = (part.shape.key, node, square.model)
        if of != self._of:
            self._of = of
            self.patch.set_zoom(1.0)
        self.patch.notes = _patch_words(patch, rings, rays)
        self.patch.show_looks(made, radius_of(patch.polar, patch.reach if rings else 0.0))

    def _same(self, panel: int, name: str, now: NDArray[Any]) -> NDArray[Any]:
        """Return the very array of before where its content is the same: its picture is still good."""
        before = self._kept.get((panel, name))
        same = before is not None and (before is now or np.array_equal(before, now, equal_nan=before.dtype.kind == "f"))
        self._kept[panel, name] = before if same and before is not None else now
        return self._kept[panel, name]

    def _draw_rose(self, square: Square, part: MeshPart) -> None:
        node = self.state.node
        before = around(part, part.values[node]) if node is not None and node < len(part.order) else None
        if before is None or node is None or self.frame is None:
            link = next((one.name for one in square.layers if "regular(" in one.field), "")
            self.rose.show_rose(None, SCALARS + (f" {ELSEWHERE}" if link else ""), link)
            return
        after = around(part, part.answer[part.order[node]]) if self.frame.state.steps else None
        per = len(part.orders) if part.rep == "tangent" else 1
        channel = max(0, block_of(part, self.choice)) // per
        self.rose.show_rose(Rose(before, after, min(channel, len(before.values) - 1)))

    def _draw_kernels(self, follow: bool) -> None:
        """Draw the chosen layer's kernels, or those that belong to the layer on the stage."""
        shown = self.shown()
        names = list(shown[1].kernels) if shown is not None else []
        self.layer.setVisible(bool(names))
        self._label.setVisible(bool(names))
        self.rolled.setVisible(bool(names))
        self.words.setVisible(not names)
        if shown is None or not names:
            self.kernels.show_kernels(np.zeros((0, 1, 1), np.float32), ())
            return
        square, part = shown
        listed = [self.layer.itemText(k) for k in range(self.layer.count())]
        with QSignalBlocker(self.layer):
            if listed != names:
                self.layer.clear()
                self.layer.addItems(names)
            if follow and (self._stage != square.layer.name or listed != names):
                self.layer.setCurrentIndex(names.index(kernel_layer(square, names)))
        self._stage = square.layer.name
        name = self.layer.currentText()
        self.kernels.show_kernels(part.kernels[name], part.kernel_names[name])

    _stage = ""

    # what goes out --------------------------------------------------------------------------------------------
    def _pointed(self, vertex: int | None) -> None:
        self.pointer.moved.emit(vertex)
        shown = self.shown()
        patch = None if shown is None else self.patch_of(shown[1])
        if vertex is None or shown is None or patch is None:
            self.hovered.emit("")
            return
        r, theta = patch.polar[vertex]
        where = f"r {figure(float(r))}, θ {np.degrees(theta) % 360:.0f}°"
        self.hovered.emit(f"{where} · {vertex_words(*shown, 'F(x)', vertex, self.choice)}")

    def _pick_channel(self, channel: int) -> None:
        shown = self.shown()
        if shown is None:
            return
        part = shown[1]
        per = len(part.orders) if part.rep == "tangent" else 1
        # of a tangent feature the same order of another channel
        block = channel * per + max(0, block_of(part, self.choice)) % per
        if block != self.choice.block:
            self._choose(replace(self.choice, block=block))
            self.pointer.chosen.emit(self.choice)

    def _ask_layer(self) -> None:
        if self.frame is not None and self.rose.link:
            index = max(0, self.model.currentIndex())
            self.wished.emit(Wish({"layer": counterpart(self.frame, index, self.rose.link)}))

    # what every view can do -----------------------------------------------------------------------------------
    def apply_theme(self) -> None:
        for label in (self._label, self.words):
            label.setStyleSheet(f"color: {theme.current().muted};")
        if self.parts():
            self.refresh()
        self.patch.dress()
        self.rose.dress()
        self.kernels.dress()

    def numbers(self) -> dict[str, NDArray[Any]]:
        shown = self.shown()
        if shown is None:
            return {}
        part, out = shown[1], {}
        if (patch := self.patch_of(part)) is not None:
            out["log map (r, theta)"] = np.asarray(patch.polar)
            out |= {f"places {k}": look.places for k, look in enumerate(self.patch.looks)}
            if patch.points is not None:
                out["patch points"] = np.asarray(patch.points)
        if self.rose.rose is not None:
            out["responses F(x)"] = self.rose.rose.before.values
            if self.rose.rose.after is not None:
                out["responses F(ρ(g)x)"] = self.rose.rose.after.values
        out |= {f"kernels {name}": np.asarray(values) for name, values in part.kernels.items()}
        return out

    def caption(self) -> str:
        shown = self.shown()
        if shown is None or self.frame is None:
            return ""
        words = [f"{subject(self.frame)}, patch at {shown[0].layer.name}"]
        if self.state.node is not None:
            words[0] += f", vertex {self.state.node}"
        if self.rose.rose is not None:
            before, after = self.rose.winners()
            count = self.rose.rose.before.values.shape[1]
            words.append(f"channel {self.rose.rose.channel} is strongest at {360 * before / count:.0f}°")
            if after is not None:
                words[-1] += f", after at {360 * after / count:.0f}°"
        if self.layer.count():
            words.append(f"kernels of {self.layer.currentText()}")
        return "; ".join(words)


def before_3d(places: NDArray[Any]) -> NDArray[Any]:
    """Return places (V, 2) as points of space, for a layer without values on the surface."""
    return np.pad(np.nan_to_num(places), ((0, 0), (0, 1)))


def _side_words(matrix: NDArray[Any]) -> str:
    """Return what was done to the frame, from the map between its coordinates."""
    if np.linalg.det(matrix) < 0:
        return "ρ(g)x · in a mirror"
    turn = np.degrees(angle_of(matrix)) % 360
    turn = 0.0 if min(turn, 360 - turn) < 0.05 else turn
    return f"ρ(g)x · turned {turn:.4g}°" if turn else "ρ(g)x · the same frame"


def _patch_words(patch: GeodesicPatch, rings: int, rays: int) -> tuple[str, ...]:
    words = [f"{rings} rings × {rays} rays up to {figure(patch.reach)}"] if rings else []
    if np.isfinite(patch.injectivity):
        words.append(f"log map exact up to {figure(patch.injectivity)} (dashed)")
    return tuple(words)


def kernel_layer(square: Square, names: list[str]) -> str:
    """Return the kernels that made the layer on the stage: its own, or those of the last layer before it."""
    listed = [layer.name for layer in square.layers]
    at = listed.index(square.layer.name) if square.layer.name in listed else len(listed) - 1
    for name in [square.layer.name, *reversed(listed[: at + 1])]:
        for kernel in names:
            if name == kernel or name.startswith(f"{kernel}."):
                return kernel
    return names[0]


VIEW = ViewSpec(
    "patch", "Patch", PatchView, "bottom", 1, "What a vertex sees: its geodesic patch, its responses, the kernels.",
    domains=("mesh",),
)  # fmt: skip


if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(PatchView, lambda view, samples: view.set_frame(samples.make_frame()))
