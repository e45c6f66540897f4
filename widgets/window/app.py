"""From nothing to a window: it is on screen first, then the engine is started."""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

from PySide6.QtCore import QEvent, QObject, QSettings, QSocketNotifier, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from explorer.app.thread.orders import Engine
from explorer.data.finding import with_whole_path
from explorer.state.lasting import with_whole_paths
from explorer.state.state import State
from explorer.work.memory import hold_one_heap
from explorer.work.preloading import load_ahead
from explorer.work.processes.asked_to_end import ASKED, SIGNALLED, held, wished
from widgets.base.look.icons import app_icon
from widgets.window.automation.first_data import FirstData
from widgets.window.main_window import MainWindow

YOUNG_MS = 1000
OLD_EVERY = 20  # young collections to one of everything
MANY_MODULES = 50
THAW_EVERY = 30  # collections of everything to one that looks through what was put aside: ten minutes
QUIET_S = 60.0  # without a frame or a choice, after which nobody feels half a second of collecting
HANDOVER = 0.001  # seconds until the worker hands the interpreter over: Python's own 5 ms are felt in a drag


class Collector(QObject):
    """Collects cycles on the GUI thread.

    Python's own collector runs on whichever thread happens to allocate; Qt objects destroyed on the worker's
    thread crash the program. So it is turned off, and a timer does its work here.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        self._rounds, self._modules = 0, len(sys.modules)
        self._used = time.monotonic()
        self._aside = False  # whether anything was put aside that nobody has looked through since
        self._timer = QTimer(self, interval=YOUNG_MS)
        self._timer.timeout.connect(self.collect)
        self._timer.start()

    def used(self, *_: object) -> None:
        """Take note that something was chosen or answered just now."""
        self._used = time.monotonic()

    def collect(self) -> None:
        """Do one turn of the timer's work."""
        self._rounds += 1
        quiet = self._aside and time.monotonic() - self._used > QUIET_S
        if quiet and not QGuiApplication.mouseButtons().value:  # a camera is turned without a choice
            self.thaw()
        elif self._rounds % OLD_EVERY:
            gc.collect(1)
        elif self._rounds % (OLD_EVERY * THAW_EVERY):
            gc.collect(2)
            # imported since: looking through them is a stall each time
            if len(sys.modules) - self._modules > MANY_MODULES:
                self._keep()
        else:
            self.thaw()

    def settle(self) -> None:
        """Take what is imported by now out of future collections, which torch would make slow."""
        gc.collect(1)
        self._keep()

    def thaw(self) -> None:
        """Look through everything: of what was alive when it was put aside, networks and views may be garbage by now.

        After all networks had been opened in one window that was 44 of 547 MB, and took half a second.
        """
        gc.unfreeze()
        gc.collect(2)
        self._keep()
        self._aside = False

    def _keep(self) -> None:
        gc.freeze()
        self._aside, self._modules = True, len(sys.modules)

    def stop(self) -> None:
        self._timer.stop()
        gc.enable()


def application(argv: Sequence[str]) -> QApplication:
    """Return the one QApplication, made and styled when there is none yet."""
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        app = QApplication(list(argv) or ["equiscope"])
    sys.setswitchinterval(HANDOVER)
    app.setApplicationName("equiscope")
    app.setApplicationDisplayName("")  # the window's title has it already
    app.setOrganizationName("equiscope")
    app.setDesktopFileName("equiscope")
    app.setStyle("Fusion")
    app.setWindowIcon(app_icon())
    return app


def leave_sources_unread() -> None:
    """Keep PySide6 from reading the source of every module that is imported from here on.

    It looks for its own name in them, so that its features (`from __feature__ import snake_case`) can be chosen for
    each module. Nobody does here, and a thousand modules of torch were read and kept: 0.2 s of each start, and 17 MB.
    """
    feature: Any = sys.modules.get("shibokensupport.feature")
    if hasattr(feature, "_mod_uses_pyside"):
        feature._mod_uses_pyside = lambda module: False


def run_window(
    start_engine: Callable[[], Engine],
    state: State | None = None,
    *,
    argv: Sequence[str] = (),
    on_ready: Callable[[MainWindow], None] | None = None,
    settings: QSettings | None = None,
) -> int:
    """Open the window, start the engine once it is painted, run until it is closed; return the exit code.

    `on_ready` is called when the window is on screen and answers; the first frame comes later.
    """
    hold_one_heap()
    with held():  # an exception while an icon is painted would leave Qt a painter without its picture, and it dies
        app = application(argv)
        leave_sources_unread()
        load_ahead()
        collector = Collector()
        if state is not None:  # what is remembered of it is opened from another folder
            state = with_whole_paths(state, with_whole_path)
        window = MainWindow(start_engine, state, settings)
        FirstData(window)
        if wished():
            collector.stop()
            window.deleteLater()
            app.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    previous, sys.excepthook = sys.excepthook, _reporter(window)
    ended: list[bool] = []
    window.closed.connect(ended.append)

    def begin() -> None:
        if on_ready is not None:
            on_ready(window)
        window.controller.begin()

    def settled(_: object) -> None:
        window.controller.frame_ready.disconnect(settled)
        collector.settle()

    window.on_screen.connect(begin)
    window.controller.frame_ready.connect(settled)
    window.controller.frame_ready.connect(collector.used)
    window.controller.state_changed.connect(collector.used)
    try:
        with _closed_when_asked(window, app) as asked:
            window.show()
            code = app.exec()
        # the last window asks for the end too; a program that goes on would have every later loop ended by that
        app.removePostedEvents(app, QEvent.Type.Quit.value)
        code = SIGNALLED + asked[0] if asked else code
    finally:
        sys.excepthook = previous
        window.close()
        window.deleteLater()
        app.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        collector.stop()
    if not all(ended):
        # Foreign code that will not stop: with torch's threads alive, an orderly exit would hang or abort.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


@contextmanager
def _closed_when_asked(window: MainWindow, app: QApplication) -> Iterator[list[int]]:
    """Close the window when the terminal or the system asks the program to end; yield the signals that came.

    Who asks twice is not made to wait.
    """
    asked: list[int] = []

    def heard(number: int, frame: FrameType | None) -> None:
        asked.append(number)
        if len(asked) > 1:
            os._exit(SIGNALLED + number)

    def end() -> None:
        reading.recv(64)
        window.close()
        app.exit()

    reading, writing = socket.socketpair()
    with reading, writing:
        for one in (reading, writing):
            one.setblocking(False)
        # Python would see the signal no sooner than its own code runs again, and Qt's loop may wait for long
        notifier = QSocketNotifier(reading.fileno(), QSocketNotifier.Type.Read)
        notifier.activated.connect(end)
        before = signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
        handlers = [(number, signal.signal(number, heard)) for number in (signal.SIGINT, *ASKED)]
        try:
            yield asked
        finally:
            notifier.setEnabled(False)
            signal.set_wakeup_fd(before)
            for number, handler in handlers:
                signal.signal(number, handler)


def _reporter(
    window: MainWindow,
) -> Callable[[type[BaseException], BaseException, TracebackType | None], None]:
    """Return what is done with an exception that nobody caught: it is said, and the window goes on."""

    def report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        sys.__excepthook__(kind, error, trace)
        if not issubclass(kind, KeyboardInterrupt):
            window.controller.log.emit("detail", "".join(traceback.format_exception(kind, error, trace)).rstrip())
            window.infobar.say("error", f"This should not have happened: {kind.__name__}: {error}", has_details=True)

    return report
