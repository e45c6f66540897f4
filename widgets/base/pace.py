"""Hands a frame to the views one after another, so that no turn of the event loop is long."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from explorer.square.frame import Frame
from widgets.base.view import View


class Pace(QObject):
    """The view that the hand is in shows a frame at once and is painted; the others follow, each in a turn of its own.

    What waits is the view, not the frame: by its turn it shows the newest, and frames between are left out there.
    A click is answered between two turns.
    """

    def __init__(self, show: Callable[[View], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._show = show
        self._queue: list[View] = []
        self._fresh = False  # whether a view has just been drawn at once, which is yet to be painted
        self._timer = QTimer(self, singleShot=True, interval=0)
        self._timer.timeout.connect(self._turn)

    def give(self, view: View, frame: Frame, at_once: bool) -> None:
        """Let a view show a frame, `at_once` or soon; one that is hidden waits until it is seen."""
        if at_once or not view.isVisible():
            view.set_frame(frame)
            self._fresh = self._fresh or view.isVisible()
            return
        view.keep_frame(frame)
        if view not in self._queue:  # one that waits already keeps its place
            self._queue.append(view)
        self._timer.start()

    def _turn(self) -> None:
        if self._fresh:  # this turn belongs to the view in use: the others begin with the next
            self._fresh = False
            if self._queue:
                self._timer.start()
        elif self._queue:
            view = self._queue.pop(0)
            if self._queue:
                self._timer.start()
            self._show(view)
