"""resources/keys.md has every shortcut of the window, and no key that does nothing."""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtGui import QKeySequence
from pytestqt.qtbot import QtBot

from tests.widgets.parts.frames.fake_engine import FakeEngine
from widgets.window.bars.palette import actions_of
from widgets.window.main_window import MainWindow

PAGE = Path(__file__).resolve().parents[4] / "resources" / "keys.md"


def documented() -> set[str]:
    """Return the keys of the first two tables: those that are actions of the menus."""
    text = PAGE.read_text(encoding="utf-8").partition("## On the stage")[0]
    rows = re.findall(r"^\| (`[^|]*) \|", text, re.MULTILINE)
    return {key for row in rows for key in re.findall(r"`([^`]+)`", row)}


def test_the_page_lists_the_shortcuts_that_there_are(qtbot: QtBot) -> None:
    window = MainWindow(FakeEngine)
    qtbot.addWidget(window)
    actual = {
        key.toString(QKeySequence.SequenceFormat.PortableText)
        for _, action in actions_of(list(window.menus.menus.values()), usable=False)
        for key in action.shortcuts()
    }
    assert documented() == actual
    window.close()
