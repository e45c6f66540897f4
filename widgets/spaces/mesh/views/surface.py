"""The surface: a mesh, what a layer says at its vertices, frames and arrows, on both sides of the square."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from explorer.declare.elements import transforms
from explorer.spaces.mesh.drawing.values import MeshPart
from explorer.spaces.mesh.elements.word import rotation_by
from explorer.square.frame import Square
from widgets.base.controls.row import ControlRow, compact
from widgets.base.look import theme
from widgets.base.text.words import named_in_brief, subject
from widgets.base.view import ViewSpec, Wish, numbers_of
from widgets.spaces.mesh.drawing import pyvista_import
from widgets.spaces.mesh.drawing.canvas import MeshCanvas
from widgets.spaces.mesh.drawing.look import MeshLook, Slice
from widgets.spaces.mesh.eye_view import EyeView
from widgets.spaces.mesh.looks import (
    Choice,
    answers,
    features,
    legend,
    looks,
    sides_of,
    singular_words,
    transport_words,
    vertex_words,
)
from widgets.spaces.mesh.slice_control import SliceControl

OWN = ("x", "F(x)")  # panels with the numbers of x; those of rho(g) x may have others
NOTCH = 15.0  # degrees of a frame to a notch of the wheel
NARROW = 640  # pixels of width below which the choices stand without their words
SIDES = (("", "Square"), ("F(x)", "F(x)"), ("x,F(x)", "x and F(x)"), ("ρ′(g)F(x),F(ρ(g)x)", "Both ways"))
COLOURS = (("layer", "Feature"), ("answer", "Answer"), ("parts", "Known parts"), ("gauge", "Ambiguity"))
AMOUNTS = ((150, "few vertices"), (500, "some vertices"), (1500, "many vertices"), (10**9, "all vertices"))


class SurfaceView(EyeView[tuple[Square, MeshPart]]):
    """Up to four panels with one eye. A click selects a vertex, Shift+click another one to carry a vector to."""

    POINTS_AT, FOLLOWS = "vertex", ("node", "other")
    KEPT: ClassVar = {"show": "sides", "colours": "colour", "feature": "feature", "amount": "amount",
                      "frames": "frames", "arrows": "arrows", "wires": "wires"}  # fmt: skip
    NOTHING = "Choose a mesh and a network on meshes: the surface is drawn here."
    NONE = "This model does not live on a mesh."

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.choice = Choice()
        self.canvas = MeshCanvas(self)
        self._kept: dict[tuple[str, int], Any] = {}
        self._faced: tuple[str, int | None] = ("", None)  # the sample and the vertex that the eye was brought to
        self._shown: tuple[tuple[int, str], ...] = ()  # square and side of each panel
        self.sides, self.colour, self.feature = QComboBox(), QComboBox(), QComboBox()
        self.amount = QComboBox()
        for value, text in SIDES:
            self.sides.addItem(text, value)
        for value, text in COLOURS:
            self.colour.addItem(text, value)
        for number, text in AMOUNTS:
            self.amount.addItem(text, number)
        self.amount.setCurrentIndex(self.amount.findData(self.choice.glyphs))
        self.amount.setAccessibleName("How many arrows and frames")
        self.amount.setToolTip("At how many vertices arrows and frames are drawn")
        self.amount.activated.connect(lambda _: self._chosen())
        self.frames, self.arrows, self.wires = QCheckBox("Frames"), QCheckBox("Arrows"), QCheckBox("Wires")
        self.arrows.setChecked(True)
        self.frames.setToolTip("The two axes of the gauge at each vertex")
        self.arrows.setToolTip("Directions of tangent and of regular features")
        self.words = QLabel()
        self.words.setWordWrap(True)  # a long line does not widen the window
        self.cut = SliceControl()
        self.cut.changed.connect(self._cut)
        tips = "Which panels", "What colours mean", "Which channel or order of the feature"
        for box, tip in zip((self.sides, self.colour, self.feature), tips, strict=True):
            compact(box, 6, tip).activated.connect(lambda _: self._chosen())
        for tick in (self.frames, self.arrows, self.wires):
            tick.toggled.connect(lambda _: self._chosen())
        self._chrome = ControlRow(
            "Show", self.sides, "colours", self.colour, "feature", self.feature, self.frames, self.arrows, self.wires,
            narrow=NARROW,
        )  # fmt: skip
        below = QHBoxLayout()
        below.setContentsMargins(10, 0, 10, 4)
        below.addWidget(self.words, 1)
        # beside the cut, for the upper row is as wide as a small window leaves it
        self.arrows_at = QLabel("Arrows at")
        for part in (self.arrows_at, self.amount):
            part.setProperty("chrome", True)
        beside = QHBoxLayout()  # in one line, above however many lines of words
        below.addSpacing(12)  # else the words would read on into the name of the box
        for shown in (self.arrows_at, self.amount, self.cut):
            beside.addWidget(shown)
        below.addLayout(beside)
        below.setAlignment(beside, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self._chrome)
        column.addWidget(self.canvas, 1)
        column.addLayout(below)
        self.canvas.picked.connect(self._picked)
        self.canvas.hovered.connect(self._hover)
        self.canvas.wheel_on_vertex.connect(self._turn_gauge)
        self.canvas.asked.connect(self.ask_menu)
        self.canvas.turned.connect(self._turn_mesh)
        self.canvas.let_go.connect(lambda: self.wished.emit(Wish(done=True)))
        self.pointer.moved.connect(self._follow)
        self.pointer.chosen.connect(self._choose)
        self.apply_theme()
        self.show_frame(None)

    # what comes in ------------------------------------------------------------------------------------------------
    def parts(self) -> list[tuple[Square, MeshPart]]:
        """Return the squares that live on a mesh."""
        return self.with_part(MeshPart)

    def show_empty(self, sentence: str) -> None:
        self._chrome.hide()
        self.cut.hide()
        self.canvas.message = sentence
        self.canvas.show_looks(())
        self.words.setText("")

    def draw(self, parts: list[tuple[Square, MeshPart]]) -> None:
        assert self.frame is not None
        self._chrome.show()
        self.cut.show()
        self.canvas.message = ""
        self._offer(*parts[0])
        identity = not self.frame.state.steps
        choice = self.choice
        if len(parts) > 1 and not choice.sides:
            # two models side by side: each one's answer and how far it is from what the law says
            choice = replace(choice, sides=("F(x)",) if identity else ("F(ρ(g)x)", "difference"))
        made: list[MeshLook] = []
        shown: list[tuple[int, str]] = []
        for k, (square, part) in enumerate(parts):
            if not self._answered():
                part = replace(part, patch=None, path=None, loop=None)
                square = replace(square, part=part)
            for side, look in zip(
                sides_of(part, choice, identity),
                looks(square, choice, identity, self.state.node, self.state.other),
                strict=True,
            ):
                made.append(
                    look if len(parts) == 1 else replace(look, title=f"{look.title} · {named_in_brief(square)}")
                )
                shown.append((k, side))
        self._shown = tuple(shown[:4])
        self.canvas.orders = tuple(None if side in OWN else parts[k][1].order for k, side in self._shown)
        self.canvas.show_looks(self._same(made[:4]))
        self._cut()
        selected = self.state.node
        self.canvas.selected = None if selected is None or selected >= len(parts[0][1].order) else selected
        if self._answered() and (chosen := (self.state.sample, selected)) != self._faced:
            self._faced = chosen
            if selected is not None:
                self.canvas.bring_round(selected)  # what a lesson or another view has selected is to be seen
        drawn = self._answered() and any(side in OWN for _, side in self._shown)
        told = transport_words(parts[0][1]) if selected is not None and drawn else ""
        classes = legend(parts[0][0], self.choice)
        if classes:
            # a square stays beside its name, and a name in one line
            names = [(html.escape(name).replace(" ", "&nbsp;"), rgb) for name, rgb in classes]
            keys = [f'<span style="color: rgb{rgb}">■</span>&nbsp;{name}' for name, rgb in names]
            told = "<br>".join(filter(None, [" &nbsp; ".join(keys), told]))
        if self.choice.colour == "gauge" and parts[0][1].ambiguity is not None:
            told = "<br>".join(filter(None, [singular_words(parts[0][1]), told]))
        self.words.setText(told)

    def _answered(self) -> bool:
        """Say whether the frame is about the selected vertices; while others were only just chosen it is not."""
        asked = self.frame.state if self.frame is not None else None
        return asked is not None and (asked.node, asked.other) == (self.state.node, self.state.other)

    def _same(self, made: list[MeshLook]) -> tuple[MeshLook, ...]:
        """Return the looks with the very arrays of before where their content is the same: these stay on the device."""
        kept: dict[tuple[str, int], Any] = {}
        found = []
        for panel, look in enumerate(made):
            changes: dict[str, Any] = {}
            for name in ("vertices", "faces"):
                now, before = getattr(look, name), self._kept.get((name, panel))
                same = before is not None and (before is now or np.array_equal(before, now))
                kept[name, panel] = changes[name] = before if same else now
            found.append(replace(look, **changes))
        self._kept = kept
        return tuple(found)

    def _offer(self, square: Square, part: MeshPart) -> None:
        names = features(part, part.rep, part.values.shape[1]) if part.kind != "invariant" else []
        items = [(-1, "largest"), *enumerate(names)]
        with QSignalBlocker(self.feature):
            if [(self.feature.itemData(k), self.feature.itemText(k)) for k in range(self.feature.count())] != items:
                self.feature.clear()
                for value, text in items:
                    self.feature.addItem(text, value)
            at = self.feature.findData(self.choice.block)
            self.feature.setCurrentIndex(max(0, at))
        here = {"parts": part.shape.labels is not None, "gauge": part.ambiguity is not None,
                "answer": answers(square)}  # fmt: skip
        model: Any = self.colour.model()
        for k in range(self.colour.count()):
            model.item(k).setEnabled(here.get(self.colour.itemData(k), True))
        if here["answer"] and self.choice.colour == "layer" and self._answers_at != square.layer.name:
            # of the network's own answer the class is what one wants to see first
            self.choice = replace(self.choice, colour="answer")
        elif not here.get(self.choice.colour, True):  # the box would name what is not drawn
            self.choice = replace(self.choice, colour="layer")
        if self._answers_at != square.layer.name:
            self._answers_at = square.layer.name
            self.pointer.chosen.emit(self.choice)
        with QSignalBlocker(self.colour):
            self.colour.setCurrentIndex(max(0, self.colour.findData(self.choice.colour)))

    _answers_at = ""

    # what the person chooses ----------------------------------------------------------------------------------------
    def _chosen(self) -> None:
        sides = str(self.sides.currentData())
        self.choice = replace(
            self.choice,
            sides=tuple(filter(None, sides.split(","))),
            colour=str(self.colour.currentData()),
            block=int(self.feature.currentData() if self.feature.currentData() is not None else -1),
            frames=self.frames.isChecked(), arrows=self.arrows.isChecked(), wireframe=self.wires.isChecked(),
            glyphs=int(self.amount.currentData()),
        )  # fmt: skip
        self.pointer.chosen.emit(self.choice)
        self.refresh()

    def forget_choices(self) -> None:
        self.choice = replace(self.choice, colour=Choice().colour, block=Choice().block)
        self._answers_at = ""
        self._when_visible("state", self.refresh)

    def _cut(self) -> None:
        """Take away what lies beyond the chosen plane; as far along a new surface as along the one before."""
        if (normal := self.cut.normal) is None:
            self.canvas.set_slice(None)
            return
        low, high = self.canvas.slice_span(normal)
        self.canvas.set_slice(Slice(normal, low + self.cut.share * (high - low)))

    def _choose(self, choice: Choice) -> None:
        """Take over a feature that was chosen elsewhere."""
        if choice.block != self.choice.block:
            self.choice = replace(self.choice, block=choice.block)
            self._when_visible("state", self.refresh)

    def _follow(self, vertex: int | None) -> None:
        """Outline the vertex of x that the mouse is at in another view."""
        if self.canvas.underMouse() or not self._shown:
            return
        panel = next((k for k, (_, side) in enumerate(self._shown) if side in OWN), 0)
        self.canvas.point_at(None if vertex is None else self.canvas.number_in(panel, vertex), panel)

    def _own(self, panel: int, vertex: int) -> int:
        """Return the number that a vertex of a panel has on x; those of rho(g) x may be numbered otherwise."""
        square, side = self._shown[panel]
        if side in OWN:
            return vertex
        found = np.flatnonzero(self.parts()[square][1].order == vertex)
        return int(found[0]) if len(found) else -1

    def _picked(self, panel: int, kind: str, index: int) -> None:
        if not self.parts() or panel >= len(self._shown):
            return
        if kind == "":
            if self.state.node is not None:
                self.wished.emit(Wish({"node": None, "other": None}))
        elif kind == "vertex" and (own := self._own(panel, index)) >= 0:
            self._faced = self.state.sample, own  # it is seen: the eye stays
            self.wished.emit(Wish({"node": own, "other": None}))
        elif kind == "edge" and self.state.node is not None:
            # a vector is carried to the end of the edge that is nearer to the hand
            face = self.canvas.looks[panel].faces[index // 3]
            ends = [int(face[index % 3]), int(face[(index + 1) % 3])]
            hot = self.canvas.hot
            own = self._own(panel, hot[1] if hot is not None and hot[0] == panel and hot[1] in ends else ends[0])
            if own >= 0 and own != self.state.node:
                self.wished.emit(Wish({"other": own}))
        elif kind == "face":
            corners = ", ".join(map(str, self.canvas.looks[panel].faces[index]))
            self.hovered.emit(f"face {index}: vertices {corners}")

    def _hover(self, panel: int, vertex: int) -> None:
        if panel < 0 or vertex < 0 or panel >= len(self._shown):
            self.hovered.emit("")
            self.pointer.moved.emit(None)
            return
        self.pointer.moved.emit(self._own(panel, vertex))
        square, part = self.parts()[self._shown[panel][0]]
        self.hovered.emit(vertex_words(square, part, self._shown[panel][1], vertex, self.choice))

    def _turn_gauge(self, vertex: int, notches: float) -> None:
        """Turn the frame of the selected vertex by the wheel; other steps of the chain stay."""
        parts = self.parts()
        if self.state.node is None or not parts:
            return
        step = self.state.step("gauge")
        # the step names a vertex by the number that it has after those before it
        steps = self.state.steps if step is None else self.state.steps[: self.state.steps.index(step)]
        renumbered = any("graph" in transforms()[s.name].domains for s in steps)
        number = int(parts[0][1].order[self.state.node]) if renumbered else self.state.node
        before = step.values[0] if step is not None and int(step.values[1]) == number else 0.0
        angle = (before + NOTCH * notches) % 360.0
        self.wished.emit(Wish(step=("gauge", (angle, float(number))), tag=f"gauge {number}"))

    def _turn_mesh(self, further: NDArray[Any]) -> None:
        """Turn the mesh by a small rotation after those that it has been turned by."""
        step = self.state.step("rotate3d")
        before = rotation_by(np.asarray(step.values if step is not None else np.zeros(3)))
        turned = np.degrees(_vector(np.asarray(further) @ before))
        params = transforms()["rotate3d"].params
        values = tuple(p.clamp(round(float(v), 2)) for p, v in zip(params, turned, strict=True))
        self.wished.emit(Wish(step=("rotate3d", values), tag="rotate3d"))

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self.arrows_at.setVisible(event.size().width() >= NARROW)  # in a narrow window the tip says the same

    # what every view can do -----------------------------------------------------------------------------------------
    def apply_theme(self) -> None:
        self._chrome.apply_theme()
        for label in (self.arrows_at, self.words):
            label.setStyleSheet(f"color: {theme.current().muted};")
        if self.parts():
            self.refresh()
        self.canvas.update()

    def settle(self) -> None:
        self.canvas.settle()

    def numbers(self) -> dict[str, NDArray[Any]]:
        sides = []
        for square, part in self.parts():
            known = {"vertices": part.shape.vertices, "faces": part.shape.faces, "frames": part.shape.axes,
                     "moved vertices": part.moved.vertices, "order": part.order, "turn": part.turn, "x": part.x,
                     "F(x)": part.values, "F(ρ(g)x)": part.answer, "ρ′(g)F(x)": part.expected,
                     "difference": part.difference, "ambiguity": part.ambiguity,
                     "log map": None if part.patch is None else part.patch.polar}  # fmt: skip
            sides.append((square, known))
        return numbers_of(sides)

    def turntable(self, count: int) -> Iterator[QImage] | None:
        return self.canvas.turntable(count) if self.parts() else None

    def caption(self) -> str:
        parts = self.parts()
        if not parts or self.frame is None:
            return ""
        words = [f"{subject(self.frame)}, surface at {parts[0][0].layer.name}"]
        words += [w for w in (transport_words(parts[0][1]),) if w and self.state.node is not None]
        return "; ".join(words)


def _vector(matrix: NDArray[Any]) -> NDArray[Any]:
    """Return the axis times the angle, in radians, of a rotation."""
    angle = float(np.arccos(np.clip((np.trace(matrix) - 1) / 2, -1, 1)))
    twist = np.array([matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]])
    size = float(np.linalg.norm(twist))
    if size < 1e-9:  # none, or half a turn
        axis = np.sqrt(np.maximum(np.diag(matrix) + 1, 0) / 2)
        return np.asarray(angle * axis)
    return np.asarray(angle * twist / size)


VIEW = ViewSpec(
    "surface",
    "Surface",
    SurfaceView,
    "center",
    0,
    "A mesh, its frames and a layer's features.",
    domains=("mesh",),
    prepare=pyvista_import.begin,
)


if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(SurfaceView, lambda view, samples: view.set_frame(samples.make_frame()))
