"""Make the picture of rho(g) x on a thread of its own while a network takes its time over the answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from explorer.square.frame import Moved
from explorer.state.state import State

AFTER = 0.06  # seconds; what is answered sooner needs no picture before


class Mover:
    """Has one pending slot: the newest state wins, and what has been answered meanwhile is left out.

    Args:
        make: state -> its picture, or None where there is none yet; called on this thread.
        deliver: called with what was made.
    """

    def __init__(self, make: Callable[[State], Moved | None], deliver: Callable[[Moved], None]) -> None:
        self._make, self._deliver = make, deliver
        self._change = threading.Condition()
        self._wanted: State | None = None
        self._since = 0.0
        self._closing = False
        self._thread = threading.Thread(target=self._work, name="equiscope-mover", daemon=True)
        self._thread.start()

    def want(self, state: State) -> None:
        """Ask for the picture of a state, unless it is answered first."""
        with self._change:
            self._wanted, self._since = state, time.monotonic()
            self._change.notify()

    def answered(self, state: State) -> None:
        """Know that a state has its frame."""
        with self._change:
            if self._wanted == state:
                self._wanted = None

    def close(self) -> None:
        """End the thread, after the picture that it is at."""
        with self._change:
            self._closing = True
            self._change.notify()
        self._thread.join()

    def _work(self) -> None:
        while True:
            with self._change:
                while self._wanted is None and not self._closing:
                    self._change.wait()
                while self._wanted is not None and not self._closing:
                    left = self._since + AFTER - time.monotonic()
                    if left <= 0:
                        break
                    self._change.wait(left)
                if self._closing:
                    return
                state, self._wanted = self._wanted, None
            if state is None:
                continue
            try:
                made = self._make(state)
            except Exception:  # the answer itself says what is wrong
                continue
            if made is not None:
                self._deliver(made)
