"""A bar of progress that waits for its turn to be painted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtWidgets import QProgressBar


class Progress(QProgressBar):
    """Qt's own paints itself at once, and with it all of the window that waits to be painted.

    A scene tells its view only after the turn of the event loop what has moved in it. Painted before that, items forget
    where they were, and that stays on the screen.
    """

    def setValue(self, value: int) -> None:
        with self._later():
            super().setValue(value)

    def setRange(self, minimum: int, maximum: int) -> None:
        with self._later():
            super().setRange(minimum, maximum)

    @contextmanager
    def _later(self) -> Iterator[None]:
        self.setUpdatesEnabled(False)
        try:
            yield
        finally:
            self.setUpdatesEnabled(True)  # and asks for a paint
