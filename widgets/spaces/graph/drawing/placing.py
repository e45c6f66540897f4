"""Layouts beside the window: one thread at a time finds places for nodes, and is ended when the view closes."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEventLoop, QObject, Qt, QTimer, Signal

from explorer.spaces.graph.drawing.layout.packing import disc
from explorer.spaces.graph.drawing.layout.springs import communities, layout_steps
from explorer.spaces.graph.drawing.values import Structure

KEPT = 12  # layouts remembered
LARGE = 20_000  # nodes from which rough places are shown rarely
GROUPED = 30_000  # nodes up to which communities are looked for


@lru_cache(maxsize=4)
def place_key(structure: Structure) -> str:
    """Return a name of the structure and of the places that come with it: clouds of equal size have the same edges."""
    if structure.positions is None:
        return structure.key
    return structure.key + hashlib.blake2b(structure.positions.tobytes(), digest_size=8).hexdigest()


class Placing(QObject):
    """Places of the nodes by `place_key`. What is known is returned at once; the rest comes by `placed`."""

    placed = Signal(str)  # key: places (first rough ones, then better), or communities

    _delivered = Signal(object)  # from the thread

    def __init__(self, parent: QObject | None = None, seconds: float = 6.0) -> None:
        super().__init__(parent)
        self.seconds = seconds
        self._kept: OrderedDict[str, NDArray[Any]] = OrderedDict()
        self._groups: dict[str, NDArray[Any]] = {}
        self._moved: dict[str, dict[int, tuple[float, float]]] = {}
        self.failed: dict[str, str] = {}  # by key, why there are no better places than a disc
        self._ending: list[threading.Thread] = []
        self.worker: threading.Thread | None = None
        self._stop = threading.Event()
        self.running = ""  # key of the structure that is being laid out
        self._delivered.connect(self._take, Qt.ConnectionType.QueuedConnection)

    def places(self, structure: Structure) -> NDArray[Any] | None:
        """Return (N, 2) places with the pinned nodes where they were put; None while there are none yet."""
        key = place_key(structure)
        found = self._kept.get(key)
        if found is None or len(found) != structure.nodes:
            self._start(structure, key)
            return None
        if pins := self._moved.get(key):
            found = found.copy()
            found[list(pins)] = list(pins.values())
        return found

    def groups(self, structure: Structure) -> NDArray[Any] | None:
        return self._groups.get(place_key(structure))

    def pinned(self, structure: Structure) -> tuple[int, ...]:
        return tuple(self._moved.get(place_key(structure), ()))

    def pin(self, structure: Structure, node: int, place: tuple[float, float]) -> None:
        self._moved.setdefault(place_key(structure), {})[node] = place

    def unpin(self, structure: Structure, node: int) -> bool:
        """Let a node go back to where the layout has it; return whether it was pinned."""
        return self._moved.get(place_key(structure), {}).pop(node, None) is not None

    def close(self, timeout: float = 10.0) -> bool:
        """End the threads; return whether they ended in time."""
        self._abandon()
        due = time.monotonic() + timeout
        for thread in self._ending:
            thread.join(max(0.0, due - time.monotonic()))
        self._ending = [thread for thread in self._ending if thread.is_alive()]
        return not self._ending

    def _abandon(self) -> None:
        """Tell the thread to stop, without waiting for it."""
        self._stop.set()
        thread, self.worker, self.running = self.worker, None, ""
        self._ending = [one for one in (*self._ending, thread) if one is not None and one.is_alive()]

    def settle(self, timeout: float = 60.0) -> None:
        """Run the event loop until nothing is laid out any more."""
        loop = QEventLoop()
        limit = QTimer(singleShot=True, interval=round(timeout * 1000))
        limit.timeout.connect(loop.quit)
        limit.start()
        asked = self.placed.connect(lambda _: None if self.running else loop.quit())
        if self.running:
            loop.exec()
        self.placed.disconnect(asked)
        limit.stop()

    # the thread -------------------------------------------------------------------------------------------------
    def _start(self, structure: Structure, key: str) -> None:
        if self.running == key:
            return
        self._abandon()
        self._stop, self.running = threading.Event(), key
        arguments = (structure, key, self._stop, self.seconds, self._delivered.emit)
        self.worker = threading.Thread(target=_work, args=arguments, name="graph layout", daemon=True)
        self.worker.start()

    def _take(self, found: tuple[threading.Event, str, str, Any]) -> None:
        stop, key, kind, values = found
        if stop is not self._stop or stop.is_set():
            return
        if kind == "groups":
            self._groups[key] = values
        elif kind == "failed":
            self.failed[key] = str(values)
        else:
            self._kept[key] = values
            self._kept.move_to_end(key)
        if kind == "done":
            self.running = ""
        while len(self._kept) > KEPT:
            old, _ = self._kept.popitem(last=False)
            self._groups.pop(old, None)
            self._moved.pop(old, None)
            self.failed.pop(old, None)
        self.placed.emit(key)


def _work(structure: Structure, key: str, stop: threading.Event, seconds: float, tell: Any) -> None:
    edges, nodes = structure.edges, structure.nodes
    places, due = np.zeros((nodes, 2), np.float32), 0.0
    try:
        try:
            for places in layout_steps(edges, nodes, 0, structure.positions, seconds, structure.graph_of):
                if stop.is_set():
                    return
                if time.monotonic() >= due:
                    tell((stop, key, "rough", places))
                    due = time.monotonic() + (1.5 if nodes > LARGE else 0.3)  # painting takes time that layout needs
            if len(places) != nodes or not np.isfinite(places).all():
                raise ArithmeticError("some places are not numbers")
        except Exception as error:  # whatever goes wrong, the graph is shown, and it is said how
            tell((stop, key, "failed", f"{type(error).__name__}: {error}"))
            places = disc(nodes)
        tell((stop, key, "done", places))
        if nodes <= GROUPED and edges.shape[1]:
            tell((stop, key, "groups", communities(edges, nodes)))
    except RuntimeError:
        return  # the window is gone, and with it the object whose signal this was
