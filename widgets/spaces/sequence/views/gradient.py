"""The gradient back in time from the selected step, whole and truncated."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QSpinBox, QWidget

from explorer.spaces.sequence.drawing.values import TimePart, parts_of_one_time
from explorer.square.frame import Square
from widgets.base.controls.row import ControlRow, stacked
from widgets.base.frame_view import FrameView
from widgets.base.text.words import figure, subject
from widgets.base.view import ViewSpec, Wish
from widgets.spaces.sequence.charts.gradient_chart import GradientChart, Slope, cut_at, rate_of, rate_text

NOTHING = "Choose a sequence, and click a step in the timeline: the gradient back through time from it stands here."
NONE = "This model does not live on a sequence: there is no gradient through time."
NO_STEP = "Click a step in the timeline: how far back from it the gradient reaches stands here."
NO_FIELD = "This layer has no value at each step; choose one that has, in the timeline or in Layers."
COMING = "The gradient is being computed …"
LONGEST = 100_000


class GradientView(FrameView[tuple[Square, TimePart]]):
    """One line for each model on a logarithmic axis; the selected step and the truncation are wishes."""

    FOLLOWS, NOTHING, NONE = ("node", "truncate"), NOTHING, NONE

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.chart = GradientChart(self)
        self.every = QSpinBox()
        self.every.setRange(0, LONGEST)
        self.every.setSpecialValueText("never")
        self.every.setSuffix(" steps")
        self.every.setKeyboardTracking(False)
        self.every.setToolTip("Detach the state after so many steps: truncated backpropagation through time")
        self.every.setAccessibleName("Truncate after so many steps")
        self._chrome = ControlRow("Truncate after", self.every, "")
        self._said = self._chrome.words[-1]
        stacked(self, self._chrome, self.chart)
        self.every.valueChanged.connect(lambda k: self.wished.emit(Wish({"truncate": k or None}, tag="truncate")))
        self.every.editingFinished.connect(self._settled)
        self.chart.hovered.connect(self.hovered)
        self.chart.picked.connect(lambda step: self.wished.emit(Wish({"node": step, "other": None})))
        self.apply_theme()
        self.show_frame(None)

    # what comes in --------------------------------------------------------------------------------------------
    def parts(self) -> list[tuple[Square, TimePart]]:
        """Return the squares that live on the first one's sequence."""
        return parts_of_one_time(self.frame)

    def missing(self, parts: list[tuple[Square, TimePart]]) -> str:
        node = self.state.node
        if node is None or node >= parts[0][1].steps:
            return NO_STEP
        if self._slopes():
            return ""
        at_steps = [part for _, part in parts if part.kind == "step"]
        return next((part.missing for part in at_steps if part.missing), COMING) if at_steps else NO_FIELD

    def _slopes(self) -> list[Slope]:
        """Return the gradients of the frame that are of the state's step."""
        found, node = [], self.state.node
        if self.frame is None or node is None or self.frame.state.node != node:
            return []
        for k, (square, part) in enumerate(self.parts()):
            if part.gradient is not None and node < len(part.gradient):
                cut = part.truncated if self.state.truncate is not None else None
                title = square.title if len(self.parts()) > 1 else f"|∂{square.layer.name}({node}) / ∂x(t)|"
                found.append(Slope(title, part.gradient, cut, rate_of(part.gradient, node), ("first", "second")[k]))
        return found

    def refresh(self) -> None:
        self._chrome.setVisible(bool(self.parts()))
        with QSignalBlocker(self.every):
            self.every.setValue(self.state.truncate or 0)
        super().refresh()

    def show_empty(self, sentence: str) -> None:
        self.chart.show_found((), 0, None, None)
        self.chart.message = sentence
        self._said.setText("")

    def draw(self, parts: list[tuple[Square, TimePart]]) -> None:
        part = parts[0][1]
        self.chart.show_found(self._slopes(), part.steps, self.state.node, part.times)
        self.chart.message = ""
        self._said.setText(self.note())

    def note(self) -> str:
        """Return what the truncation did, in a few words."""
        every, node = self.state.truncate, self.state.node
        found = [(t, t.truncated) for _, t in self.parts() if t.truncated is not None and t.gradient is not None]
        if every is None or node is None or not found:
            return ""
        part, cut = found[0]
        if not part.cuts:
            return "no recurrent state here that could be detached"
        assert part.gradient is not None and cut is not None
        at = cut_at(np.asarray(part.gradient), cut, node)
        if at is None:
            return f"detached every {every} steps: nothing is lost at step {node}"
        lost = 1 - float(cut.sum()) / max(float(np.asarray(part.gradient).sum()), 1e-300)
        return f"cut before step {at}: {figure(100 * lost)} % of the gradient is lost"

    def _settled(self) -> None:
        self.wished.emit(Wish({"truncate": self.every.value() or None}, tag="truncate", done=True))

    # what every view can do -----------------------------------------------------------------------------------
    def numbers(self) -> dict[str, NDArray[Any]]:
        out: dict[str, NDArray[Any]] = {}
        for k, one in enumerate(self.chart.found):
            before = "compare." if k else ""
            out[f"{before}gradient"] = np.asarray(one.whole)
            if one.cut is not None:
                out[f"{before}truncated"] = np.asarray(one.cut)
        if out and self.parts()[0][1].times is not None:
            out["time"] = np.asarray(self.parts()[0][1].times)
        return out

    def caption(self) -> str:
        if self.frame is None or not self.chart.found:
            return ""
        words = [f"Gradient through time from step {self.state.node}, {subject(self.frame)}"]
        words += [f"{one.title} {rate_text(one.fit.rate)}" for one in self.chart.found if one.fit is not None]
        words += [f"truncated after {self.state.truncate} steps, {self.note()}"] if self.note() else []
        return "; ".join(words) + "."

    def apply_theme(self) -> None:
        self._chrome.apply_theme()
        self.chart.dress()


VIEW = ViewSpec(
    "gradient", "Gradient", GradientView, "bottom", 8,
    "How far back in time the gradient reaches, and where it is cut.",
    domains=("sequence",),
)  # fmt: skip


if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(GradientView, lambda view, samples: view.set_frame(samples.make_frame()))
