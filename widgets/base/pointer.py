"""The place under the mouse, shared by the views of one window: a step of a sequence, a vertex of a mesh."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, QObject, QPointF, Qt, Signal
from PySide6.QtGui import QCursor, QMouseEvent
from PySide6.QtWidgets import QApplication, QWidget


class Pointer(QObject):
    """The pointer of one view; linked with others, all of them move together."""

    moved = Signal(object)  # a place of x (int), or None
    chosen = Signal(object)  # the feature that colours mean


class Pointers(QObject):
    """Links the pointers of a window: what one of them says is said by all that point at the same kind of place."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._linked: dict[str, list[Pointer]] = {}
        self._telling = False

    def link(self, kind: str, *pointers: Pointer) -> None:
        """Let pointers move together with those of the same kind ("step", "vertex") that are linked already."""
        for pointer in pointers:
            for signal in ("moved", "chosen"):
                getattr(pointer, signal).connect(partial(self._tell, kind, signal, pointer))
            self._linked.setdefault(kind, []).append(pointer)
            pointer.destroyed.connect(partial(self._forget, kind, pointer))

    def _forget(self, kind: str, pointer: Pointer) -> None:
        self._linked[kind].remove(pointer)

    def _tell(self, kind: str, signal: str, sender: Pointer, value: object) -> None:
        if self._telling:  # an echo of what is being told
            return
        self._telling = True
        try:
            for pointer in self._linked[kind]:
                if pointer is not sender:
                    getattr(pointer, signal).emit(value)
        finally:
            self._telling = False


def point_again(view: QWidget) -> None:
    """Let a view look again at what is under a cursor that rests: the view has changed below it."""
    at = QCursor.pos()
    under = QApplication.widgetAt(at)
    buttons = QApplication.mouseButtons()
    if under is None or buttons != Qt.MouseButton.NoButton or not (under is view or view.isAncestorOf(under)):
        return
    inside, modifiers = QPointF(under.mapFromGlobal(at)), QApplication.keyboardModifiers()
    event = QMouseEvent(QEvent.Type.MouseMove, inside, QPointF(at), Qt.MouseButton.NoButton, buttons, modifiers)
    QApplication.sendEvent(under, event)
