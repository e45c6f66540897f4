"""Pictures of large graphs, painted beside the window: a thread that lives as long as there is something to paint."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QEventLoop, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QImage, QPainter

from widgets.spaces.graph.drawing.geometry import Eye
from widgets.spaces.graph.drawing.ground import Ground
from widgets.spaces.graph.drawing.look import Panel
from widgets.spaces.graph.drawing.painting import paint_graph

Slot = tuple[int, str]  # row and side of a panel
OTHER = (-1, "")  # what is no picture


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A panel as it was painted: seen by that eye, larger than the panel by a margin, `size` in pixels of the window.

    `key` says what it shows; `coarse` that it was painted in haste.
    """

    key: object
    eye: Eye
    image: QImage
    size: tuple[float, float]
    coarse: bool


def painted(ground: Ground, panel: Panel, colour: str) -> QImage:
    """Return the picture of a panel on that colour; safe in any thread."""
    ratio = ground.ratio
    image = QImage(
        max(1, round(ground.width * ratio)), max(1, round(ground.height * ratio)), QImage.Format.Format_RGB32
    )
    image.setDevicePixelRatio(ratio)
    image.fill(QColor(colour))
    p = QPainter(image)
    try:
        paint_graph(p, ground, panel)
    finally:
        p.end()  # an image must not go while it is painted on
    return image


class Pictures(QObject):
    """Paints what it is asked for, of each panel only the newest; `ready` tells that one is in `kept`."""

    ready = Signal()
    made = Signal(object)  # what `make` was asked for

    _delivered = Signal(object)  # from the thread

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.kept: dict[Slot, Picture] = {}
        self.shared: dict[str, tuple[object, Any]] = {}  # pictures of the lines; the thread's own
        self.trouble = ""
        self._failed: dict[Slot, tuple[object, Eye | None]] = {}  # not to be tried again and again
        self._asked: dict[Slot, tuple[object, Eye | None]] = {}
        self._waiting: dict[Slot, Callable[[], Any]] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._epoch = 0
        self._delivered.connect(self._take, Qt.ConnectionType.QueuedConnection)

    @property
    def busy(self) -> bool:
        return bool(self._asked)

    def ask(self, slot: Slot, key: object, eye: Eye, make: Callable[[], Picture]) -> None:
        """Have a picture made, unless the same one is being made already."""
        if self._asked.get(slot) == (key, eye) or self._failed.get(slot) == (key, eye):
            return
        self._asked[slot] = (key, eye)
        self._queue(slot, make)

    def make(self, work: Callable[[], object]) -> None:
        """Have something else made, before all pictures, and told by `made`; of several the newest is enough."""
        self._asked[OTHER] = (work, None)
        self._queue(OTHER, lambda: (work, work()))

    def _queue(self, slot: Slot, make: Callable[[], Any]) -> None:
        with self._lock:
            self._waiting[slot] = make
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="graph pictures", daemon=True)
                self._thread.start()

    def forget(self) -> None:
        """Drop all pictures, and those on their way: they are of another graph."""
        with self._lock:
            self._epoch += 1
            self._waiting.clear()
        self._asked.clear()
        self.kept.clear()

    def settle(self, timeout: float = 60.0) -> None:
        """Run the event loop until nothing is being painted."""
        if not self.busy:
            return
        loop = QEventLoop()
        limit = QTimer(singleShot=True, interval=round(timeout * 1000))
        limit.timeout.connect(loop.quit)
        limit.start()
        asked = self.ready.connect(lambda: None if self.busy else loop.quit())
        loop.exec()
        self.ready.disconnect(asked)
        limit.stop()

    def close(self, timeout: float = 10.0) -> bool:
        """End the thread; return whether it ended in time."""
        self.forget()
        thread = self._thread
        if thread is not None:
            thread.join(timeout)
            return not thread.is_alive()
        return True

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._thread = None
                    return
                slot = OTHER if OTHER in self._waiting else next(iter(self._waiting))
                make, epoch = self._waiting.pop(slot), self._epoch
            try:
                found: object = make()
            except Exception as error:  # whatever it is, the window must say so and go on
                found = f"This picture could not be painted ({type(error).__name__}: {error})"
            try:
                self._delivered.emit((epoch, slot, found))
            except RuntimeError:
                return  # the window is gone, and with it the object whose signal this was

    def _take(self, found: tuple[int, Slot, Any]) -> None:
        epoch, slot, picture = found
        if epoch != self._epoch:
            return
        if isinstance(picture, str):
            self.trouble = picture
            if slot in self._asked:
                self._failed[slot] = self._asked.pop(slot)
        elif slot == OTHER:
            work, what = picture
            if self._asked.get(slot) == (work, None):
                del self._asked[slot]
            self.trouble = ""
            self.made.emit(what)
        else:
            self.trouble = ""
            self.kept[slot] = picture
            if self._asked.get(slot) == (picture.key, picture.eye):
                del self._asked[slot]
        self.ready.emit()
