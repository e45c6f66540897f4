"""Statistics of the gates over the whole recording: how often open or shut, and how long each unit remembers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QComboBox, QWidget

from explorer.spaces.sequence.drawing.values import TimePart
from explorer.square.frame import Square
from widgets.base.controls.row import ControlRow, compact, stacked
from widgets.base.frame_view import FrameView
from widgets.base.text.words import counterpart, figure, named_in_brief, subject
from widgets.base.view import ViewSpec, Wish
from widgets.charts.adaptive import Adaptive
from widgets.spaces.sequence.charts.gate_chart import OF, ForgettingChart, HistogramChart
from widgets.spaces.sequence.charts.gate_statistics import Counted, Forgetting, count, forgetting, keeps, timed
from widgets.spaces.sequence.timeline.rows import short_names

NOTHING = "Choose a sequence and a network with gates: their histograms and forgetting times stand here."
NONE = "This model does not live on a sequence: there are no gates over time."
NO_GATES = "No layer of this network has values at each step."
NO_TIMES = "No gate between 0 and 1 here, so no forgetting time: that is what the gates of an LSTM or a GRU are for."
LAWS = (("remembers", "γ = 1 − gate"), ("replaces", "γ = gate"))


class GatesView(FrameView[tuple[Square, TimePart]]):
    """Histograms at the left, the spectrum of 1 / gamma at the right; a click on a gate selects that layer."""

    FOLLOWS, NOTHING, NONE = ("channel",), NOTHING, NONE
    figure_height = 1.0  # of the width of a figure in a column: histograms, and forgetting times below them

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kept: dict[tuple[int, int], tuple[Any, Any, Counted]] = {}
        self._picked_law = False
        self.histograms, self.times = HistogramChart(self), ForgettingChart(self)
        self.gate, self.law = QComboBox(), QComboBox()
        self.gate.setToolTip("The gate that says how much of the state a step replaces")
        self.law.setAccessibleName("What the gate says")
        self.law.setToolTip("Whether this gate says what is kept (1 − γ) or what is replaced (γ)")
        for value, text in LAWS:
            self.law.addItem(text, value)
        self._chrome = ControlRow("Forgetting time from", compact(self.gate, 8), compact(self.law, 8))
        right = QWidget()
        stacked(right, self._chrome, self.times)
        self._right = right
        both = Adaptive(self)
        both.addWidget(self.histograms, 1)
        both.addWidget(right, 1)
        for chart in (self.histograms, self.times):
            chart.hovered.connect(self.hovered)
        self.histograms.clicked.connect(self._clicked)
        self.times.picked.connect(lambda unit: self.wished.emit(Wish({"channel": unit})))
        self.gate.activated.connect(self._gate_chosen)
        self.law.activated.connect(self._law_chosen)
        self.apply_theme()
        self.show_frame(None)

    # what comes in --------------------------------------------------------------------------------------------
    def parts(self) -> list[tuple[Square, TimePart]]:
        """Return the squares that live on a sequence."""
        return self.with_part(TimePart)

    def missing(self, parts: list[tuple[Square, TimePart]]) -> str:
        return "" if any(part.gates for _, part in parts) else NO_GATES

    def show_empty(self, sentence: str) -> None:
        self.histograms.message = sentence
        self._right.hide()
        self.histograms.show_counted([], [], [], "")

    def draw(self, parts: list[tuple[Square, TimePart]]) -> None:
        self.histograms.message = ""
        self._right.show()
        counted, names, roles = [], [], []
        kept: dict[tuple[int, int], tuple[Any, Any, Counted]] = {}
        for k, (square, part) in enumerate(parts):
            for name, short in zip(part.gates, short_names(list(part.gates)), strict=True):
                counted.append(self._count(kept, name, part.gates[name], part.moved_gates.get(name)))
                names.append(short + (f"{OF}{named_in_brief(square)}" if len(parts) > 1 else ""))
                roles.append(("first", "second")[k])
        self._kept = kept
        self.histograms.show_counted(counted, names, roles, parts[0][0].layer.name)
        self._offer(parts[0][1])
        self._show_times()

    def _count(
        self, kept: dict[tuple[int, int], Any], name: str, values: NDArray[Any], moved: NDArray[Any] | None
    ) -> Counted:
        """Count once for each array: in a drag F(x) stays the same."""
        key = (id(values), id(moved))
        found = self._kept.get(key)
        if found is None or found[0] is not values or found[1] is not moved:
            found = (values, moved, count(name, values, moved))
        kept[key] = found
        return found[2]

    def _offer(self, part: TimePart) -> None:
        names = list(timed(part.gates))
        wanted = self.gate.currentData()
        with QSignalBlocker(self.gate):
            if [self.gate.itemData(i) for i in range(self.gate.count())] != names:
                self.gate.clear()
                for name, short in zip(names, short_names(names), strict=True):
                    self.gate.addItem(short, name)
            self.gate.setCurrentIndex(names.index(wanted) if wanted in names else 0 if names else -1)
        if not self._picked_law and self.gate.currentData():
            self.law.setCurrentIndex(0 if keeps(str(self.gate.currentData())) else 1)

    def _show_times(self) -> None:
        name = self.gate.currentData()
        found: list[tuple[Forgetting, str, str]] = []
        parts = self.parts()
        remembers = self.law.currentData() == "remembers"
        for k, (square, part) in enumerate(parts):
            mine = name if name in part.gates else next(timed(part.gates), None)
            if mine is not None and name is not None:
                times = forgetting(mine, part.gates[mine], remembers)
                title = named_in_brief(square) if len(parts) > 1 else short_names([*part.gates, mine])[-1]
                found.append((times, title, ("first", "second")[k]))
        self._chrome.setVisible(bool(found))
        self.times.show_found(found, parts[0][1].steps if parts else 1, self.state.channel)
        self.times.message = "" if found else NO_TIMES

    # what goes out --------------------------------------------------------------------------------------------
    def _gate_chosen(self) -> None:
        self._picked_law = False
        self.law.setCurrentIndex(0 if keeps(str(self.gate.currentData())) else 1)
        self._show_times()

    def _law_chosen(self) -> None:
        self._picked_law = True
        self._show_times()

    def _clicked(self, name: str) -> None:
        if self.frame is not None:
            names = [k for k, (_, part) in enumerate(self.parts()) if name in part.gates]
            layer = counterpart(self.frame, names[0] if names else 0, name)
            self.wished.emit(Wish({"layer": layer, "channel": None}))

    # exports --------------------------------------------------------------------------------------------------
    def numbers(self) -> dict[str, NDArray[Any]]:
        out: dict[str, NDArray[Any]] = {}
        for k, one in enumerate(self.histograms.counted):
            before = "compare." if self.histograms.roles[k] == "second" else ""
            out[f"{before}{one.name} edges"] = one.edges
            out[f"{before}{one.name} share"] = one.share
            if one.moved is not None:
                out[f"{before}{one.name} share after"] = one.moved
        for times, _, role in self.times.found:
            before = "compare." if role == "second" else ""
            out[f"{before}unit"] = np.asarray(times.order)
            out[f"{before}forgetting time"] = times.times
        return out

    def caption(self) -> str:
        if self.frame is None or not self.histograms.counted:
            return ""
        words = ["Histograms of the gates and states over all steps and units, filled: F(x), line: F(ρ(g)x)"]
        for times, title, _ in self.times.found:
            law = "1 − gate" if times.remembers else "gate"
            middle = figure(float(np.median(times.times)))
            words.append(f"forgetting time 1/γ with γ = {law} of {title} ({times.name}), median {middle} steps")
        return f"{'; '.join(words)}: {subject(self.frame)}."

    def apply_theme(self) -> None:
        self._chrome.apply_theme()
        self.histograms.dress()
        self.times.dress()


VIEW = ViewSpec(
    "gates", "Gates", GatesView, "bottom", 6, "Histograms of gates, and how long each unit remembers.",
    domains=("sequence",),
)  # fmt: skip

if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(GatesView, lambda view, samples: view.set_frame(samples.make_frame()))
