"""The curve t -> tau(t) with its handles, and below it, on a linked axis of time, its slope beside the gates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QObject, QPointF, QSize, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from explorer.declare.elements import Step
from widgets.base.pointer import Pointer
from widgets.base.text.words import figure
from widgets.charts.plot import Plot
from widgets.spaces.sequence.charts.bend_chart import BendChart
from widgets.spaces.sequence.charts.bending import Curve
from widgets.spaces.sequence.charts.slope_chart import Line, SlopeChart
from widgets.spaces.sequence.timeline.axes.scale import time_scale

ONE = "One step cannot be bent."


class WarpChart(QWidget):
    """Two plots over one axis of time; the mouse marks the same step in both."""

    bent = Signal(object, bool)  # the steps asked for, whether the hand has let go
    said = Signal(str)

    def __init__(self, parent: QWidget | None = None, pointer: Pointer | None = None) -> None:
        super().__init__(parent)
        self.pointer = pointer or Pointer(self)
        self.bend = BendChart(self, self.text_at)
        self.slopes = SlopeChart(self, self.bend.side, self.text_at)
        self.slopes.box.setXLink(self.bend.box)
        self.bend.box.sigXRangeChanged.connect(lambda *_: self.slopes.set_ranges(x=self.bend.box.whole[0]))
        self.note = ""  # said in the lower plot instead of gates
        self.follows = ""
        self._message = ""
        self._times: NDArray[Any] | None = None
        self._telling = False
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.bend, 3)
        column.addWidget(self.slopes, 2)
        self.setFocusProxy(self.bend)
        self.bend.bent.connect(self.bent)
        for plot in (self.bend, self.slopes):
            plot.hovered.connect(self.said)
            plot.viewport().installEventFilter(self)
        self.pointer.moved.connect(self._follow)

    def sizeHint(self) -> QSize:
        return QSize(420, 320)

    def minimumSizeHint(self) -> QSize:
        return QSize(200, 160)

    # what is shown --------------------------------------------------------------------------------------------
    @property
    def curve(self) -> Curve:
        return self.bend.curve

    @property
    def lines(self) -> list[Line]:
        return self.slopes.lines

    @property
    def message(self) -> str:
        """Return what is shown instead of the plots."""
        return self._message

    @message.setter
    def message(self, text: str) -> None:
        self._message = text
        self.bend.message = text or (ONE if self.curve.count < 2 else "")
        self.slopes.setVisible(not self.bend.message)

    def show_curve(self, steps: Sequence[Step], count: int, times: NDArray[Any] | None = None) -> None:
        """Show the map of a chain on a sequence of `count` steps, at their true times where there are any."""
        if count != self.curve.count or times is not self._times:
            self._times, scale = times, time_scale(times)
            for axis in (self.bend.axis, self.bend.side, self.slopes.axis):
                axis.follow(count, scale)
        self.bend.show_curve(Curve(steps, count))
        self.slopes.show_slope(self.curve.slope())

    def show_lines(self, lines: Sequence[Line], note: str, follows: str) -> None:
        """Show gates beside the slope; `note` says why there are none, `follows` how well they follow."""
        self.note, self.follows = note, follows
        self.slopes.show_lines(lines, follows if lines else note)

    def dress(self) -> None:
        """Take the colours of the theme."""
        self.bend.dress()
        self.slopes.dress()

    # the mouse ------------------------------------------------------------------------------------------------
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Mark the step under the mouse in both plots."""
        if event.type() == QEvent.Type.MouseMove and not self.bend.message:
            plot: Plot = self.bend if watched is self.bend.viewport() else self.slopes
            self._hover(plot.box.mapSceneToView(event.position()))  # type: ignore[attr-defined]
        elif event.type() == QEvent.Type.Leave:
            self._hover(None)
        return super().eventFilter(watched, event)

    def _hover(self, at: QPointF | None) -> None:
        low, high = self.bend.box.viewRange()[0]
        place = at.x() if at is not None and low <= at.x() <= high else None
        time = self._time(place) if place is not None else None
        self.slopes.show_hair(place)
        self.bend.show_cross(time)
        tau = round(float(self.curve.tau(time))) if time is not None else -1
        self._telling = True
        self.pointer.moved.emit(tau if 0 <= tau < self.curve.count else None)
        self._telling = False

    def _time(self, place: float) -> float:
        return float(self.bend.axis.step(place)) - 0.5

    def _follow(self, step: int | None) -> None:
        if not self._telling and self.curve.count > 1:
            self.bend.show_cross(self.curve.reached(float(step)) if step is not None else None)

    def text_at(self, place: float) -> str:
        """Return the read-out at a place: the step, where it comes from, the slope and the gates there."""
        t = min(max(0, round(self._time(place))), max(0, self.curve.count - 1))
        slope = self.curve.slope()
        words = [f"step {t} of ρ(g)x shows step {figure(float(self.curve.tau(t)))} of x"]
        if slope.size:
            words.append(f"dτ/dt = {figure(float(slope[min(t, len(slope) - 1)]))}")
        words += [
            f"{one.title} {figure(float(np.asarray(one.values)[t]))}" for one in self.lines if t < len(one.values)
        ]
        if (hot := self.bend.hot) is not None:
            hint = "drag anywhere" if hot.free else "drag up and down"
            words.append(
                "drag: rescale" if hot.end else f"{hint} · right click: take it away · Alt: not onto the diagonal"
            )
        return "\n".join(words)
