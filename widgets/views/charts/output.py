"""The network's answer before and after the transform, and along the orbit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton, QWidget

from explorer.declare.elements import transforms
from explorer.square.drawing.answer import values_of
from explorer.square.drawing.asked_answer import answer_of
from explorer.square.frame import Frame, OrbitCurve
from explorer.state.state import State
from widgets.base.text.words import subject
from widgets.base.view import View, ViewSpec, Wish
from widgets.charts.adaptive import Adaptive
from widgets.charts.element_chart import Trace
from widgets.charts.output_chart import BarChart, LineChart


class OutputView(View):
    """Class probabilities (or signed values) of F(x) and F(ρ(g) x), for one or two models."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._frame: Frame | None = None
        self._state: State | None = None  # the person's choice, which a late frame does not know yet
        self._curves: tuple[OrbitCurve, ...] = ()
        self.bars = (BarChart(self), BarChart(self))
        self.lines = (LineChart(self), LineChart(self))
        self.along = QToolButton(self)
        self.along.setText("∿")
        self.along.setAccessibleName("Along the orbit")
        self.along.setCheckable(True)
        self.along.setChecked(True)
        self.along.setToolTip("Also draw the leading outputs along the orbit")
        self.along.setProperty("chrome", True)
        self.along.toggled.connect(lambda on: self._refresh())
        row = Adaptive(self)
        row.setContentsMargins(4, 0, 0, 0)
        row.setSpacing(6)
        for bars, lines in zip(self.bars, self.lines):
            row.addWidget(bars, 1)
            row.addWidget(lines, 1)
            bars.hovered.connect(self.hovered)
            lines.hovered.connect(self.hovered)
            lines.moved.connect(self._moved)
        row.addWidget(self.along, 0, Qt.AlignmentFlag.AlignTop)
        self._refresh()

    def show_frame(self, frame: Frame | None) -> None:
        self._frame = frame
        self._refresh()

    def set_state(self, state: State) -> None:
        """Let the element's line follow at once."""
        self._state = state
        self._when_visible("state", self._refresh)

    def show_orbit(self, curves: tuple[OrbitCurve, ...]) -> None:
        self._curves = curves
        self._refresh()

    def _refresh(self) -> None:
        frame = self._frame
        squares = frame.squares if frame is not None else ()
        self.along.setVisible(bool(squares) and any(c.outputs.size for c in self._curves))
        room = self._room(max(1, len(squares)))
        for k, (bars, lines, role) in enumerate(zip(self.bars, self.lines, ("first", "second"))):
            square = squares[k] if k < len(squares) else None
            bars.setVisible(k == 0 or square is not None)
            node = frame.state.node if frame is not None else None
            bars.show_square(square, role, (frame.state.epoch, node) if frame is not None else None, node)
            curve = self._curves[k] if k < len(self._curves) else None
            drawn = square is not None and curve is not None and curve.outputs.size > 0 and room and not bars.ranked
            lines.setVisible(drawn)
            transform = transforms().get(curve.transform) if curve is not None else None
            if drawn and curve is not None and frame is not None and transform is not None and square is not None:
                lines.answer = answer_of(square, curve.state.node)  # the curve may be that of the node before
                index = transform.orbit or 0
                step = (self._state or frame.state).step(transform.name)
                value = (step.values if step is not None else transform.defaults)[index]
                lines.show_traces([Trace(curve, "", "", role)], transform.params[index], value)

    def _room(self, models: int) -> bool:
        """Say whether the lines along the orbit are wanted and fit beside (or below) the bars."""
        flat = self.width() >= 2 * self.height()
        return self.along.isChecked() and (self.width() / models >= 520 if flat else self.height() / models >= 240)

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._refresh()

    def _moved(self, value: float, done: bool) -> None:
        if self._frame is None or not self._curves:
            return
        transform = transforms()[self._curves[0].transform]
        step = (self._state or self._frame.state).step(transform.name)
        values = list(step.values if step is not None else transform.defaults)
        values[transform.orbit or 0] = value
        self.wished.emit(Wish(step=(transform.name, tuple(values)), tag="orbit", done=done))

    def numbers(self) -> dict[str, NDArray[Any]]:
        found: dict[str, NDArray[Any]] = {}
        for k, square in enumerate(self._frame.squares if self._frame is not None else ()):
            before = "compare." if k else ""
            answer = answer_of(square, self._frame.state.node if self._frame is not None else None)
            if answer.labels:
                found[f"{before}label"] = np.array(answer.labels, dtype=np.str_)
            found[f"{before}F(x)"], found[f"{before}F(gx)"] = values_of(square, answer)
        return found

    def caption(self) -> str:
        if self._frame is None or not self._frame.squares:
            return ""
        what = "Class probabilities" if self._frame.squares[0].probabilities else "Outputs"
        whose = answer_of(self._frame.squares[0], self._frame.state.node).whose
        of = f" ({whose})" if whose else ""
        return f"{what} of F(x) and F(ρ(g) x){of}: {subject(self._frame)}."

    def apply_theme(self) -> None:
        for chart in (*self.bars, *self.lines):
            chart.dress()


VIEW = ViewSpec("output", "Output", OutputView, "bottom", 2, "The network's answer before and after the transform.")

if __name__ == "__main__":
    from types import SimpleNamespace

    from widgets.base.preview import preview

    def fill(view: OutputView, samples: SimpleNamespace) -> None:
        view.set_frame(samples.make_frame(compare=True))
        view.set_orbit((samples.make_orbit(), samples.make_orbit("plain-cnn")))

    preview(OutputView, fill)
