"""Know for how long what is shown has not been what was asked for."""

from __future__ import annotations

import time
from collections import OrderedDict

from PySide6.QtCore import QObject, QTimer, Signal

from explorer.square.frame import Frame
from explorer.state.state import State
from widgets.base.frame_view import SELECTED
from widgets.base.view import Wish
from widgets.window.controller import Controller

AFTER_S = 0.2  # until then a drag would flicker
TICK_MS = 100
MOST = 500  # states that a drag may be behind
OF_PLACES = ("model", "params", "sample")  # what decides which places there are
OF_LAYER = ("channel", "pixel")  # what is chosen in the maps of one layer


class Staleness(QObject):
    """Compares the frame with the state: a frame is as stale as it is long since its state was left."""

    changed = Signal(str)  # "computing, 3 s", "not computed", or "" when what is shown is what was asked for

    def __init__(self, controller: Controller) -> None:
        super().__init__(controller)
        self._controller = controller
        self._left: OrderedDict[State, float] = OrderedDict()
        self.text = ""
        self._timer = QTimer(self, interval=TICK_MS)
        self._timer.timeout.connect(self.look)
        controller.state_changed.connect(self._moved_on)
        controller.frame_ready.connect(self._framed)

    def _moved_on(self, old: State, new: State) -> None:
        self._left[old] = time.monotonic()
        self._left.pop(new, None)
        while len(self._left) > MOST:
            self._left.popitem(last=False)
        self._timer.start()  # whether it is asked for is known after this

    def _framed(self, frame: Frame) -> None:
        self.look()

    @property
    def seconds(self) -> float:
        """Return for how long the frame has not been that of the state; 0 where it is."""
        frame, state = self._controller.frame, self._controller.state
        if frame is None or frame.state == state:
            return 0.0
        # one so old that nobody knows is as old as the oldest that is known
        left = self._left.get(frame.state, next(iter(self._left.values()), time.monotonic()))
        return time.monotonic() - left

    @property
    def of_another(self) -> bool:
        """Say whether the figures of the frame have been those of another element, or of other data, for a while."""
        frame, state = self._controller.frame, self._controller.state
        if not self.text or frame is None:
            return False
        return frame.state.steps != state.steps or frame.state.epoch != state.epoch

    def misses(self, wish: Wish) -> bool:
        """Say whether a wish chooses a place in what is not shown yet: it was seen in other data or another layer."""
        frame, state, changes = self._controller.frame, self._controller.state, wish.changes
        chosen = [name for name in SELECTED if changes.get(name) is not None]
        if frame is None or not chosen or "sample" in changes or "model" in changes:
            return False
        if any(getattr(frame.state, name) != getattr(state, name) for name in OF_PLACES):
            return True
        return "layer" not in changes and frame.state.layer != state.layer and any(n in OF_LAYER for n in chosen)

    def look(self) -> None:
        """Say whether something has changed."""
        frame, seconds = self._controller.frame, self.seconds
        if frame is None or frame.state == self._controller.state:
            self._timer.stop()
            text = ""
        elif seconds < AFTER_S:
            text = ""
        else:
            text = f"computing, {int(seconds)} s" if self._controller.waiting else "not computed"
        if text != self.text:
            self.text = text
            self.changed.emit(text)
