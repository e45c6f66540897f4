"""Maps of which pixels an entry of the answer depends on: gradients and occlusion, on both sides of the square."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QComboBox, QLabel, QWidget

from explorer.declare.states.saliency import METHODS, parse_saliency, saliency_text
from explorer.square.frame import Saliency
from explorer.state.state import State
from widgets.base.controls.row import ControlRow, stacked
from widgets.base.frame_view import FrameView, Pages
from widgets.base.look import theme
from widgets.base.text.words import figure, subject
from widgets.base.view import ViewSpec, Wish
from widgets.maps.linking import Place, precise
from widgets.maps.map_grid import MapGrid
from widgets.maps.mosaic import symmetric_scale

NAMES = ("S(x)", "ρ(g)S(x)", "S(ρ(g)x)", "difference")
KEYS = ("on_x", "expected", "on_gx", "difference")
NOTHING = "Choose above how it is asked which pixels the answer depends on."
NO_FRAME = "Drop an image or pick a digit, then ask which pixels the answer depends on."
SOON = "Looking at the pixels…"
HOLDS = 1e-4  # relative error of a map up to which rounding may be the cause; the errors of layers are judged, not this


class SaliencyView(FrameView[Saliency]):
    """Four maps on one signed scale: of x, moved along, of the moved image, and how far they are apart."""

    MOST = 1
    FOLLOWS = ("saliency",)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.method, self.entry = QComboBox(), QComboBox()
        self.method.setAccessibleName("How")
        self.entry.setAccessibleName("Entry of the answer")
        self.method.addItem("Nothing", "")
        for name, title in METHODS.items():
            self.method.addItem(title, name)
        self.method.activated.connect(self._ask)
        self.entry.activated.connect(self._ask)
        self.said = QLabel()
        self.bar = ControlRow("Show", self.method, "of", self.entry, self.said, margins=(8, 4, 8, 4))
        self.grid = MapGrid()
        self.grid.pointed.connect(self._point)
        content = QWidget()
        self.pages = Pages(content, self.grid, NO_FRAME)
        stacked(self, self.bar, content)
        self.scale = 1.0
        self._names: tuple[str, ...] = ()
        self.apply_theme()
        self.refresh()

    # what is asked ----------------------------------------------------------------------------------------
    def follow(self) -> None:
        self._follow_state(self.state)
        super().follow()

    def _follow_state(self, state: State) -> None:
        method, entry = parse_saliency(state.saliency) if state.saliency else ("", None)
        self._list_entries()
        for box, value in ((self.method, method), (self.entry, entry)):
            with QSignalBlocker(box):
                box.setCurrentIndex(max(0, box.findData(value)))
        self.entry.setEnabled(bool(method))

    def _list_entries(self) -> None:
        square = self.squares[0] if self.squares else None
        found = square.saliency if square is not None else None
        count = found.entries if found is not None else len(square.output) if square is not None else 0
        names = (
            square.labels
            if square is not None and len(square.labels) == count
            else [f"entry {k}" for k in range(count)]
        )
        items = ["the largest entry", *names]
        if [self.entry.itemText(k) for k in range(self.entry.count())] != items:
            with QSignalBlocker(self.entry):
                self.entry.clear()
                for k, text in enumerate(items):
                    self.entry.addItem(text, None if k == 0 else k - 1)

    def _ask(self) -> None:
        text = saliency_text(self.method.currentData(), self.entry.currentData())
        self.wished.emit(Wish(changes={"saliency": text}))

    # what is shown ----------------------------------------------------------------------------------------
    def refresh(self) -> None:
        self._follow_state(self.state)
        super().refresh()

    def parts(self) -> list[Saliency]:
        return [s.saliency for s in self.squares if s.saliency is not None and s.saliency.on_x is not None]

    def reason(self, parts: list[Saliency]) -> str:
        if not self.squares:
            return NO_FRAME
        if parts or not self.state.saliency:
            return "" if parts else NOTHING
        return next((s.saliency.problem for s in self.squares if s.saliency is not None and s.saliency.problem), SOON)

    def show_empty(self, sentence: str) -> None:
        self.pages.say(sentence)
        self.said.clear()

    def draw(self, parts: list[Saliency]) -> None:
        self.pages.say("")
        one = parts[0]
        there = [(n, values) for n, key in zip(NAMES, KEYS) if (values := getattr(one, key)) is not None]
        there = [(n, values) for n, values in there if values.shape == there[0][1].shape]
        self._names = tuple(n for n, _ in there)
        self.scale = symmetric_scale([values for _, values in there])
        stacked = np.concatenate([values for _, values in there])
        self.grid.set_values(stacked, -self.scale, self.scale, "signed", len(stacked), self._names)
        self.grid.arrange()
        self._say(one)

    def _say(self, one: Saliency) -> None:
        t, role = theme.current(), "muted"
        if one.done < 1:
            text = f"{one.done:.0%} done"
        elif one.error is None:
            text = f"{one.label}: no law, the entry itself moves"
        elif not one.exact:
            text = f"{one.label}: relative error {figure(one.error)}, a curve without a verdict"
        else:
            role = "good" if one.error <= HOLDS else "bad"
            text = f"{one.label}: S(ρ(g)x) is {figure(one.error)} away from ρ(g)S(x)"
        beside = self.frame is not None and len(self.frame.squares) > 1  # of which this is the first one's
        whose = self.squares[0].title if beside else ""
        self.said.setText(f"{whose}: {text}" if whose else text)
        self.said.setStyleSheet(f"color: {getattr(t, role)};")

    def _point(self, place: Place | None) -> None:
        value = self.grid.item.value_at(place) if place is not None else None
        if place is None or value is None or place[0] >= len(self._names):
            self.hovered.emit("")
            return
        self.hovered.emit(f"{self._names[place[0]]}, row {place[1]}, column {place[2]}:  {precise(value)}")

    # exports ----------------------------------------------------------------------------------------------
    def numbers(self) -> dict[str, NDArray[Any]]:
        parts = self.parts()
        keys = [(n, getattr(parts[0], key)) for n, key in zip(NAMES, KEYS)] if parts else []
        return {name: values for name, values in keys if values is not None}

    def caption(self) -> str:
        parts = self.parts()
        if not parts or self.frame is None:
            return ""
        one = parts[0]
        error = "" if one.error is None else f", relative error {figure(one.error)}"
        return f"{METHODS[one.method]} of {one.label}{error}: {subject(self.frame)}, colours ±{figure(self.scale)}."

    def apply_theme(self) -> None:
        self.bar.apply_theme()
        self.grid.apply_theme()
        self.pages.apply_theme()
        if parts := self.parts():
            self._say(parts[0])


VIEW = ViewSpec(
    "saliency", "Saliency", SaliencyView, "center", 3, "Which pixels the answer depends on: gradients and occlusion.",
    domains=("grid",),
)  # fmt: skip

if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(SaliencyView, lambda view, samples: view.set_frame(samples.make_frame()))
