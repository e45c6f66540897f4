"""Text to read that loads nothing."""

from __future__ import annotations

from PySide6.QtCore import QUrl
from PySide6.QtWidgets import QTextBrowser, QWidget


class TextPage(QTextBrowser):
    """Text that loads nothing."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setOpenLinks(False)
        self.document().setDocumentMargin(14)

    def loadResource(self, kind: int, name: QUrl | str) -> None:
        return None
