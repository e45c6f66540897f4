"""Show large data that were read while what is made of them is computed."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QStackedWidget, QWidget

from explorer.square.frame import Glimpse
from explorer.state.catalogue import Busy
from widgets.window.controller import Controller
from widgets.window.room.waiting import LoadingPage

AFTER_MS = 500  # the answer to most data is there by then


class Glimpses(QObject):
    """Turns the middle of the window to the page that waits, with a picture of the data, and back.

    Args:
        stack: has the page and the `shown` views.
    """

    def __init__(self, controller: Controller, stack: QStackedWidget, page: LoadingPage, shown: QWidget) -> None:
        super().__init__(stack)
        self._controller, self._stack, self._page, self._shown = controller, stack, page, shown
        self._glimpse: Glimpse | None = None
        self._soon = QTimer(self, interval=AFTER_MS, singleShot=True)
        self._soon.timeout.connect(self._show)
        controller.delivered.connect(self._take, Qt.ConnectionType.QueuedConnection)
        controller.busy.connect(self._busy)
        controller.frame_ready.connect(lambda _: self.end())
        controller.failed.connect(lambda _: self.end())

    def end(self) -> None:
        """Go back to the views, where there is anything on them."""
        self._soon.stop()
        if self._glimpse is None:
            return
        self._glimpse = None
        self._page.show_glimpse(None)
        if self._controller.frame is not None:
            self._stack.setCurrentWidget(self._shown)

    def _take(self, message: object) -> None:
        if isinstance(message, Glimpse):
            self._glimpse = message
            if self._stack.currentWidget() is self._page:
                self._page.show_glimpse(message)
            else:
                self._soon.start()

    def _show(self) -> None:
        if self._glimpse is not None:
            self._page.show_glimpse(self._glimpse)
            self._stack.setCurrentWidget(self._page)

    def _busy(self, busy: Busy) -> None:
        if self._glimpse is None:
            return
        if busy.text:
            self._page.say(busy.text, busy.fraction)
        else:  # what was read for one request is often waited for in the next one, which comes in this turn
            QTimer.singleShot(0, self, self._look)

    def _look(self) -> None:
        if not self._controller.waiting:
            self.end()
