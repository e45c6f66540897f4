"""Show Python source to be read: line numbers, one letter wide as another, in the colours of its grammar."""

from __future__ import annotations

from bisect import bisect_left

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFontDatabase,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from widgets.base.look import theme
from widgets.base.text.highlight import colours, python_spans

MOST_COLOURED = 500_000  # characters; a longer file is shown plain
MARGIN = 8


class _Colours(QSyntaxHighlighter):
    """Colours each line by spans of the whole text, so that a string may go over lines."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._spans: list[tuple[int, int, str]] = []

    def take(self, text: str) -> None:
        self._spans = list(python_spans(text)) if len(text) <= MOST_COLOURED else []
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        start = self.currentBlock().position()
        inks = colours()
        # the span before may reach into this line
        at = max(0, bisect_left(self._spans, (start, 0, "")) - 1)
        for first, last, kind in self._spans[at:]:
            if first > start + len(text):
                break
            if last > start:
                ink = QTextCharFormat()
                ink.setForeground(QColor(inks[kind]))
                self.setFormat(max(0, first - start), last - max(first, start), ink)


class CodeView(QPlainTextEdit):
    """Read-only source with line numbers; a line can be marked."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, readOnly=True)
        self.setAccessibleName("Source")
        self.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._numbers = _Numbers(self)
        self._colours = _Colours(self.document())
        self._marked = 0
        self.blockCountChanged.connect(self._fit)
        self.updateRequest.connect(self._follow)
        self._fit()

    def show_source(self, text: str) -> None:
        self.setPlainText(text)
        self._colours.take(self.document().toRawText().replace("\u2029", "\n"))
        self._fit()

    def mark(self, line: int) -> None:
        """Mark a line, from 1, and bring it into sight; 0 marks none."""
        self._marked = line
        block = self.document().findBlockByNumber(line - 1)
        if not line or not block.isValid():
            self.setExtraSelections([])
            return
        selection = QTextEdit.ExtraSelection()
        selection.cursor = QTextCursor(block)
        ground = QTextCharFormat()
        ground.setBackground(QColor(theme.current().band))
        ground.setProperty(QTextCharFormat.Property.FullWidthSelection, True)
        selection.format = ground
        self.setExtraSelections([selection])
        self.setTextCursor(QTextCursor(block))
        self.centerCursor()

    def apply_theme(self) -> None:
        self._colours.rehighlight()
        self.mark(self._marked)
        self._numbers.update()

    # the numbers ------------------------------------------------------------------------------------------
    def numbers_width(self) -> int:
        digits = max(3, len(str(self.blockCount())))
        return self.fontMetrics().horizontalAdvance("9") * digits + 2 * MARGIN

    def _fit(self) -> None:
        self.setViewportMargins(self.numbers_width() + MARGIN, 0, 0, 0)
        self._place()

    def _place(self) -> None:
        inner = self.contentsRect()
        self._numbers.setGeometry(QRect(inner.left(), inner.top(), self.numbers_width(), inner.height()))

    def _follow(self, rect: QRect, down: int) -> None:
        if down:
            self._numbers.scroll(0, down)
        else:
            self._numbers.update(0, rect.y(), self._numbers.width(), rect.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def paint_numbers(self, event: QPaintEvent) -> None:
        t = theme.current()
        painter = QPainter(self._numbers)
        painter.fillRect(event.rect(), QColor(t.window))
        painter.setFont(self.font())
        painter.setPen(QColor(t.muted))
        block = self.firstVisibleBlock()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        width, height = self._numbers.width() - MARGIN, self.fontMetrics().height()
        while block.isValid() and top <= event.rect().bottom():
            painter.drawText(0, round(top), width, height, Qt.AlignmentFlag.AlignRight, str(block.blockNumber() + 1))
            top += self.blockBoundingRect(block).height()
            block = block.next()
        painter.end()


class _Numbers(QWidget):
    """The numbers of the lines, left of them."""

    def __init__(self, view: CodeView) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self) -> QSize:
        return QSize(self._view.numbers_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._view.paint_numbers(event)
