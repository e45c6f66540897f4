"""The place above the stage where messages come: over the line about the data, so that the stage stays where it is."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QMoveEvent, QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from widgets.window.bars.data_line import DataLine
from widgets.window.bars.infobar import InfoBar

CHANGES = (QEvent.Type.Show, QEvent.Type.Hide, QEvent.Type.LayoutRequest)


class Head(QWidget):
    """Holds the line about the data, and lays the message over it but for the button at its right end.

    What needs more lines than there is room for hangs over what is below, where after a while it goes by itself, or
    folds to its first line. So no message moves anything.
    """

    def __init__(self, message: InfoBar, line: DataLine, parent: QWidget) -> None:
        super().__init__(parent)
        self._message, self._line = message, line
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(line)
        message.setParent(parent)
        message.said.connect(self.place)
        message.folding.connect(self.place)
        for watched in (message, line, line.button):
            watched.installEventFilter(self)
        self.place()

    def place(self) -> None:
        """Give the message its place, and take the height of one line, whether there is something to say or not."""
        message, line = self._message, self._line
        one = max(line.sizeHint().height(), message.line)
        there = not line.isHidden() and not line.button.isHidden()
        end = line.button.x() if there else self.width()
        self.setFixedHeight(one)
        message.setGeometry(self.x(), self.y(), end, one if message.folded else max(message.heightForWidth(end), one))
        message.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in CHANGES:
            self.place()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.place()

    def moveEvent(self, event: QMoveEvent) -> None:
        super().moveEvent(event)
        self.place()
