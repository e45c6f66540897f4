"""Points in space: atoms and bonds, arrows and surfaces of higher degree, on both sides of the square."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSignalBlocker
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QCheckBox, QComboBox, QWidget

from explorer.declare.elements import transforms
from explorer.spaces.points.drawing.values import PointsPart
from explorer.spaces.points.elements.isometry import rotation, turn_of
from explorer.square.frame import BACK, Square
from widgets.base.controls.row import ControlRow, compact, stacked
from widgets.base.text.words import named_in_brief, subject
from widgets.base.view import ViewSpec, Wish, numbers_of
from widgets.spaces.mesh.drawing import pyvista_import
from widgets.spaces.mesh.eye_view import EyeView
from widgets.spaces.points.canvas import PointsCanvas
from widgets.spaces.points.looks import (
    NO_ARROWS,
    Choice,
    Panel,
    chosen_arrows,
    chosen_value,
    panels,
    point_words,
    sides_of,
    value_names,
)

NARROW = 600  # pixels of width below which the choices stand without their words
SIDES = (("", "Square"), ("F(x)", "F(x)"), ("x,F(x)", "x and F(x)"), ("x,ρ(g)x", "x and ρ(g)x"),
         ("ρ′(g)F(x),F(ρ(g)x)", "Both ways"), ("x,F(x),F(ρ(g)x),difference", "All four"))  # fmt: skip
TURN, OF_DATA = "rotation", ("x", "ρ(g)x")


class PointsView(EyeView[tuple[Square, PointsPart]]):
    """Up to four panels with one eye. A click selects a point, Alt with a drag turns the points themselves."""

    POINTS_AT, FOLLOWS = "particle", ("node",)
    KEPT: ClassVar = {"show": "sides", "value": "value", "arrows": "arrows", "bonds": "bonds", "edges": "edges",
                      "names": "names", "charges": "charges", "cell": "cell"}  # fmt: skip
    NOTHING = "Choose a molecule or a cloud, and a network on points: they are drawn here."
    NONE = "This model does not live on points in space."

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.choice = Choice()
        self.canvas: PointsCanvas = PointsCanvas(self)
        self._shown: tuple[tuple[int, str], ...] = ()  # square and side of each panel
        self.sides, self.value = QComboBox(), QComboBox()
        for key, text in SIDES:
            self.sides.addItem(text, key)
        self.bonds, self.edges, self.names = QCheckBox("Bonds"), QCheckBox("Edges"), QCheckBox("Names")
        self.bonds.setChecked(True)
        self.edges.setToolTip("What the network joins; without a tick only what the selected point hears")
        self.names.setChecked(True)
        self.names.setToolTip("The name of each atom, where there are few, and of those with a formal charge")
        self.charges = QCheckBox("Charges")
        self.charges.setToolTip(
            "Colour atoms by their charges, blue where negative and orange where positive, not by their element"
        )
        self.cell = QCheckBox("Cell")
        self.cell.setChecked(True)
        self.cell.setToolTip("The cell that a crystal repeats, around x and ρ(g)x")
        self.arrows = QComboBox()
        self.arrows.setToolTip("Which vectors of the data are drawn as arrows, beside x")
        boxes = (self.sides, 8, "Which panels"), (self.value, 11, "Which value of the layer"), (self.arrows, 8, "")
        for box, letters, tip in boxes:
            compact(box, letters, tip).activated.connect(lambda _: self._chosen())
        ticks = self.bonds, self.edges, self.names, self.charges, self.cell
        for tick in ticks:
            tick.toggled.connect(lambda _: self._chosen())
        self._chrome = ControlRow("Show", self.sides, "value", self.value, "arrows", self.arrows, *ticks, narrow=NARROW)
        stacked(self, self._chrome, self.canvas, gap=2).setContentsMargins(0, 0, 0, 4)
        self.canvas.picked.connect(self._picked)
        self.canvas.asked.connect(self.ask_menu)
        self.canvas.hovered.connect(self._hover)
        self.canvas.turned.connect(self._turn)
        self.canvas.let_go.connect(lambda: self.wished.emit(Wish(done=True)))
        self.pointer.moved.connect(self._follow)
        self.apply_theme()
        self.show_frame(None)

    # what comes in ------------------------------------------------------------------------------------------------
    def parts(self) -> list[tuple[Square, PointsPart]]:
        """Return the squares that live on points."""
        return self.with_part(PointsPart)

    def show_empty(self, sentence: str) -> None:
        self._chrome.hide()
        self.canvas.message = sentence
        self._show(())

    def draw(self, parts: list[tuple[Square, PointsPart]]) -> None:
        assert self.frame is not None
        self._chrome.show()
        self.canvas.message = ""
        self._offer(parts[0][1])
        identity = not self.frame.state.steps
        choice = self.choice
        if len(parts) > 1 and not choice.sides:
            # two models side by side: each one's answer and how far it is from what the law says
            choice = replace(choice, sides=("F(x)",) if identity else ("F(ρ(g)x)", "difference"))
        made: list[Panel] = []
        shown: list[tuple[int, str]] = []
        for k, (square, part) in enumerate(parts):
            found = panels(square, choice, identity, self.state.node)
            for side, panel in zip(sides_of(choice, identity, part.back is not None), found, strict=True):
                look = panel.look
                title = look.title if len(parts) == 1 else f"{look.title} · {named_in_brief(square)}"
                made.append(replace(panel, look=replace(look, title=title)))
                shown.append((k, side))
        self._shown = tuple(shown[:4])
        self.cell.setEnabled(any(side in OF_DATA for _, side in self._shown))
        self._show(tuple(made[:4]))

    def _show(self, made: tuple[Panel, ...]) -> None:
        self.canvas.pictures.owners = tuple(panel.owner for panel in made)
        self.canvas.show_looks(tuple(panel.look for panel in made))

    def _offer(self, part: PointsPart) -> None:
        items = [(-1, "strongest"), *enumerate(value_names(part))]
        with QSignalBlocker(self.value):
            if [(self.value.itemData(k), self.value.itemText(k)) for k in range(self.value.count())] != items:
                if self.choice.block >= 0 and (self.choice.block, self.value.currentText()) not in items:
                    self.choice = replace(self.choice, block=-1)  # that number is another kind of value here
                self.value.clear()
                for number, text in items:
                    self.value.addItem(text, number)
            self.value.setCurrentIndex(max(0, self.value.findData(self.choice.block)))
        self.value.setEnabled(len(items) > 1)
        self.bonds.setEnabled(part.bonds.shape[1] > 0)
        self.edges.setEnabled(part.edges.shape[1] > 0)
        self.names.setEnabled(bool(part.names))
        self.cell.setVisible(part.corners is not None)
        named = [(NO_ARROWS, "none"), *((name, name) for name in part.vectors)]
        with QSignalBlocker(self.arrows):
            if [(self.arrows.itemData(k), self.arrows.itemText(k)) for k in range(self.arrows.count())] != named:
                self.arrows.clear()
                for key, text in named:
                    self.arrows.addItem(text, key)
            self.arrows.setCurrentIndex(max(0, self.arrows.findData(chosen_arrows(part, self.choice))))
        self.arrows.setVisible(bool(part.vectors))
        self._chrome.place_words()
        self.charges.setVisible(part.charge is not None and bool(part.numbers.any()))  # bodies show theirs always

    # what the person chooses ----------------------------------------------------------------------------------------
    def _chosen(self) -> None:
        block = self.value.currentData()
        self.choice = Choice(
            tuple(filter(None, str(self.sides.currentData()).split(","))), -1 if block is None else int(block),
            self.bonds.isChecked(), self.edges.isChecked(), self.names.isChecked(), self.charges.isChecked(),
            str(self.arrows.currentData() or "") if self.arrows.isVisibleTo(self) else self.choice.arrows,
            self.cell.isChecked(),
        )  # fmt: skip
        self.refresh()

    def square_in(self, panel: int) -> Square | None:
        return self.parts()[self._shown[panel][0]][0] if self.parts() and panel < len(self._shown) else None

    def drawn_part(self) -> tuple[str, int]:
        return ("value", self.choice.block) if self.choice.block >= 0 else ("", -1)

    def _follow(self, point: int | None) -> None:
        """Outline the point of x that the mouse is at in another view."""
        if not self.canvas.underMouse() and self._shown:
            self.canvas.point_at(point)

    def _picked(self, panel: int, kind: str, index: int) -> None:
        if not self.parts() or panel >= len(self._shown):
            return
        if kind == "" and self.state.node is not None:
            self.wished.emit(Wish({"node": None}))
        elif kind == "vertex":
            self.wished.emit(Wish({"node": index}))

    def _hover(self, panel: int, point: int) -> None:
        if panel < 0 or point < 0 or panel >= len(self._shown):
            self.hovered.emit("")
            self.pointer.moved.emit(None)
            return
        self.pointer.moved.emit(point)
        square, part = self.parts()[self._shown[panel][0]]
        self.hovered.emit(point_words(square, part, self._shown[panel][1], point))

    def _turn(self, further: NDArray[Any]) -> None:
        """Turn the points by a small rotation after those that they have been turned by."""
        step = self.state.step(TURN)
        before = rotation(np.asarray(step.values if step is not None else np.zeros(3), float))
        turned = turn_of(np.asarray(further) @ before)
        params = transforms()[TURN].params
        values = tuple(p.clamp(round(float(v), 2)) for p, v in zip(params, turned, strict=True))
        self.wished.emit(Wish(step=(TURN, values), tag=TURN))

    # what every view can do -----------------------------------------------------------------------------------------
    def apply_theme(self) -> None:
        self._chrome.apply_theme()
        if self.parts():
            self.refresh()
        self.canvas.update()

    def settle(self) -> None:
        self.canvas.settle()

    def numbers(self) -> dict[str, NDArray[Any]]:
        sides = []
        for square, part in self.parts():
            known = {"places": part.position, "moved places": part.moved, "order": part.order, "bonds": part.bonds,
                     "edges": part.edges, "numbers": part.numbers, "x": part.x, "F(x)": part.values,
                     "F(ρ(g)x)": part.answer, "ρ′(g)F(x)": part.expected, "difference": part.difference,
                     BACK: part.back}  # fmt: skip
            known |= {f"{name} at x": v for name, v in part.vectors.items()} | {"cell": part.corners}
            sides.append((square, known))
        return numbers_of(sides)

    def turntable(self, count: int) -> Iterator[QImage] | None:
        return self.canvas.turntable(count) if self.parts() else None

    def caption(self) -> str:
        parts = self.parts()
        if not parts or self.frame is None:
            return ""
        square, part = parts[0]
        names = value_names(part)
        drawn = f", value {names[chosen_value(part, self.choice.block)]}" if names else ""
        means = ", of edges the mean at each point that they lead to" if names and part.kind == "edge" else ""
        return f"{subject(self.frame)}, points at {square.layer.name}{drawn}{means}"


VIEW = ViewSpec(
    "points",
    "Points",
    PointsView,
    "center",
    0,
    "Atoms, arrows and surfaces of a layer's values.",
    domains=("points",),
    prepare=pyvista_import.begin,
)


if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(PointsView, lambda view, samples: view.set_frame(samples.make_frame()))
