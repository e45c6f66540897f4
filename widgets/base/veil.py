"""Dim what belongs to an element or a network that is shown no more, and say why."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from widgets.base.look import theme

DIMMED = 0.35  # opacity of what is stale
BADGE = 22  # pixels


class Veil(QWidget):
    """Lies over a view and lets the mouse through."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.text, self.covers = "", False
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def say(self, text: str, cover: bool = False) -> None:
        """Dim what lies below, or cover it, and say why; "" lets it be seen."""
        if (text, cover) == (self.text, self.covers):
            return
        self.text, self.covers = text, cover
        if (below := self.parentWidget()) is not None:
            self.setGeometry(below.rect())
        self.setVisible(bool(text))
        self.raise_()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = QColor(t.window)
        ground.setAlphaF(1.0 if self.covers else 1 - DIMMED)
        painter.fillRect(self.rect(), ground)
        font = painter.font()
        font.setBold(True)
        painter.setFont(font)
        wide = QFontMetricsF(font).horizontalAdvance(self.text) + 18
        badge = QRectF(max(2.0, (self.width() - wide) / 2), 6, min(wide, self.width() - 4), BADGE)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(t.muted))
        painter.drawRoundedRect(badge, BADGE / 2, BADGE / 2)
        painter.setPen(QColor(t.panel))
        painter.drawText(badge, int(Qt.AlignmentFlag.AlignCenter), self.text)
