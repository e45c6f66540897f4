"""Phase portrait: the state of a recurrent network as a path through two of its units or its principal axes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QComboBox, QWidget

from explorer.spaces.sequence.drawing.values import Settling, TimePart
from explorer.square.frame import Square
from widgets.base.controls.row import ControlRow, stacked
from widgets.base.frame_view import FrameView
from widgets.base.text.words import figure, subject
from widgets.base.view import ViewSpec, Wish
from widgets.spaces.sequence.charts.phase_chart import Path, PhaseChart, principal, thinned
from widgets.spaces.sequence.timeline.rows import layers_of, short_names

NOTHING = "Choose a sequence and a recurrent network: the path of its state is drawn here."
NONE = "This model does not live on a sequence: there is no path through time."
NO_STATES = "No layer of this network has values at each step."
AXES = 256  # units offered
AT_REST = "R(0, ·) from 0"
UNMOVED = 1.0 - 1e-9  # a factor above: two orbits do not come together


class PhaseView(FrameView[tuple[Square, TimePart]]):
    """F(x) as a line, F(rho(g) x) dashed, pale at the beginning; a click selects a step."""

    POINTS_AT, FOLLOWS = "step", ("node",)
    NOTHING, NONE = NOTHING, NONE

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._axes: tuple[Any, tuple[Any, Any, Any]] | None = None
        self.layer, self.across, self.up = QComboBox(), QComboBox(), QComboBox()
        self.chart = PhaseChart(self, self.pointer)
        self.layer.setToolTip("The layer whose path is drawn; at first the selected one, or the hidden state")
        for box in (self.layer, self.across, self.up):
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
            box.activated.connect(lambda _: self.refresh())
        self._chrome = ControlRow("State", self.layer, "across", self.across, "up", self.up)
        stacked(self, self._chrome, self.chart)
        self.chart.hovered.connect(self.hovered)
        self.chart.picked.connect(self._picked)
        self.apply_theme()
        self.show_frame(None)

    # what comes in --------------------------------------------------------------------------------------------
    def parts(self) -> list[tuple[Square, TimePart]]:
        """Return the squares that live on a sequence."""
        return self.with_part(TimePart)

    def missing(self, parts: list[tuple[Square, TimePart]]) -> str:
        return "" if layers_of(*parts[0]) else NO_STATES

    def show_empty(self, sentence: str) -> None:
        self._chrome.hide()
        self.chart.show_paths([], ("", ""), None)
        self.chart.message = sentence

    def draw(self, parts: list[tuple[Square, TimePart]]) -> None:
        self._chrome.show()
        square, part = parts[0]
        names = layers_of(square, part)
        told = [name for name in names if name.rpartition(".")[2] == "hidden"]
        flat = part.kind == "step" and part.values.shape[1] > 1  # one number a step makes no path in a plane
        first = square.layer.name if flat or not (told or part.kind != "step") else (told or names)[-1]
        _fill(self.layer, list(zip(names, short_names(names), strict=True)), first)
        name = str(self.layer.currentData())
        values, _ = _values(square, part, name)
        units = min(AXES, values.shape[1])
        for box, axis in ((self.across, 0), (self.up, 1)):
            items = [(-1 - axis, f"principal axis {axis + 1}"), *((u, f"unit {u}") for u in range(units))]
            _fill(box, items, -1 - axis)
        chosen = int(self.across.currentData()), int(self.up.currentData())
        self.chart.show_paths(self._paths(parts, name, chosen), self._labels(values, chosen), self.state.node)
        self.chart.message = ""

    def _principal(self, values: NDArray[Any]) -> tuple[Any, Any, Any]:
        """Return the axes of F(x): both sides and both models are drawn in the same plane."""
        if self._axes is None or self._axes[0] is not values:
            self._axes = (values, principal(np.asarray(values).reshape(len(values), -1)))
        return self._axes[1]

    def _labels(self, values: NDArray[Any], chosen: tuple[int, int]) -> tuple[str, str]:
        found = []
        for one in chosen:
            if one >= 0:
                found.append(f"unit {one}")
            else:
                found.append(f"principal axis {-one} ({self._principal(values)[2][-1 - one]:.0%} of the variance)")
        return found[0], found[1]

    def _paths(self, parts: list[tuple[Square, TimePart]], name: str, chosen: tuple[int, int]) -> list[Path]:
        paths: list[Path] = []
        reference = _values(*parts[0], name)[0]
        moved_too = self.frame is not None and bool(self.frame.state.steps)
        for k, (square, part) in enumerate(parts):
            mine = name if name in layers_of(square, part) else layers_of(square, part)[-1:]
            if not mine:
                continue
            values, moved = _values(square, part, mine if isinstance(mine, str) else mine[0])
            who = f" · {square.title}" if len(parts) > 1 else ""
            role = ("first", "second")[k]
            for side, title, found in (("before", "F(x)", values), ("after", "F(ρ(g)x)", moved)):
                if found is None or (side == "after" and not moved_too):
                    continue
                kept = thinned(found)
                points = self._project(np.asarray(found)[kept], reference, chosen)
                order = np.asarray(part.order, np.float64) if side == "after" else None
                dressed = role if side == "before" or len(parts) > 1 else "second"
                paths.append(Path(title + who, points, kept, dressed, side, order))
            paths += self._settling(part, name, reference, chosen, who)
        return paths

    def _settling(
        self, part: TimePart, name: str, reference: NDArray[Any], chosen: tuple[int, int], who: str
    ) -> list[Path]:
        """Return the way of the state to its fixed point, where the layer is such a state."""
        found = []
        for one in part.settlings:
            if name in one.layers and one.orbit.shape[1] == reference.shape[1]:
                kept = thinned(one.orbit)
                points = self._project(one.orbit[kept], reference, chosen)
                found.append(Path(AT_REST + who, points, kept, "muted", "rest", None, _settled(one)))
        return found

    def _project(self, values: NDArray[Any], reference: NDArray[Any], chosen: tuple[int, int]) -> NDArray[Any]:
        flat = np.asarray(values, np.float64).reshape(len(values), -1)
        out = np.zeros((len(flat), 2))
        mean, axes, _ = self._principal(reference)
        for k, one in enumerate(chosen):
            if one >= 0:
                out[:, k] = flat[:, one] if one < flat.shape[1] else np.nan
            elif flat.shape[1] == len(mean):
                out[:, k] = (flat - mean) @ axes[-1 - one]
            else:  # another network has axes of its own
                own, own_axes, _ = principal(flat)
                out[:, k] = (flat - own) @ own_axes[-1 - one]
        return out

    # what goes out --------------------------------------------------------------------------------------------
    def _picked(self, step: int) -> None:
        self.wished.emit(Wish({"node": None if step == self.state.node else step, "other": None}))

    def numbers(self) -> dict[str, NDArray[Any]]:
        out: dict[str, NDArray[Any]] = {}
        for path in self.chart.paths:
            out[path.title] = path.points
            out[f"{path.title} step"] = np.asarray(path.steps)
        return out

    def caption(self) -> str:
        if self.frame is None or not self.chart.paths:
            return ""
        across, up = self.chart.labels
        titles = ", ".join(path.title for path in self.chart.paths)
        node = f"; ring: step {self.state.node}" if self.state.node is not None else ""
        return (
            f"Path of {self.layer.currentText()} ({titles}) across {across}, up {up}; "
            f"pale at the beginning, from ring to dot{node}: {subject(self.frame)}."
        )

    def apply_theme(self) -> None:
        self._chrome.apply_theme()
        self.chart.dress()


def _settled(one: Settling) -> str:
    """Say how far the iteration went and how fast two of them come together."""
    law = "contraction" if one.contraction < UNMOVED else "no contraction"
    end = f"{len(one.orbit) - 1} iterations" if one.converged else "no fixed point found"
    return f" ({law}: × {_factor(one.contraction)} a step, {end})"


def _factor(value: float) -> str:
    """Return a factor with two digits of what it lacks of 1, where that is little."""
    short = 1.0 - value
    if not 1e-9 < short < 0.01:
        return figure(value)
    return f"{value:.{1 - math.floor(math.log10(short))}f}"


def _values(square: Square, part: TimePart, name: str) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return a layer's values on both sides; those after g may not have been sent."""
    if name == square.layer.name and part.kind == "step":
        return part.values, part.moved
    return part.gates[name], part.moved_gates.get(name)


def _fill(box: QComboBox, items: list[tuple[Any, str]], wanted: Any) -> None:
    """Give a combo box these items; what is chosen stays while it is among them."""
    with QSignalBlocker(box):
        kept = box.currentData()
        if [(box.itemData(i), box.itemText(i)) for i in range(box.count())] == items:
            return
        box.clear()
        for value, text in items:
            box.addItem(text, value)
        values = [value for value, _ in items]
        box.setCurrentIndex(values.index(kept) if kept in values else values.index(wanted))


VIEW = ViewSpec(
    "phase", "Phase", PhaseView, "bottom", 7, "The path of a state through two units or principal axes.",
    domains=("sequence",),
)  # fmt: skip

if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(PhaseView, lambda view, samples: view.set_frame(samples.make_frame()))
