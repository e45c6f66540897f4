"""An edit of code that was trusted before, line by line."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QColor, QFontDatabase, QTextBlockFormat, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QTextEdit, QWidget

from explorer.network.opening.files.contents import Contents
from explorer.network.opening.files.edits import Edit
from widgets.base.look import theme

CARD = "CARD"  # what a file may export in place of a network
TINT = 46  # of 255, of the colour behind a changed line


def said(edits: Sequence[Edit]) -> str:
    """Return what has changed since it was trusted, in a sentence; "" where nothing has."""
    if not edits:
        return ""
    one = edits[0]
    when = f" on {one.trusted.when[:10]}" if one.trusted.when else ""
    names = " and ".join(dict.fromkeys(e.trusted.name for e in edits))
    added, removed = sum(e.added for e in edits), sum(e.removed for e in edits)
    lines = f": {added} line{'s' * (added != 1)} added, {removed} removed" if any(e.lines for e in edits) else ""
    return f"You trusted an earlier {names}{when}; it has changed since then{lines}."


def called(chosen: str) -> tuple[str, str, str]:
    """Return (name, bracket, arguments and what closes them) of "Net(3)"; what it takes may stand behind it."""
    return chosen.partition("[")[0].partition("(")


def missing(chosen: str, found: Contents) -> str:
    """Return in a sentence that what was opened before, or named, is not in a file; "" where it is."""
    name = called(chosen)[0]
    known = name in ("", CARD) or any(entry.name == name for entry in found.callables)
    return "" if known or found.error else f"{name} is not seen in its text: choose what makes the network."


class EditView(QTextEdit):
    """Shows the lines that are new in green and those that are gone in red, with a few around them."""

    def __init__(self, edits: Sequence[Edit], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setAccessibleName("What has changed since you trusted it")
        self.setLineWrapMode(QTextEdit.LineWrapMode.NoWrap)
        self.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._edits = tuple(edits)
        self.apply_theme()

    def apply_theme(self) -> None:
        t = theme.current()
        self.clear()
        cursor = QTextCursor(self.document())
        inks = {"+": t.good, "-": t.bad, "@": t.muted}
        for edit in self._edits:
            self._line(cursor, f"{edit.trusted.name}   {edit.path}", t.accent, "")
            for line in edit.lines or ("@@ the text that was trusted then was not kept @@",):
                sign = line[:1] if line[:1] in inks else ""
                self._line(
                    cursor, line, inks[sign] if sign == "@" else t.text, inks[sign] if sign in "+-" and sign else ""
                )
        self.moveCursor(QTextCursor.MoveOperation.Start)
        self.setStyleSheet(f"QTextEdit {{ background: {t.panel}; border: 1px solid {t.line}; border-radius: 4px; }}")

    @staticmethod
    def _line(cursor: QTextCursor, text: str, ink: str, ground: str) -> None:
        block, letters = QTextBlockFormat(), QTextCharFormat()
        letters.setForeground(QColor(ink))
        if ground:
            tint = QColor(ground)
            tint.setAlpha(TINT)
            block.setBackground(tint)
        if not cursor.atStart():
            cursor.insertBlock()  # which would go on in the colour of the line before
        cursor.setBlockFormat(block)
        cursor.insertText(text, letters)
