"""Notice that files were saved, in whatever way an editor does it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from explorer.declare.states.model_name import LIVE
from explorer.work.files.stamps import stamp

TICK_MS = 150


class FileWatch(QObject):
    """Compares the files that a frame was made of with those on the disk.

    It looks at their times and sizes instead of waiting for events of the file system: editors save by renaming,
    network drives send no events, and a look takes microseconds. A file is reported when it was the same at two looks,
    so that several saves, and one that takes a while, are reported once. One that is gone may be about to come back.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._used: dict[str, object] = {}  # as the frame was made of them
        self._seen: dict[str, object] = {}  # at the last look
        self._reported: dict[str, object] = {}
        self.timer = QTimer(self, interval=TICK_MS)
        self.timer.timeout.connect(self.look)

    @property
    def files(self) -> tuple[str, ...]:
        """The files that are watched."""
        return tuple(self._used)

    def watch(self, files: Iterable[tuple[str, object]]) -> None:
        """Watch these files, with their stamps when they were used, and no others."""
        # of a network that is learning its page tells
        self._used = {path: mark for path, mark in files if Path(path).name != LIVE}
        self._reported = {path: mark for path, mark in self._reported.items() if path in self._used}
        if self._used and not self.timer.isActive():
            self.timer.start()
        elif not self._used:
            self.timer.stop()

    def stop(self) -> None:
        self.watch(())

    def look(self) -> None:
        """Look at the files once."""
        before, self._seen = self._seen, {path: stamp(path) for path in self._used}
        fresh = {p: now for p, now in self._seen.items() if now is not None and now != self._used[p]}
        settled = all(before.get(path) == now for path, now in fresh.items())
        if settled and any(self._reported.get(path) != now for path, now in fresh.items()):
            self._reported.update(fresh)
            self.changed.emit()
