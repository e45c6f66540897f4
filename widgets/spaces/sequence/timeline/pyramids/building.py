"""Pyramids built beside the window, one after another, on one thread that ends with its view."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

from numpy.typing import NDArray
from PySide6.QtCore import QCoreApplication, QEventLoop, QObject, Qt, QTimer, Signal

from widgets.spaces.sequence.timeline.pyramids.pyramid import AT_ONCE, Pyramid

KEPT = 64  # pyramids remembered: all rows of two models, before and after


class Building(QObject):
    """Hands out the pyramid of an array, the same one for the same array, and builds what is not ready."""

    grown = Signal(float)  # the fraction of all that is asked for, 1.0 when nothing is left to build

    _stepped = Signal(object)  # from the thread

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._kept: OrderedDict[int, tuple[NDArray[Any], Pyramid]] = OrderedDict()
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._stepped.connect(self._tell, Qt.ConnectionType.QueuedConnection)

    def pyramid(self, values: NDArray[Any]) -> Pyramid:
        """Return the pyramid of these values; one that is not ready is built from now on."""
        found = self._kept.get(id(values))
        if found is None or found[0] is not values:
            found = (values, Pyramid(values))
            self._kept[id(values)] = found
        self._kept.move_to_end(id(values))
        if not found[1].ready:
            self._start()
        return found[1]

    def keep_only(self, wanted: set[int]) -> None:
        """Forget arrays (by id) that are shown no more, once there are many: they may be large."""
        for key in [key for key in self._kept if key not in wanted]:
            large = self._kept[key][0].nbytes > 50e6
            if large or len(self._kept) > KEPT:
                del self._kept[key]

    @property
    def running(self) -> bool:
        return any(not pyramid.ready for _, pyramid in self._kept.values())

    @property
    def done(self) -> float:
        """The fraction of the waiting pyramids that is built."""
        sizes = [(p.values.size, p.done) for _, p in self._kept.values() if p.values.size > AT_ONCE]
        return sum(n * d for n, d in sizes) / sum(n for n, _ in sizes) if sizes else 1.0

    def close(self, timeout: float = 10.0) -> None:
        self._stop.set()
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join(timeout)

    def settle(self, timeout: float = 60.0) -> None:
        """Run the event loop until all is built."""
        loop = QEventLoop()
        limit = QTimer(singleShot=True, interval=round(timeout * 1000))
        limit.timeout.connect(loop.quit)
        asked = self.grown.connect(lambda _: None if self.running else loop.quit())
        limit.start()
        if self.running:
            loop.exec()
        if self._thread is not None and not self.running:
            self._thread.join(timeout)  # it may have built the last one, and not have said so yet
            QCoreApplication.sendPostedEvents(self)
        self.grown.disconnect(asked)
        limit.stop()

    def _start(self) -> None:
        if self._thread is not None and self._thread.is_alive():
            return
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._work, args=(self._stop, self._stepped.emit), name="time pyramids", daemon=True
        )
        self._thread.start()

    def _work(self, stop: threading.Event, emit: Any) -> None:
        while not stop.is_set():
            waiting = [p for _, p in list(self._kept.values()) if not p.ready]
            if not waiting:
                break
            for done in waiting[0].build():
                if stop.is_set():
                    return
                waiting[0].done = done
                emit(stop)

    def _tell(self, stop: threading.Event) -> None:
        if stop is not self._stop or stop.is_set():
            return
        if self.running and (self._thread is None or not self._thread.is_alive()):
            self._start()  # one was asked for just as the thread was leaving
        self.grown.emit(1.0 if not self.running else self.done)
