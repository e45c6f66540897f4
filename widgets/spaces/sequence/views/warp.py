"""The warp of time as a curve that is bent by hand, with its slope beside the gates that are to follow it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QCheckBox, QComboBox, QToolButton, QWidget

from explorer.declare.elements import Step
from explorer.spaces.sequence.drawing.values import TimePart, parts_of_one_time
from explorer.square.frame import Square
from widgets.base.controls.row import ControlRow, compact, stacked
from widgets.base.frame_view import FrameView
from widgets.base.text.words import figure, subject
from widgets.base.view import ViewSpec, Wish
from widgets.spaces.sequence.charts.gate_statistics import keeps, timed
from widgets.spaces.sequence.charts.slope_chart import Line
from widgets.spaces.sequence.charts.warp_chart import WarpChart
from widgets.spaces.sequence.timeline.rows import short_names

NOTHING = "Pick a sequence: the curve that bends its time stands here."
NONE = "This model does not live on a sequence: there is no time to bend."
NO_GATE = "no gate in this network: nothing follows dτ/dt"
HINTS = (
    "Drag a handle: bend time · double click the curve: a further handle\n"
    "Right click or Delete: take a handle away · Tab: the next handle · arrows: move it\n"
    "Drag an end: rescale · drag the curve: shift, where the chain has these"
)


class WarpView(FrameView[tuple[Square, TimePart]]):
    """Draws tau of the state's chain at once; the gates come with the frame. Every drag is a wish."""

    POINTS_AT, FOLLOWS = "step", ("steps", "channel")  # the curve follows the hand: it needs no network
    NOTHING, NONE = NOTHING, NONE

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.chart = WarpChart(self, self.pointer)
        self.gate, self.relative = QComboBox(), QCheckBox("÷ mean over x")
        compact(self.gate, 10, "The gate that is to follow dτ/dt; of one that keeps, 1 − gate is shown")
        self.relative.setToolTip("Divide each gate by its mean over x, where dτ/dt is 1")
        self.relative.setChecked(True)
        self.help = QToolButton()
        self.help.setText("?")
        self.help.setAutoRaise(True)
        self.help.setToolTip(HINTS)
        self._chrome = ControlRow("Gate", self.gate, self.relative, rest=(self.help,))
        stacked(self, self._chrome, self.chart)
        self.setFocusProxy(self.chart)
        self.gate.activated.connect(lambda: self._show_gates())
        self.relative.toggled.connect(lambda _: self._show_gates())
        self.chart.bent.connect(self._bend)
        self.chart.said.connect(self.hovered)
        self.apply_theme()
        self.show_frame(None)

    # what comes in --------------------------------------------------------------------------------------------
    def parts(self) -> list[tuple[Square, TimePart]]:
        """Return the squares that live on the first one's sequence."""
        return parts_of_one_time(self.frame)

    def show_empty(self, sentence: str) -> None:
        self._chrome.hide()
        self.chart.show_curve((), 0)
        self.chart.show_lines((), "", "")
        self.chart.message = sentence

    def draw(self, parts: list[tuple[Square, TimePart]]) -> None:
        self._chrome.show()
        self._offer()
        self.chart.show_curve(self.state.steps, parts[0][1].steps, parts[0][1].times)
        self._show_gates()
        self.chart.message = ""

    def _offer(self) -> None:
        """Offer the gates of all models; the selected layer's own first, while it is one."""
        parts = self.parts()
        names = list(dict.fromkeys(name for _, part in parts for name in timed(part.gates)))
        wanted = self.gate.currentData()
        with QSignalBlocker(self.gate):
            if [self.gate.itemData(i) for i in range(self.gate.count())] != names:
                self.gate.clear()
                for name, short in zip(names, short_names(names), strict=True):
                    self.gate.addItem(f"1 − {short}" if keeps(name) else short, name)
            own = parts[0][0].layer.name
            pick = own if own in names and own != self._own else wanted
            self._own = own
            self.gate.setCurrentIndex(names.index(pick) if pick in names else 0 if names else -1)
        for part_ in (*self._chrome.words, self.gate, self.relative):
            part_.setVisible(bool(names))

    _own = ""

    def gamma(self, part: TimePart, moved: bool) -> tuple[str, NDArray[Any]] | None:
        """Return what of the state a step replaces, by the chosen gate or the first there is: its name and (T, C)."""
        wanted = str(self.gate.currentData() or "")
        name = wanted if wanted in part.gates else next(timed(part.gates), "")
        found = (part.moved_gates if moved else part.gates).get(name)
        if found is None:
            return None
        values = np.asarray(found, np.float64)
        return name, 1 - values if keeps(name) else values

    def _show_gates(self) -> None:
        lines: list[Line] = []
        words, parts = [], self.parts()
        slope = self.chart.curve.slope()
        for k, (square, part) in enumerate(parts):
            after, before = self.gamma(part, True), self.gamma(part, False)
            if after is None or before is None or not len(before[1]):
                continue
            rest = before[1].mean(0) if self.relative.isChecked() else np.ones(before[1].shape[1])
            gate, role = after[1], ("first", "second")[k]
            mean = gate.mean(1) / max(float(rest.mean()), 1e-9)
            title = f"{square.title}: mean gate" if len(parts) > 1 else "mean gate"
            lines.append(Line(title, mean, role))
            unit = self.state.channel
            if k == 0 and unit is not None and unit < gate.shape[1]:
                lines.append(Line(f"unit {unit}", gate[:, unit] / max(float(rest[unit]), 1e-9), role, True))
            if (r := follows(mean, slope, part.known)) is not None:
                words.append(figure(r))
        self.chart.show_lines(lines, NO_GATE, f"correlation with dτ/dt: {', '.join(words)}" if words else "")

    # what goes out --------------------------------------------------------------------------------------------
    def _bend(self, steps: tuple[Step, ...], done: bool) -> None:
        self.wished.emit(Wish({"steps": steps}, tag="warp", done=done))

    # what every view can do -----------------------------------------------------------------------------------
    def numbers(self) -> dict[str, NDArray[Any]]:
        if not self.parts():
            return {}
        t = np.arange(self.chart.curve.count, dtype=np.float64)
        out: dict[str, NDArray[Any]] = {"t": t, "tau": self.chart.curve.tau(t), "dtau/dt": self.chart.curve.slope()}
        times = self.parts()[0][1].times
        out |= {} if times is None else {"time": np.asarray(times)}
        return out | {one.title: one.values for one in self.chart.lines}

    def caption(self) -> str:
        if not self.parts() or self.frame is None:
            return ""
        words = [f"τ(t) of x′(t) = x(τ(t)) with its slope, {subject(self.frame)}"]
        if self.chart.lines:
            scaled = ", divided by its mean over x" if self.relative.isChecked() else ""
            words.append(f"below also {self.gate.currentText()} over ρ(g)x{scaled}")
            words += [self.chart.follows] if self.chart.follows else []
        else:
            words.append(NO_GATE)
        return "; ".join(words) + "."

    def apply_theme(self) -> None:
        self._chrome.apply_theme()
        self.chart.dress()


def follows(gate: NDArray[Any], slope: NDArray[Any], known: NDArray[np.bool_] | None) -> float | None:
    """Return the correlation of a gate (T,) with the slope between steps (T - 1,); None where either is constant."""
    if len(gate) != len(slope) + 1 or len(slope) < 3:
        return None
    there = np.isfinite(gate[1:]) & (known[1:] if known is not None and len(known) == len(gate) else True)
    one, other = gate[1:][there], slope[there]
    if len(one) < 3 or one.std() < 1e-9 or other.std() < 1e-9:
        return None
    return float(np.corrcoef(one, other)[0, 1])


VIEW = ViewSpec(
    "warp", "Warp", WarpView, "center", 4, "The curve that bends time, and the gates that are to follow it.",
    domains=("sequence",),
)  # fmt: skip


if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(WarpView, lambda view, samples: view.set_frame(samples.make_frame()))
