"""A panel's tab is pulled out of its group with the mouse, and dropped elsewhere.

Qt's own grouped dragging would do that too, but the windows that it makes for groups end the program in plain drags
(Qt 6.11: a segmentation fault within 16 to 320 of them). Without it Qt drags panels by their titles, but leaves tabs in
their groups. Nor do panels slide to their places: what changes or goes meanwhile ends as badly.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QSize, Qt, QTimer
from PySide6.QtGui import QCursor, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QDockWidget, QFrame, QTabBar, QWidget

from widgets.base.look import theme

# of a panel that floats: one from below the stage is as wide as the window
SMALLEST, WIDEST = QSize(320, 240), QSize(720, 900)
AWAY = 3  # times the distance at which a drag begins: so far from the bar, its tabs are no longer put in order


class Panel(QDockWidget):
    """A panel that has an outline while it floats: Qt draws none round one with a title of its own."""

    def __init__(self, title: str, parent: QWidget) -> None:
        super().__init__(title, parent)
        self._outline = QFrame(self)
        self._outline.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._outline.hide()
        self.topLevelChanged.connect(self._floated)

    def _floated(self, floating: bool) -> None:
        self._outline.setStyleSheet(f"border: 1px solid {theme.current().edge}; background: transparent;")
        self._outline.setVisible(floating)
        self._outline.raise_()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._outline.setGeometry(self.rect())


class PulledTabs(QObject):
    """Watches bars of tabs; a tab that is dragged away from its bar becomes a floating panel that Qt drags on."""

    def __init__(self, parent: QObject, dock_at: Callable[[QTabBar, int], QDockWidget | None]) -> None:
        """Take what says which panel a tab stands for."""
        super().__init__(parent)
        self._dock_at = dock_at
        self._pressed: QTabBar | None = None
        self._held = False  # still, between the decision to pull and the drag

    def watch(self, bar: QTabBar) -> None:
        """Let the tabs of a bar be pulled out from now on."""
        bar.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QMouseEvent) or not isinstance(watched, QTabBar):
            return False
        at, left = event.position().toPoint(), Qt.MouseButton.LeftButton
        match event.type():
            case QEvent.Type.MouseButtonPress:
                self._pressed = watched if event.button() == left and watched.tabAt(at) >= 0 else None
            case QEvent.Type.MouseButtonRelease:
                self._pressed, self._held = None, False
            case QEvent.Type.MouseMove if self._pressed is watched:
                far = AWAY * (QApplication.startDragDistance() + 1)
                if event.buttons() & left and not watched.rect().adjusted(-far, -far, far, far).contains(at):
                    # the one in front: putting tabs in order may have moved what was pressed
                    dock = self._dock_at(watched, watched.currentIndex())
                    self._pressed = None
                    if dock is not None:
                        self._held = True
                        # once the bar is through with this event: it may go with the panel
                        QTimer.singleShot(0, dock, partial(self._pull, watched, dock))
                        return True
        return False

    def _pull(self, bar: QTabBar, dock: QDockWidget) -> None:
        """Float a panel with its title below the pointer, and hand the drag over to Qt."""
        held, pointer = self._held, QCursor.pos()
        _send(bar, QEvent.Type.MouseButtonRelease, bar.mapFromGlobal(pointer), pointer)  # the bar's own drag ends
        float_out(dock)
        title = dock.titleBarWidget()
        high = max(title.sizeHint().height() if title is not None else 0, 2)
        hold = QPoint(min(60, dock.width() // 4), high // 2)
        dock.move(pointer - hold)
        if held:
            _drag_on(dock, hold, pointer)


def float_out(dock: QDockWidget) -> None:
    """Float a panel over the window, as large as can be read: one behind another tab may never have been laid out."""
    size, behind = dock.size().boundedTo(WIDEST).expandedTo(SMALLEST), dock.visibleRegion().isEmpty()
    if behind:
        dock.raise_()  # Qt does not say of what floats that it is seen, if it was behind before
    dock.setFloating(True)
    dock.resize(size)
    if behind and (window := dock.parentWidget()) is not None:
        dock.move(window.geometry().center() - dock.rect().center())


def dragged() -> QDockWidget | None:
    """Return the panel that is being dragged."""
    held = QWidget.mouseGrabber()
    return held if isinstance(held, QDockWidget) else None


def let_go() -> None:
    """Drop the panel that is being dragged, if one is: a window that goes or is laid out anew meanwhile crashes Qt."""
    pointer = QCursor.pos()
    if (held := dragged()) is not None:
        _send(held, QEvent.Type.MouseButtonRelease, held.mapFromGlobal(pointer), pointer)


def _drag_on(dock: QDockWidget, hold: QPoint, pointer: QPoint) -> None:
    """Let Qt drag a floating panel from now on, as if its title had been pressed."""
    begin = QPoint(QApplication.startDragDistance() + 1, 0)
    _send(dock, QEvent.Type.MouseButtonPress, hold, pointer)
    _send(dock, QEvent.Type.MouseMove, hold + begin, pointer + begin)


def _send(to: QTabBar | QDockWidget, kind: QEvent.Type, at: QPoint, pointer: QPoint) -> None:
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    held = none if kind == QEvent.Type.MouseButtonRelease else left
    changed = none if kind == QEvent.Type.MouseMove else left
    event = QMouseEvent(kind, QPointF(at), QPointF(pointer), changed, held, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(to, event)
