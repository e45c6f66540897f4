"""Give the panels below the stage their height back once a message above it has gone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabBar, QWidget


class Squeezed(QObject):
    """Remembers how high the panels were before the stage needed their room; a person's own drag is final.

    Qt takes from the panels what the stage with its bars needs at least, and leaves it at that for good.
    """

    def __init__(self, window: QMainWindow, stage: QWidget, below: Callable[[], Sequence[QDockWidget]]) -> None:
        super().__init__(window)
        self._window, self._below, self._stage = window, below, stage
        self.owed = 0  # pixels of height that the panels had
        self._lost = 0  # the same, while it is not known yet who has taken them
        self._needed = False  # whether the stage did
        self._high = window.height()
        self._look = QTimer(self, singleShot=True, interval=0)
        self._look.timeout.connect(self._settle)
        for watched in (*below(), self._stage):
            watched.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest and self.owed:
            self._look.start()
        elif event.type() == QEvent.Type.Resize:
            assert isinstance(event, QResizeEvent)
            before, now = event.oldSize().height(), event.size().height()
            if watched is self._stage:
                self._needed |= before < self._stage.minimumSizeHint().height()
                self._look.start()  # it is forgotten with this turn of the loop
            elif isinstance(watched, QDockWidget):
                self._resized(watched, before, now)
        return False

    def _resized(self, dock: QDockWidget, before: int, now: int) -> None:
        grown, self._high = self._window.height() - self._high, self._window.height()
        if grown < 0 or QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton:
            self.owed = self._lost = 0  # a person's own wish
        elif 0 < now < before and not dock.isFloating():
            self._lost = max(self._lost, before)
            self._look.start()

    def _settle(self) -> None:
        """Judge what was lost, and give back what there is room for."""
        if self._lost:
            # where the stage did not need it, a layout was chosen
            self.owed = max(self.owed, self._lost) if self._needed else 0
        self._lost, self._needed = 0, False
        docks = [d for d in self._below() if not (d.isHidden() or d.isFloating() or d.visibleRegion().isEmpty())]
        room = self._stage.height() - self._stage.minimumSizeHint().height()
        if not self.owed or not docks or room <= 0:
            return
        now = max(dock.height() for dock in docks)
        high = min(self.owed, now + room)
        if high == self.owed:
            self.owed = 0
        if high > now:
            # what is asked for holds the tabs of a group too
            asked = high + max((bar.height() for bar in self._tabs() if bar.isVisible()), default=0)
            self._window.resizeDocks(docks, [asked] * len(docks), Qt.Orientation.Vertical)

    def _tabs(self) -> list[QTabBar]:
        return self._window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)
