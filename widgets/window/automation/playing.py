"""Play the orbit: step one parameter along its family of elements, as fast as frames come."""

from __future__ import annotations

import math
from typing import Protocol

from PySide6.QtCore import QObject, QTimer, Signal

from explorer.declare.elements import transforms
from explorer.declare.params import Param
from explorer.square.frame import OrbitCurve
from explorer.state.state import State
from widgets.base.view import Wish

TICK_MS = 40
ROUND_S = 8.0  # for the whole family at speed 1
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0)
WIDEST = 64.0  # of a family without a curve yet, when the parameter's own limits are further apart


class Host(Protocol):
    """The one that has the state and is asked to move it."""

    @property
    def state(self) -> State:
        """The state that is asked for."""

    @property
    def waiting(self) -> bool:
        """Return whether the newest state has not been answered."""

    @property
    def curves(self) -> tuple[OrbitCurve, ...]:
        """The curves of the orbit so far."""

    def grant(self, wish: Wish) -> None:
        """Change the state as is asked."""


class Player(QObject):
    """Moves State.orbit's parameter while playing: round and round when it is periodic, else to and fro.

    It waits for each frame, so that a slow network plays slowly and nothing is skipped unseen. The whole play
    is one entry of the history. Values are multiples of the parameter's step: exact elements are met.
    """

    changed = Signal(object)  # whether it plays

    def __init__(self, host: Host, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._host = host
        self._timer = QTimer(self, interval=TICK_MS)
        self._timer.timeout.connect(self.tick)
        self._at = math.nan  # where the play is, between two values that are shown
        self._shown = math.nan
        self._forward = 1.0
        self.speed = 1.0

    @property
    def playing(self) -> bool:
        return self._timer.isActive()

    def toggle(self) -> None:
        self.stop() if self.playing else self.start()

    def start(self) -> None:
        transform = transforms().get(self._host.state.orbit)
        if not self.playing and transform is not None and transform.orbit is not None:
            self._shown = math.nan
            self._timer.start()
            self.changed.emit(True)

    def stop(self) -> None:
        if self.playing:
            self._timer.stop()
            self._host.grant(Wish(done=True))
            self.changed.emit(False)

    def tick(self) -> None:
        """Go on by one step, unless the last one has not been shown yet."""
        if self._host.waiting:
            return
        state = self._host.state
        transform = transforms().get(state.orbit)
        if transform is None or transform.orbit is None:
            self.stop()
            return
        index, param = transform.orbit, transform.params[transform.orbit]
        step = state.step(state.orbit)
        values = list(step.values if step is not None else transform.defaults)
        if values[index] != self._shown:  # just begun, or somebody else has moved it
            self._at = values[index]
        low, high = self.span(param)
        values[index] = self._shown = self._next(param, low, high)
        self._host.grant(Wish(step=(state.orbit, tuple(values)), tag="play"))

    def span(self, param: Param) -> tuple[float, float]:
        """Return the ends of the family: those of the curve, if it is there."""
        for curve in self._host.curves:
            if len(curve.values) > 1 and not param.periodic:
                return float(curve.values.min()), float(curve.values.max())
        if param.periodic or param.maximum - param.minimum <= WIDEST:
            return param.minimum, param.maximum
        return max(param.minimum, param.default - WIDEST / 4), min(param.maximum, param.default + WIDEST / 4)

    def _next(self, param: Param, low: float, high: float) -> float:
        """Move on by the time of one tick; turn round at the ends of what is not periodic."""
        stride = (high - low) * TICK_MS / 1000 / ROUND_S * self.speed
        self._at += stride * (1.0 if param.periodic else self._forward)
        if not param.periodic and not low <= self._at <= high:
            self._forward = -1.0 if self._at > high else 1.0
            self._at = min(max(self._at, low), high)
        return param.clamp(round(self._at / param.step) * param.step if param.step else self._at)
