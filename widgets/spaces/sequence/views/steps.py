"""Equations at a step: what a block of a network does at the step under the mouse, with all numbers in place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSignalBlocker, QSize, Qt, QTimer
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from explorer.spaces.sequence.drawing.values import TimePart
from explorer.square.frame import Square
from explorer.state.state import State
from widgets.base.frame_view import FrameView
from widgets.base.look import theme
from widgets.base.text.glossary import say
from widgets.base.text.words import subject
from widgets.base.view import ViewSpec, Wish
from widgets.spaces.sequence.step_canvas import StepCanvas
from widgets.spaces.sequence.step_cells import Cell, cells_of, numbers_of

NOTHING = "Choose a sequence and a network: its equations stand here with the numbers of the step under the mouse."
NONE = "This model does not live on a sequence: there is no step to look at."
NO_EQUATIONS = "This network states no equations. The recurrent networks, the transformer and the pointer networks do."


class StepsView(FrameView[tuple[Square, TimePart]]):
    """Shows the first model's block that the selected layer lies in; hovering asks the worker for nothing."""

    POINTS_AT, FOLLOWS = "step", ("node", "channel")
    NOTHING, NONE = NOTHING, NONE

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._step: int | None = None  # under the mouse last
        self._seen = ""  # the layer that was scrolled to
        self._kept: dict[int, Any] = {}
        self.block, self._word, self.where = QComboBox(), QLabel("Block"), QLabel()
        self.block.setAccessibleName("Block")
        self.block.setToolTip("The part of the network whose equations are shown; a layer of it is selected")
        self.block.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.block.setMinimumContentsLength(14)
        self.canvas, self.area = StepCanvas(), QScrollArea()
        self.area.setWidget(self.canvas)
        self.area.setWidgetResizable(True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._chrome = QWidget()
        row = QHBoxLayout(self._chrome)
        row.setContentsMargins(10, 4, 8, 2)
        row.setSpacing(6)
        for widget in (self._word, self.block, self.where):
            row.addWidget(widget)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._chrome)
        column.addWidget(self.area, 1)
        self.block.activated.connect(lambda k: self._choose(str(self.block.itemData(k))))
        self.canvas.named.connect(self._choose)
        self.canvas.picked.connect(lambda layer, unit: self.wished.emit(Wish({"layer": layer, "channel": unit})))
        self.canvas.hovered.connect(self.hovered)
        self.pointer.moved.connect(self._point_at)
        self.apply_theme()
        self.show_frame(None)

    # what comes in --------------------------------------------------------------------------------------------
    def set_state(self, state: State) -> None:
        if state.node != self.state.node:
            self._step = None
        super().set_state(state)

    def _point_at(self, step: int | None) -> None:
        """Show the step under the mouse; where it has left, the pinned step, else the one seen last."""
        if step is not None or self.state.node is not None:
            self._step = step
            if self.isVisible():
                self.refresh()

    def parts(self) -> list[tuple[Square, TimePart]]:
        """Return the first square if it lives on a sequence and states equations."""
        return [(s, part) for s, part in self.with_part(TimePart)[:1] if part.working is not None and part.steps]

    def step(self) -> int:
        """Return the step of x that is shown: under the mouse, pinned, or the middle one."""
        steps = self.parts()[0][1].steps
        wanted = self._step if self._step is not None else self.state.node
        return min(steps - 1, max(0, steps // 2 if wanted is None else wanted))

    def cells(self) -> list[Cell]:
        """Return the equations at the step."""
        parts = self.parts()
        if not parts or self.frame is None:
            return []
        part = parts[0][1]
        assert part.working is not None
        moved = bool(self.frame.state.steps)
        return cells_of(part, part.working, self.step(), moved, self._kept)

    def reason(self, parts: list[tuple[Square, TimePart]]) -> str:
        if not parts and self.with_part(TimePart):
            return NO_EQUATIONS
        return super().reason(parts)

    def show_empty(self, sentence: str) -> None:
        self.canvas.message = sentence
        self._chrome.hide()
        self.canvas.show_cells([], (), "", None)

    def draw(self, parts: list[tuple[Square, TimePart]]) -> None:
        self.canvas.message = ""
        self._chrome.show()
        square, part = parts[0]
        self._offer(part)
        self.where.setText(say(self._words(part)))
        self.canvas.show_cells(self.cells(), part.names, square.layer.name, self.state.channel)
        if square.layer.name != self._seen:
            self._seen = square.layer.name
            QTimer.singleShot(0, self.area, self._bring)  # when the canvas has its new height
        values = {id(a) for a in self._arrays(part)}
        self._kept = {key: found for key, found in self._kept.items() if key in values}

    def _bring(self) -> None:
        """Scroll to the equation of the selected layer, if it has one."""
        rect = self.canvas.rect_of(self._seen)
        if rect is not None:
            half = self.area.viewport().height() // 2
            self.area.ensureVisible(0, round(rect.center().y()), 0, min(half, round(rect.height() / 2) + 8))

    @staticmethod
    def _arrays(part: TimePart) -> list[Any]:
        working = part.working
        return [] if working is None else [*working.values.values(), *working.moved.values()]

    def _words(self, part: TimePart) -> str:
        step = self.step()
        letter = f" “{part.names[step]}”" if step < len(part.names) and part.names[step] else ""
        words = f"step {step}{letter}" + (" · pinned" if step == self.state.node and self._step is None else "")
        if self.frame is not None and self.frame.state.steps:
            there = part.order[step]
            words += f" · step {round(float(there))} of ρ(g)x" if np.isfinite(there) else " · cut off by ρ(g)"
        return words

    def _offer(self, part: TimePart) -> None:
        assert part.working is not None
        items = [(layer, name or "whole network") for name, layer in part.working.blocks]
        with QSignalBlocker(self.block):
            if [(self.block.itemData(i), self.block.itemText(i)) for i in range(self.block.count())] != items:
                self.block.clear()
                for layer, name in items:
                    self.block.addItem(name, layer)
            self.block.setCurrentIndex([name for name, _ in part.working.blocks].index(part.working.block))
        for widget in (self._word, self.block):
            widget.setVisible(len(items) > 1)

    # what goes out --------------------------------------------------------------------------------------------
    def _choose(self, layer: str) -> None:
        if self.frame is not None and layer in [one.name for one in self.frame.squares[0].layers]:
            self.wished.emit(Wish({"layer": layer, "channel": None}))

    def figure_size(self) -> QSize:
        """Return the size at which no equation is out of sight."""
        wide = max(640, self.width())
        return QSize(wide, max(self.height(), self.height_at(wide)))

    def height_at(self, width: int) -> int:
        """Return the height at which no equation is out of sight in a figure of that width."""
        return self.canvas.full_height(float(width)) + self._chrome.height() + 8

    def numbers(self) -> dict[str, NDArray[Any]]:
        cells = self.cells()
        return {"step": np.array([self.step()]), **numbers_of(cells)} if cells else {}

    def caption(self) -> str:
        parts = self.parts()
        if not parts or self.frame is None or parts[0][1].working is None:
            return ""
        where = parts[0][1].working.block or "the network"
        words = f"The equations of {where} at {self._words(parts[0][1])}; colours are one scale over all steps"
        return f"{words}: {subject(self.frame)}."

    def apply_theme(self) -> None:
        for label in (self._word, self.where):
            label.setStyleSheet(f"color: {theme.current().muted};")
        self.canvas.dress()


VIEW = ViewSpec(
    "steps", "Equations at a step", StepsView, "bottom", 5, "Every equation with the numbers of one step in place.",
    domains=("sequence",),
)  # fmt: skip

if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(StepsView, lambda view, samples: view.set_frame(samples.make_frame()))
