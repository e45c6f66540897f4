"""Let files be dropped anywhere on a window: fields of text and scenes would take them for themselves."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QWindow
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid


def files_in(data: QMimeData) -> list[str]:
    """Return the paths of the files that are dragged."""
    return [url.toLocalFile() for url in data.urls() if url.isLocalFile()]


def named(paths: list[str]) -> str:
    """Return what is dragged in a few words."""
    return Path(paths[0]).name if len(paths) == 1 else f"{len(paths)} files"


def taken(event: QDropEvent) -> None:
    """Take files as copies: whoever drags them may delete what is said to be moved, and files stay where they are."""
    event.setDropAction(Qt.DropAction.CopyAction)
    event.accept()


class Drops(QObject):
    """While files are dragged over a window, nothing within it takes them, so that all of them reach the window."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._handle: QWindow | None = None
        self._passed_over: list[QWidget] = []

    def watch(self) -> None:
        """Begin, once the window is shown."""
        handle = self._window.windowHandle()
        if handle is not None and handle is not self._handle:
            self._handle = handle
            handle.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        match event.type():
            case QEvent.Type.DragEnter if isinstance(event, QDragEnterEvent) and files_in(event.mimeData()):
                self._put_back()
                self._passed_over = [w for w in self._window.findChildren(QWidget) if w.acceptDrops()]
                for widget in self._passed_over:
                    widget.setAcceptDrops(False)
            case QEvent.Type.DragLeave | QEvent.Type.Drop:
                QTimer.singleShot(0, self, self._put_back)  # once the window has had it
        return False

    def _put_back(self) -> None:
        for widget in self._passed_over:
            if isValid(widget):
                widget.setAcceptDrops(True)
        self._passed_over = []
