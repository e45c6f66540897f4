"""A mouse for scenes: real events to the viewport of a graphics view, with modifiers, without waiting."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QGraphicsItem, QGraphicsView, QWidget

LEFT, MIDDLE, NONE = Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton, Qt.MouseButton.NoButton
PLAIN = Qt.KeyboardModifier.NoModifier


class Mouse:
    """Points are in the scene's coordinates, or in an item's where one is given."""

    def __init__(self, view: QGraphicsView) -> None:
        self.view = view
        self.down = NONE

    def at(self, item: QGraphicsItem, point: QPointF) -> QPointF:
        return item.mapToScene(point)

    def _send(self, kind: QEvent.Type, point: QPointF, button: Qt.MouseButton, keys: Qt.KeyboardModifier) -> None:
        port = self.view.viewport()
        here = QPointF(self.view.mapFromScene(point))
        QApplication.sendEvent(port, QMouseEvent(kind, here, QPointF(port.mapToGlobal(here)), button, self.down, keys))

    def press(self, point: QPointF, keys: Qt.KeyboardModifier = PLAIN, button: Qt.MouseButton = LEFT) -> None:
        self.down = button
        self._send(QEvent.Type.MouseButtonPress, point, button, keys)

    def move(self, point: QPointF, keys: Qt.KeyboardModifier = PLAIN) -> None:
        self._send(QEvent.Type.MouseMove, point, NONE, keys)

    def release(self, point: QPointF, keys: Qt.KeyboardModifier = PLAIN) -> None:
        button, self.down = self.down, NONE
        self._send(QEvent.Type.MouseButtonRelease, point, button, keys)

    def click(self, point: QPointF) -> None:
        self.move(point)
        self.press(point)
        self.release(point)

    def double_click(self, point: QPointF) -> None:
        self.click(point)
        self.down = LEFT
        self._send(QEvent.Type.MouseButtonDblClick, point, LEFT, PLAIN)
        self.release(point)

    def drag(
        self, start: QPointF, *points: QPointF, keys: Qt.KeyboardModifier = PLAIN, button: Qt.MouseButton = LEFT
    ) -> None:
        """Press at `start`, move through the points, release at the last one."""
        self.move(start, keys)
        self.press(start, keys, button)
        for point in points:
            self.move(point, keys)
        self.release(points[-1], keys)

    def wheel(self, point: QPointF, notches: float, keys: Qt.KeyboardModifier = PLAIN) -> None:
        port = self.view.viewport()
        here = QPointF(self.view.mapFromScene(point))
        turn = QPoint(0, round(120 * notches))
        QApplication.sendEvent(
            port,
            QWheelEvent(
                here,
                QPointF(port.mapToGlobal(here)),
                QPoint(),
                turn,
                NONE,
                keys,
                Qt.ScrollPhase.NoScrollPhase,
                False,
            ),
        )


def move(
    widget: QWidget,
    at: QPoint | QPointF,
    held: Qt.MouseButton = NONE,
    keys: Qt.KeyboardModifier = PLAIN,
) -> None:
    """Move the mouse there at once, a button held or not.

    Qt's own test function moves the pointer of the display, which answers when it has time.
    """
    widget.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)
    _send(widget, QEvent.Type.MouseMove, at, NONE, held, keys)


def press(widget: QWidget, at: QPoint | QPointF) -> None:
    """Press the left button; Qt's own test function leaves it pressed for the whole application until it lets go."""
    _send(widget, QEvent.Type.MouseButtonPress, at, LEFT, LEFT)


def release(widget: QWidget, at: QPoint | QPointF) -> None:
    """Let go of the left button."""
    _send(widget, QEvent.Type.MouseButtonRelease, at, LEFT, NONE)


def _send(
    widget: QWidget,
    kind: QEvent.Type,
    at: QPoint | QPointF,
    button: Qt.MouseButton,
    held: Qt.MouseButton,
    keys: Qt.KeyboardModifier = PLAIN,
) -> None:
    here = QPointF(at)
    QApplication.sendEvent(widget, QMouseEvent(kind, here, QPointF(widget.mapToGlobal(here)), button, held, keys))


def double_click(widget: QWidget, at: QPoint | None = None) -> None:
    """Double-click as a hand does: Qt's own test function never lets go of the button, and Qt remembers that."""
    QTest.mouseDClick(widget, LEFT, pos=at or widget.rect().center())
    QTest.mouseRelease(widget, LEFT, pos=at or widget.rect().center())
