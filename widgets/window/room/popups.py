"""Leave keys to whom they are meant for: arrows to a list that has been opened, undo to the window behind a box."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QWidget

# Qt's own lists take these before they become shortcuts
_CHOOSING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Select, Qt.Key.Key_Escape)
_PLAIN = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.KeypadModifier)


class PopupKeys(QObject):
    """Follows the focus into popups and boxes of one window.

    A popup is a child of what opens it, so the keys that work "inside" a panel would work in its lists too.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._following = False

    def follow(self) -> None:
        """Follow the focus from here on."""
        app = QApplication.instance()
        if not self._following and isinstance(app, QApplication):
            self._following = True
            app.focusChanged.connect(self._moved)

    def stop(self) -> None:
        """Follow no focus any more: the window is closed, and the application outlives it."""
        app = QApplication.instance()
        if self._following and isinstance(app, QApplication):
            self._following = False
            app.focusChanged.disconnect(self._moved)

    @Slot(QWidget, QWidget)
    def _moved(self, _: QWidget | None, new: QWidget | None) -> None:
        if new is not None and new.window().windowType() == Qt.WindowType.Popup:
            new.installEventFilter(self)  # once more changes nothing
        elif isinstance(new, QAbstractSpinBox):
            new.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(watched, QAbstractSpinBox):
            if _undoes_nothing(watched, event):
                event.ignore()
                return True  # the box does not get to claim the key, so the action does
            return super().eventFilter(watched, event)
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.ShortcutOverride
            and event.modifiers() in _PLAIN
            and event.key() not in _CHOOSING
        ):
            event.accept()  # the list gets the key, no action does
            return True
        return super().eventFilter(watched, event)


def _undoes_nothing(box: QAbstractSpinBox, event: QEvent) -> bool:
    """Say whether a key asks a box to undo or redo where nothing was typed: Qt lets it keep the key all the same."""
    if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.ShortcutOverride:
        return False
    line = box.lineEdit()
    undo = event.matches(QKeySequence.StandardKey.Undo) and not line.isUndoAvailable()
    return undo or (event.matches(QKeySequence.StandardKey.Redo) and not line.isRedoAvailable())
