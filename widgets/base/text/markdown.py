"""Markdown of other people as rich text that loads nothing."""

from __future__ import annotations

import re

from PySide6.QtCore import QUrl
from PySide6.QtGui import QTextDocument

_IMAGE = re.compile(r"<img\b[^>]*>", re.IGNORECASE)
_LINK = re.compile(r"</?a\b[^>]*>", re.IGNORECASE)
_LONG = re.compile(r"[\w.]{20,}")  # a layer's name, wider than a narrow column
_JOINT = re.compile(r"([._])(?=\w)")
_BODY = re.compile(r"<body[^>]*>(.*)</body>", re.DOTALL)


class _Document(QTextDocument):
    def loadResource(self, kind: int, name: QUrl | str) -> None:
        return None


def rich(text: str) -> str:
    """Return the inside of an HTML page for a label: without pictures and links, whoever wrote the text.

    Long names may be broken behind dots and underscores, but not in code, which is copied.
    """
    document = _Document()
    document.setMarkdown("`".join(part if k % 2 else _breakable(part) for k, part in enumerate(text.split("`"))))
    html = document.toHtml()
    body = _BODY.search(html)
    return _LINK.sub("", _IMAGE.sub("", body[1] if body is not None else html)).strip()


def _breakable(text: str) -> str:
    return _LONG.sub(lambda word: _JOINT.sub("\\1\N{ZERO WIDTH SPACE}", word[0]), text)
