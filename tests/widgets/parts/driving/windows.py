"""Open whole windows on real networks, and wait until they have answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

import main
from explorer.app.answering.engine import LocalEngine
from explorer.state.state import State
from widgets.window.main_window import MainWindow

LONGEST_MS = 60_000


class Open(Protocol):
    """Opens a window on a state."""

    def __call__(self, state: State, answered: bool = True) -> MainWindow: ...


@pytest.fixture
def start() -> Callable[[], LocalEngine]:
    """Start an engine with every card; a test file with other cards has a fixture of this name."""
    return lambda: LocalEngine(main.cards())


@pytest.fixture
def open_window(qtbot: QtBot, tmp_path: Path, start: Callable[[], LocalEngine]) -> Iterator[Open]:
    """Open a window on a state and, unless told otherwise, wait for its first answer; close it after the test."""
    windows = []

    def make(state: State, answered: bool = True) -> MainWindow:
        settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
        window = MainWindow(start, state, settings)
        windows.append(window)
        window.resize(1280, 900)
        with qtbot.waitExposed(window):
            window.show()
        window.controller.begin()
        if answered:
            settle(qtbot, window)
        return window

    yield make
    for window in windows:
        window.close()
        window.deleteLater()


def activate(qtbot: QtBot, window: QWidget) -> None:
    """Give a window the keyboard, and wait until it has it: the late end of another one may take it away again."""

    def active() -> bool:
        if not window.isActiveWindow():
            window.activateWindow()
        return window.isActiveWindow()

    qtbot.waitUntil(active, timeout=LONGEST_MS)


def settle(qtbot: QtBot, window: MainWindow, measured: bool = False) -> None:
    """Wait until the newest state is answered and, where that is asked for, every layer of it measured."""

    def settled() -> bool:
        frame = window.controller.frame
        if frame is None or window.controller.waiting or frame.state != window.controller.state:
            return False
        return not measured or all(len(s.measures) == len(s.layers) for s in frame.squares)

    qtbot.waitUntil(settled, timeout=LONGEST_MS)
