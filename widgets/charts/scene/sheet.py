"""pyqtgraph's view of a scene as the program uses it: without cache and menu, with a sentence where it is empty."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import QGraphicsView, QSizePolicy, QWidget

from widgets.base.look import theme
from widgets.charts.library import pg

SENTENCE = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)


class Sheet(pg.GraphicsView):
    """A scene in the pixels of the widget, which takes the room that there is."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self._message = ""
        super().__init__(parent, background=None)
        self.setCacheMode(QGraphicsView.CacheModeFlag(0))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.scene().contextMenu = []  # a figure is exported with its whole view

    @property
    def message(self) -> str:
        """Return what is shown instead of the content: the designed empty state."""
        return self._message

    @message.setter
    def message(self, text: str) -> None:
        if text != self._message:
            self._message = text
            self.message_changed()
            self.viewport().update()

    def message_changed(self) -> None:
        """Hide or show what the sentence stands in place of."""

    def small(self) -> QFont:
        """Return the font of labels."""
        font = QFont(self.font())
        if font.pointSizeF() > 0:
            font.setPointSizeF(max(6.5, font.pointSizeF() * 0.88))
        return font

    def close(self) -> bool:
        # pyqtgraph's own takes the scene apart, which crashes while somebody holds one of its items
        return QGraphicsView.close(self)

    def drawBackground(self, p: QPainter, rect: QRectF) -> None:
        p.fillRect(rect, QColor(theme.current().panel))

    def drawForeground(self, p: QPainter, rect: QRectF) -> None:
        if self._message:
            p.setPen(QColor(theme.current().muted))
            room = QRectF(self.rect()).adjusted(12, 4, -12, -4)
            p.setFont(self.sentence_font(room))
            p.drawText(room, SENTENCE, self._message)

    def sentence_font(self, room: QRectF) -> QFont:
        """Return the font of sentences in place of views; that of labels where the sentence would be cut off."""
        font = QFont(self.font())
        font.setPixelSize(theme.SENTENCE)
        needed = QFontMetricsF(font).boundingRect(room, SENTENCE, self._message)
        return font if room.contains(needed) else self.small()
