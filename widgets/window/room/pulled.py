"""A panel's tab is pulled out of its group with the mouse, and dropped elsewhere.

Qt's own grouped dragging would do that too, but the windows that it makes for groups end the program in plain drags
(Qt 6.11: a segmentation fault within 16 to 320 drags, with animations or without). Without it Qt drags panels by their
titles, but leaves tabs in their groups.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QCursor, QGuiApplication, QMouseEvent
from PySide6.QtWidgets import QApplication, QDockWidget, QTabBar

AWAY = 3  # times the distance at which a drag begins: so far from the bar, its tabs are no longer put in order


class PulledTabs(QObject):
    """Watches bars of tabs; a tab that is dragged away from its bar becomes a floating panel that Qt drags on."""

    def __init__(self, parent: QObject, dock_at: Callable[[QTabBar, int], QDockWidget | None]) -> None:
        """Take what says which panel a tab stands for."""
        super().__init__(parent)
        self._dock_at = dock_at
        self._pressed: tuple[QTabBar, int] | None = None

    def watch(self, bar: QTabBar) -> None:
        """Let the tabs of a bar be pulled out from now on."""
        bar.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QMouseEvent) or not isinstance(watched, QTabBar):
            return False
        at, left = event.position().toPoint(), Qt.MouseButton.LeftButton
        match event.type():
            case QEvent.Type.MouseButtonPress:
                index = watched.tabAt(at)
                self._pressed = (watched, index) if event.button() == left and index >= 0 else None
            case QEvent.Type.MouseButtonRelease:
                self._pressed = None
            case QEvent.Type.MouseMove if self._pressed is not None and self._pressed[0] is watched:
                far = AWAY * (QApplication.startDragDistance() + 1)
                if event.buttons() & left and not watched.rect().adjusted(-far, -far, far, far).contains(at):
                    # the one in front: putting tabs in order may have moved what was pressed
                    dock = self._dock_at(watched, watched.currentIndex())
                    self._pressed = None
                    if dock is not None:
                        # once the bar is through with this event: it may go with the panel
                        QTimer.singleShot(0, dock, partial(_pull, watched, dock))
                        return True
        return False


def _pull(bar: QTabBar, dock: QDockWidget) -> None:
    """Float a panel with its title below the pointer, and hand the drag over to Qt."""
    pointer = QCursor.pos()
    _send(bar, QEvent.Type.MouseButtonRelease, bar.mapFromGlobal(pointer), pointer)  # the bar's own drag ends
    size = dock.size()
    dock.setFloating(True)
    dock.resize(size)
    title = dock.titleBarWidget()
    high = max(title.sizeHint().height() if title is not None else 0, 2)
    hold = QPoint(min(60, dock.width() // 4), high // 2)
    dock.move(pointer - hold)
    if not QGuiApplication.mouseButtons() & Qt.MouseButton.LeftButton:
        return  # let go of meanwhile
    begin = QPoint(QApplication.startDragDistance() + 1, 0)
    _send(dock, QEvent.Type.MouseButtonPress, hold, pointer)
    _send(dock, QEvent.Type.MouseMove, hold + begin, pointer + begin)


def _send(to: QTabBar | QDockWidget, kind: QEvent.Type, at: QPoint, pointer: QPoint) -> None:
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    held = none if kind == QEvent.Type.MouseButtonRelease else left
    changed = none if kind == QEvent.Type.MouseMove else left
    event = QMouseEvent(kind, QPointF(at), QPointF(pointer), changed, held, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(to, event)
