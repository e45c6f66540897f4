"""The program as a person has it, with one or two windows, and all that it must not do or leave behind."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import Any

import shiboken6
from PySide6.QtCore import (
    QEvent,
    QEventLoop,
    QMessageLogContext,
    QSettings,
    QThread,
    QTimer,
    QtMsgType,
    qInstallMessageHandler,
)
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QInputDialog

from explorer.app.thread.orders import NoEngine
from explorer.data.reader_process.asking import pool
from explorer.square.frame import Failure, LayerInfo, Square
from explorer.state.state import State
from explorer.work.files.places import RESOURCES
from explorer.work.memory import give_back
from tests.widgets.soak.draws import Draws, Interaction
from tests.widgets.soak.interactions import DONE
from widgets.base.look import theme
from widgets.window.app import Collector, application
from widgets.window.controller import Controller
from widgets.window.main_window import MainWindow

PATIENCE_S = 12.0  # that a person waits for an answer, who then cancels: the window offers it after 10
MENU_MS = 2000  # that a menu stays open which nobody answers
LONGEST_S = 120.0  # that a window takes to start
# what other programs' code says when it meets something that nobody has thought of
STRANGE = re.compile(
    r"\b(Attribute|Key|Index|Type|Runtime|Assertion|NotImplemented|ZeroDivision|Name|Recursion|System)Error\b"
)
IGNORED = re.compile(r"XDG_RUNTIME_DIR|This plugin does not support")
NETWORK = """
import torch
from torch import nn

INPUT_SHAPE = (1, 29, 29)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)

    def forward(self, x):
        return torch.relu(self.conv(x))
"""
BROKEN = {
    "session cut off.json": b'{"equiscope": 1, "state": {"mod',
    "session of bytes.json": bytes(range(256)) * 4,
    "session of wrong types.json": b'{"equiscope": 1, "state": {"model": 7, "steps": "rotate"}}',
    "session from later.json": b'{"equiscope": 99, "state": {}}',
    "session of nothing known.json": b'{"equiscope": 1, "state": {"model": "no-such", "sample": "none", "layer": "x"}}',
}


class Broken(AssertionError):
    """Something happened that must not; the message says after which interaction."""


@dataclass(frozen=True, slots=True)
class Figures:
    """The holdings of a process; memory in bytes."""

    memory: int
    files: int
    threads: int
    timers: int
    widgets: int
    windows: int
    hooks: int
    children: int

    def text(self) -> str:
        named = ((f.name, getattr(self, f.name)) for f in fields(self))
        return ", ".join(f"{n} {v / 2**20:.0f} MB" if n == "memory" else f"{n} {v}" for n, v in named)


class World:
    """Does one interaction after the other and complains of what goes wrong."""

    def __init__(self, start: Callable[[], Any], folder: Path) -> None:
        """Prepare files and listen to everything that complains; `start` makes the engine of a window."""
        self._start, self.folder = start, folder
        self.app = application(())
        self.windows: list[MainWindow] = []
        self.opened = 0
        self.cancelled = 0  # requests that took too long
        self.late = 0  # windows that were closed before their worker had ended
        self.complaints: list[str] = []
        self.sentences: Counter[str] = Counter()  # that were said of what cannot be done
        self.done: Counter[str] = Counter()
        self.history: list[str] = []
        self.met: set[str] = set()  # what was used once: views, kinds of data
        self.asked_for = ""  # the name that the next dialog for saving gives
        self._note = ""
        self._prepare_files()
        self._before = theme.current().name
        self._collector = Collector()
        self._undo = contextlib.ExitStack()
        self._undo.enter_context(self._listening())
        self._undo.enter_context(_answering(self))

    def _prepare_files(self) -> None:
        import numpy as np

        self.folder.mkdir(parents=True, exist_ok=True)
        self.network = self.folder / "net.py"
        self.network.write_text(NETWORK, encoding="utf-8")
        self.broken = []
        for name, content in BROKEN.items():
            self.broken.append(self.folder / name)
            self.broken[-1].write_bytes(content)
        self.lessons = sorted((RESOURCES / "lessons").glob("*.json"))
        rng = np.random.default_rng(0)
        np.save(self.folder / "picture.npy", rng.random((1, 29, 29), dtype=np.float32))
        (self.folder / "graph.csv").write_text("source,target\n0,1\n1,2\n2,0\n", encoding="utf-8")
        (self.folder / "text.txt").write_text("to be or not to be\n", encoding="utf-8")
        (self.folder / "no picture.png").write_bytes(b"\x89PNG\r\n\x1a\nnothing")
        self.data = [self.folder / n for n in ("picture.npy", "graph.csv", "text.txt", "no picture.png")]

    # complaints -----------------------------------------------------------------------------------------------
    def complain(self, text: str) -> None:
        """Remember what must not happen; `do` raises it."""
        self.complaints.append(text)

    def note(self, text: str) -> None:
        """Say more of the interaction under way."""
        self._note = text

    @contextlib.contextmanager
    def _listening(self) -> Iterator[None]:
        def qt(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
            if kind not in (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg) and not IGNORED.search(text):
                self.complain(f"Qt says: {text}\n{''.join(traceback.format_stack(limit=12))}")

        def caught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
            self.complain("".join(traceback.format_exception(kind, error, trace)))

        def in_thread(args: threading.ExceptHookArgs) -> None:
            if args.exc_value is not None:
                caught(args.exc_type, args.exc_value, args.exc_traceback)

        def unraisable(args: Any) -> None:
            self.complain(f"{args.err_msg}: {args.object!r}\n" + "".join(traceback.format_exception(args.exc_value)))

        before = qInstallMessageHandler(qt)
        hooks = sys.excepthook, threading.excepthook, sys.unraisablehook
        sys.excepthook, threading.excepthook, sys.unraisablehook = caught, in_thread, unraisable
        try:
            yield
        finally:
            sys.excepthook, threading.excepthook, sys.unraisablehook = hooks
            qInstallMessageHandler(before)

    def fail(self, failure: Failure) -> None:
        text = failure.sentence
        self.sentences[text] += 1
        if STRANGE.search(text) or "\n" in text or len(text) > 320:
            self.complain(f"no sentence for a person: {text}\n{failure.detail}")

    def _logged(self, level: str, text: str) -> None:
        if "This should not have happened" in text:
            self.complain(text)

    def _delivered(self, message: object) -> None:
        if isinstance(message, NoEngine):
            self.complain(f"the engine is lost: {message.failure.sentence}\n{message.failure.detail}")

    # windows --------------------------------------------------------------------------------------------------
    @property
    def window(self) -> MainWindow:
        return self.windows[0]

    @property
    def controller(self) -> Controller:
        return self.window.controller

    @property
    def models(self) -> Any:
        return self.controller.catalogue.models if self.controller.catalogue is not None else ()

    @property
    def samples(self) -> Any:
        return self.controller.catalogue.samples if self.controller.catalogue is not None else ()

    @property
    def square(self) -> Square | None:
        frame = self.controller.frame
        return frame.squares[0] if frame is not None and frame.squares else None

    @property
    def layers(self) -> tuple[LayerInfo, ...]:
        return self.square.layers if self.square is not None else ()

    def open_window(self, state: State) -> None:
        """Open a window in front of the others."""
        settings = QSettings(str(self.folder / "settings.ini"), QSettings.Format.IniFormat)
        window = MainWindow(self._start, state, settings)
        controller = window.controller
        controller.failed.connect(self.fail)
        controller.log.connect(self._logged)
        controller.delivered.connect(self._delivered)
        controller.state_changed.connect(self._collector.used)
        controller.frame_ready.connect(self._collector.used)
        window.panes.failed.connect(lambda text: self.complain(f"a view failed: {text}"))
        window.resize(1280, 800)
        window.show()
        controller.begin()
        self.windows.insert(0, window)
        self.opened += 1
        self.settle()

    def close_window(self) -> None:
        """Close the window in front."""
        window = self.windows.pop(0)
        ended: list[object] = []
        window.closed.connect(ended.append)
        window.close()
        if ended != [True]:  # the program would end without it; here it has to
            self.late += 1
            if not window.controller.close(LONGEST_S):
                self.complain("the worker of a window does not end when it is closed")
        window.deleteLater()
        self.pump(1)

    def export_picture(self) -> None:
        """Write the view in front as the page of figures does."""
        files = self.window.files
        files.export_view(self.window.panes.front())
        if (page := files.figure_page) is not None and page.isVisible():
            page.kind.setCurrentIndex(sum(self.done.values()) % page.kind.count())
            page.go.click()

    # time -----------------------------------------------------------------------------------------------------
    def pump(self, milliseconds: int) -> None:
        """Let the window work."""
        loop = QEventLoop()
        QTimer.singleShot(milliseconds, loop.quit)
        loop.exec()
        self.app.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    def settle(self, everything: bool = False) -> None:
        """Wait until every window has answered, and cancel what takes too long; complain where one does not start."""
        for window in self.windows:
            loop, started = QEventLoop(), window.controller.catalogue is not None
            late = QTimer(singleShot=True, interval=round((PATIENCE_S if started else LONGEST_S) * 1000))
            look = QTimer(interval=5)
            late.timeout.connect(loop.quit)

            def there(window: MainWindow = window, loop: QEventLoop = loop) -> None:
                c = window.controller
                if c.catalogue is not None and not c.waiting:
                    loop.quit()

            look.timeout.connect(there)
            late.start()
            look.start()
            loop.exec()
            look.stop()
            if not late.isActive() and not started:
                self.complain(f"no window after {LONGEST_S:g} s")
            elif not late.isActive():
                self.cancelled += 1
                window.cancel()
                window.controller.undo()
            late.stop()
        self.pump(300 if everything else 1)

    def await_codes(self) -> None:
        """Wait as long as a person does until the plane of codes is drawn, which comes after the answer."""
        ends = time.monotonic() + PATIENCE_S
        while time.monotonic() < ends and self.square is not None and (codes := self.square.latent) is not None:
            if codes.whole:
                return
            self.pump(50)

    def rest(self, anew: bool = False) -> None:
        """Bring the program to where looks at its memory are compared: one window on the first state, no dialog.

        What was kept to be quick stays kept. `anew` closes that window too and opens another one: a window has as many
        views as were looked at in it.
        """
        for dialog in QApplication.topLevelWidgets():
            if isinstance(dialog, QDialog) and dialog.isVisible():
                dialog.reject()
        while len(self.windows) > (0 if anew else 1):
            self.close_window()
        if anew:
            self.open_window(State())
            self.settle(everything=True)
        elif self.windows:
            self.window.cancel()
            self.controller.open_state(State())
            self.settle(everything=True)

    # interactions ---------------------------------------------------------------------------------------------
    def do(self, one: Interaction) -> None:
        """Do one interaction and let the window work for a while.

        Raises:
            Broken: something went wrong in this one or since the one before.
        """
        draw, self._note = Draws(one.numbers), ""
        if not self.windows:
            self.open_window(State())
        leaving = QTimer(interval=MENU_MS)
        leaving.timeout.connect(_leave_menu)
        leaving.start()
        try:
            DONE[one.name][1](self, draw)
        except Exception:
            self.complain(traceback.format_exc())
        leaving.stop()
        self.done[one.name] += 1
        self.history.append(f"{one.name} {self._note}".rstrip())
        share = one.numbers[-1] if one.numbers else 0.0
        # mostly the next thing comes before the answer
        self.settle() if share > 0.7 else self.pump(round(60 * share))
        self.check()

    def check(self) -> None:
        """Raise what there is to complain of."""
        if self.complaints:
            told, self.complaints = self.complaints, []
            raise Broken(f"after {', '.join(self.history[-5:])}:\n" + "\n".join(told))

    def figures(self) -> Figures:
        """Count what the process holds now, when everything is done and collected; timers and hooks without windows.

        Whoever lists all objects while a worker makes a tuple of a generator has CPython raise a SystemError there.
        """
        if self.windows:
            self.settle(everything=True)
        else:
            pool.close()  # of processes that read files, kept for the next one
        gc.unfreeze()  # what the window's collector put aside is not listed, and of a closed window it may be garbage
        for _ in range(3):
            self.app.sendPostedEvents(None, QEvent.Type.DeferredDelete)
            self.app.processEvents()
            gc.collect()
        give_back()
        objects = [] if self.windows else gc.get_objects()
        timers = sum(issubclass(type(o), QTimer) and shiboken6.isValid(o) and o.isActive() for o in objects)
        threads = sum(issubclass(type(o), QThread) and shiboken6.isValid(o) and o.isRunning() for o in objects)
        with open("/proc/self/statm", encoding="ascii") as file:
            memory = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        return Figures(
            memory, len(os.listdir("/proc/self/fd")), threads + threading.active_count(), timers,
            len(QApplication.allWidgets()), len(QApplication.topLevelWindows()), _hooks(objects), len(children()),
        )  # fmt: skip

    def close(self) -> None:
        """Close what is open and stop listening."""
        while self.windows:
            self.close_window()
        self._collector.stop()
        self._undo.close()
        theme.use(self._before)


def _leave_menu() -> None:
    """Close the menu that an interaction has opened, as Escape does: a button that has one waits for it."""
    if (menu := QApplication.activePopupWidget()) is not None:
        menu.close()


def children() -> list[int]:
    """Return the processes that this one has started and that are there still."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                if int(file.read().rpartition(")")[2].split()[1]) == os.getpid():
                    found.append(int(entry))
    return found


def _hooks(objects: list[Any]) -> int:
    """Count the hooks on every network that is alive, and on all networks."""
    import torch
    from torch.nn.modules import module as every

    own = [every._global_forward_hooks, every._global_forward_pre_hooks, every._global_backward_hooks]
    held = [o for o in objects if issubclass(type(o), torch.nn.Module)]
    tables = (m.__dict__.get(n) for m in held for n in ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks"))
    return sum(len(t or ()) for t in (*own, *tables))


@contextlib.contextmanager
def _answering(world: World) -> Iterator[None]:
    """Answer in place of the person what would wait for one, and open nothing outside of the program."""

    def name(*_: object, **__: object) -> tuple[str, str]:
        asked, world.asked_for = world.asked_for or (str(_[2]) if len(_) > 2 else "saved"), ""
        return str(world.folder / "saved" / Path(asked).name.replace("/", "-")), ""

    def opened(*_: object, **__: object) -> tuple[str, str]:
        return str(world.data[len(world.history) % len(world.data)]), ""

    def item(*given: Any, **_: object) -> tuple[str, bool]:
        return str(given[3][len(world.history) % len(given[3])]), True

    (world.folder / "saved").mkdir(exist_ok=True)
    before = (
        (QFileDialog, "getSaveFileName", QFileDialog.getSaveFileName),
        (QFileDialog, "getOpenFileName", QFileDialog.getOpenFileName),
        (QFileDialog, "getExistingDirectory", QFileDialog.getExistingDirectory),
        (QInputDialog, "getItem", QInputDialog.getItem),
        (QDesktopServices, "openUrl", QDesktopServices.openUrl),
    )
    answers: tuple[Callable[..., object], ...] = (name, opened, lambda *_: "", item, lambda *_: True)
    for (owner, attribute, _), answer in zip(before, answers, strict=True):
        setattr(owner, attribute, staticmethod(answer))
    try:
        yield
    finally:
        for owner, attribute, was in before:
            setattr(owner, attribute, was)
