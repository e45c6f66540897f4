"""Markdown of other people as rich text that loads nothing."""

from __future__ import annotations

import re

from PySide6.QtCore import QUrl
from PySide6.QtGui import QTextDocument

_IMAGE = re.compile(r"<img\b[^>]*>", re.IGNORECASE)
_LINK = re.compile(r"</?a\b[^>]*>", re.IGNORECASE)
_BODY = re.compile(r"<body[^>]*>(.*)</body>", re.DOTALL)


class _Document(QTextDocument):
    def loadResource(self, kind: int, name: QUrl | str) -> None:
        return None


def rich(text: str) -> str:
    """Return the inside of an HTML page for a label: without pictures and links, whoever wrote the text."""
    document = _Document()
    document.setMarkdown(text)
    html = document.toHtml()
    body = _BODY.search(html)
    return _LINK.sub("", _IMAGE.sub("", body[1] if body is not None else html)).strip()
