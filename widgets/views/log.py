"""The log: what was opened, how long things took, and the whole story of every failure."""

from __future__ import annotations

import html
import time
from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase, QGuiApplication, QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QToolButton, QVBoxLayout, QWidget

from widgets.base.look import theme
from widgets.base.look.icons import icon
from widgets.base.view import View, ViewSpec

MOST = 2000  # entries kept


def now() -> str:
    """Return the time of day, as it stands before a line."""
    return time.strftime("%H:%M:%S")


class LogView(View):
    """Lines with their time; details (tracebacks) are set back and muted."""

    def show_stale(self, text: str) -> bool:
        return True  # nothing in it belongs to an element

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entries: deque[tuple[str, str, str]] = deque(maxlen=MOST)
        self.page = QPlainTextEdit(readOnly=True, maximumBlockCount=10 * MOST)
        self.page.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.page.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.page.setPlaceholderText("What the program does is written here.")
        self.page.setAccessibleName("Log")
        self._copy = QToolButton(autoRaise=True)
        self._copy.setText("Copy")
        self._copy.setToolTip("Copy the whole log")
        self._copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.text()))
        self._clear = QToolButton(autoRaise=True)
        self._clear.setText("Clear")
        self._clear.setToolTip("Empty the log")
        self._clear.clicked.connect(self.clear)
        tools = QVBoxLayout()
        tools.setContentsMargins(2, 2, 2, 2)
        for button in (self._copy, self._clear):
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
            tools.addWidget(button)
        tools.addStretch(1)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.page, 1)
        row.addLayout(tools)
        self.apply_theme()

    def add(self, level: str, text: str, at: str = "") -> None:
        """Add a line of level "info", "warning", "error" or "detail", said `at` a time of day or just now."""
        entry = (level, at or now(), text)
        self._entries.append(entry)
        self._write(entry)

    def clear(self) -> None:
        self._entries.clear()
        self.page.clear()

    def text(self) -> str:
        """Return the log as plain text."""
        return "\n".join(f"{at}  {text}" if level != "detail" else text for level, at, text in self._entries)

    def apply_theme(self) -> None:
        self._copy.setIcon(icon("copy"))
        self._clear.setIcon(icon("trash"))
        self.page.clear()
        for entry in self._entries:
            self._write(entry)

    def numbers(self) -> dict[str, NDArray[Any]]:
        return {"log": np.array([f"{at} {text}" for _, at, text in self._entries])}

    def caption(self) -> str:
        return "log"

    def _write(self, entry: tuple[str, str, str]) -> None:
        level, at, text = entry
        t = theme.current()
        colour = {"warning": t.second, "error": t.bad, "detail": t.muted}.get(level, t.text)
        safe = html.escape(text).replace("\n", "<br>").replace("  ", "&nbsp; ")
        stamp = "" if level == "detail" else f'<span style="color:{t.muted}">{at}&nbsp; </span>'
        self.page.appendHtml(f'{stamp}<span style="color:{colour}">{safe}</span>')
        self.page.moveCursor(QTextCursor.MoveOperation.End)


VIEW = ViewSpec(
    "log",
    "Log",
    LogView,
    area="bottom",
    order=90,
    summary="What the program did, and the whole story of every failure.",
)
