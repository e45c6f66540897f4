"""Know which frame was delivered last: it may be on its way while the window still draws one before it."""

from __future__ import annotations

from collections.abc import Callable

from explorer.square.frame import Frame


class Newest:
    """Hands messages on from the worker's thread, and remembers the newest frame among them."""

    def __init__(self, deliver: Callable[[object], None]) -> None:
        self._deliver = deliver
        self._frame: Frame | None = None

    def __call__(self, message: object) -> None:
        if isinstance(message, Frame):
            self._frame = message
        self._deliver(message)

    def overtakes(self, frame: Frame) -> bool:
        """Return whether the same frame with more of it measured follows: that has all that this one has."""
        newest = self._frame
        if newest is None or newest is frame or newest.serial != frame.serial:
            return False
        return newest.state == frame.state
