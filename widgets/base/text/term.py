"""A label whose word is in the glossary: dotted below, its definition on hover, plain words where wanted."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QLabel, QWidget

from widgets.base.look import theme
from widgets.base.text import glossary


class TermLabel(QLabel):
    """One word of the glossary."""

    def __init__(self, word: str, parent: QWidget | None = None, more: str = "") -> None:
        super().__init__(parent)
        self.word, self._more = word, more
        glossary.changes.changed.connect(self._write)
        self._write()

    def _write(self) -> None:
        self.setText(glossary.say(self.word))
        told = glossary.meaning(self.word)
        name = f"{self.word}: " if glossary.plain() else ""
        self.setToolTip("\n".join(filter(None, (f"{name}{told}" if told else "", self._more))))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not glossary.meaning(self.word):
            return
        painter = QPainter(self)
        painter.setPen(QPen(QColor(theme.current().muted), 1, Qt.PenStyle.DotLine))
        metrics = self.fontMetrics()
        y = (self.height() + metrics.ascent() - metrics.descent()) / 2 + 2.5
        painter.drawLine(QPointF(0, y), QPointF(metrics.horizontalAdvance(self.text()), y))
