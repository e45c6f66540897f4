"""From the first call to the exit code."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from PySide6.QtCore import QSettings, Qt, QTimer
from PySide6.QtWidgets import QApplication, QTextBrowser

from explorer.state.state import State
from tests.widgets.parts.frames.fake_engine import FakeEngine
from widgets.window import app
from widgets.window.main_window import MainWindow


@pytest.fixture(autouse=True)
def collector_off() -> Iterator[None]:
    yield
    gc.disable()


@pytest.fixture
def settings(tmp_path: Path) -> QSettings:
    return QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)


def test_the_window_is_on_screen_before_the_engine_starts(qapp: QApplication, settings: QSettings) -> None:
    happened: list[str] = []

    def start() -> FakeEngine:
        happened.append("engine")
        return FakeEngine()

    def ready(window: Any) -> None:
        happened.append("on screen" if window.isVisible() and not gc.isenabled() else "too early")
        window.controller.frame_ready.connect(lambda frame: (happened.append("frame"), window.close()))

    assert app.run_window(start, State(sample="digit-3"), on_ready=ready, settings=settings) == 0
    assert happened == ["on screen", "engine", "frame"]
    assert gc.isenabled()
    gc.disable()
    assert not [w for w in QApplication.topLevelWidgets() if w.isVisible()]


@pytest.mark.parametrize("what", ["this_panel", "keys"])
def test_a_page_that_is_read_survives_the_collector(qapp: QApplication, settings: QSettings, what: str) -> None:
    read: list[str] = []

    def ready(window: Any) -> None:
        window.controller.frame_ready.connect(lambda frame: QTimer.singleShot(50, lambda: ask(window)))

    def ask(window: Any) -> None:
        window.menus.actions[what].trigger()
        QTimer.singleShot(50, lambda: collect(window))

    def collect(window: Any) -> None:
        gc.collect()  # as a timer of the program does every second
        QTimer.singleShot(50, lambda: look(window))

    def look(window: Any) -> None:
        read.extend(page.toPlainText() for page in window.findChildren(QTextBrowser) if page.window() is not window)
        window.close()

    assert app.run_window(FakeEngine, State(sample="digit-3"), on_ready=ready, settings=settings) == 0
    assert len(read) == 1 and len(read[0]) > 100


def test_an_exception_that_nobody_caught_is_said(
    qapp: QApplication, settings: QSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(sys, "__excepthook__", lambda *_: None)

    def ready(window: Any) -> None:
        window.controller.frame_ready.connect(lambda frame: break_down(window))

    def break_down(window: Any) -> None:
        sys.excepthook(KeyError, KeyError("conv9"), None)
        said.append(window.infobar.text.text())
        window.close()

    before = sys.excepthook
    app.run_window(FakeEngine, State(sample="digit-3"), on_ready=ready, settings=settings)
    assert said == ["This should not have happened: KeyError: 'conv9'"]
    assert sys.excepthook is before


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_window_closes_when_the_terminal_or_the_system_asks(
    qapp: QApplication, settings: QSettings, number: int, code: int
) -> None:
    closed: list[bool] = []

    def ready(window: Any) -> None:
        window.closed.connect(closed.append)
        window.controller.frame_ready.connect(lambda frame: os.kill(os.getpid(), number))

    before = signal.getsignal(number)
    assert app.run_window(FakeEngine, State(sample="digit-3"), on_ready=ready, settings=settings) == code
    assert closed == [True]
    assert signal.getsignal(number) is before and signal.set_wakeup_fd(-1) == -1
    assert not [w for w in QApplication.topLevelWidgets() if w.isVisible()]


def test_qt_reads_no_sources_of_what_is_imported(tmp_path: Path) -> None:
    module = tmp_path / "read_by_nobody.py"
    module.write_text("text = 'PySide6'\n")
    code = """
import linecache, sys
from PySide6.QtWidgets import QApplication
from widgets.window.app import leave_sources_unread
if sys.argv[2] == "left":
    leave_sources_unread()
sys.path.insert(0, sys.argv[1])
import read_by_nobody
print(any("read_by_nobody" in name for name in linecache.cache))
"""
    read = {
        how: subprocess.run(
            [sys.executable, "-c", code, str(tmp_path), how], capture_output=True, text=True, check=True
        ).stdout.strip()
        for how in ("left", "as it is")
    }
    assert read == {"left": "False", "as it is": "True"}


class Ring:
    """One of a cycle, which nothing but a collector frees."""

    def __init__(self) -> None:
        self.itself = self


def test_what_was_put_aside_is_looked_through_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "OLD_EVERY", 1)
    collector = app.Collector()
    try:
        ring = Ring()
        gone = weakref.ref(ring)
        collector.settle()
        del ring
        for _ in range(app.THAW_EVERY - 1):
            collector.collect()
        assert gone() is not None, "what is put aside is not looked at each time"
        collector.collect()
        assert gone() is None and gc.get_freeze_count() > 0
    finally:
        collector.stop()
        gc.unfreeze()


def test_what_was_put_aside_is_looked_through_once_nobody_uses_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("widgets.window.app.time.monotonic", lambda: now[0])
    collector = app.Collector()
    try:
        ring = Ring()
        gone = weakref.ref(ring)
        collector.settle()
        del ring
        now[0] = app.QUIET_S
        collector.used()
        now[0] += app.QUIET_S
        collector.collect()
        assert gone() is not None, "somebody who uses the window feels half a second"
        now[0] += 1.0
        with monkeypatch.context() as held:
            held.setattr("widgets.window.app.QGuiApplication.mouseButtons", lambda: Qt.MouseButton.LeftButton)
            collector.collect()
        assert gone() is not None, "a drag that chooses nothing is use too"
        collector.collect()
        assert gone() is None and gc.get_freeze_count() > 0
        thawed: list[int] = []
        monkeypatch.setattr("widgets.window.app.gc.unfreeze", lambda: thawed.append(1))
        collector.collect()
        assert not thawed, "nothing was put aside since"
    finally:
        collector.stop()
        monkeypatch.undo()
        gc.unfreeze()


def test_a_window_in_use_keeps_the_collector_waiting(
    qapp: QApplication, settings: QSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[tuple[object, ...]] = []
    monkeypatch.setattr(app.Collector, "used", lambda self, *given: used.append(given))
    before: list[int] = []

    def changed(window: MainWindow) -> None:
        before.append(len(used))
        window.controller.change({"seed": 1})
        before.append(len(used))
        QTimer.singleShot(0, window.close)

    app.run_window(FakeEngine, argv=["t"], on_ready=changed, settings=settings)
    assert before[1] > before[0], "a choice is use"


def test_what_is_imported_later_leaves_the_collections_too(monkeypatch: pytest.MonkeyPatch) -> None:
    collector = app.Collector()
    try:
        frozen: list[int] = []
        collected: list[int] = []
        monkeypatch.setattr("widgets.window.app.gc.freeze", lambda: frozen.append(1))
        monkeypatch.setattr("widgets.window.app.gc.collect", collected.append)
        collector.settle()
        for _ in range(app.OLD_EVERY):
            collector.collect()
        assert collected == [1] * app.OLD_EVERY + [2] and len(frozen) == 1, "nothing was imported since"
        for k in range(app.MANY_MODULES + 1):
            monkeypatch.setitem(sys.modules, f"imported_later_{k}", ModuleType(f"imported_later_{k}"))
        for _ in range(2 * app.OLD_EVERY):
            collector.collect()
        assert len(frozen) == 2
    finally:
        collector.stop()
