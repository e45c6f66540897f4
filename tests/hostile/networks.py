"""Try networks that misbehave, one after the other, by `check` and in a real window, and say what comes of each.

`python -m tests.hostile.networks check` and `... window`; names of some (parts of them) may follow. Each has to end in
one sentence, or is measured: no traceback, no signs of a terminal, nothing left behind, and the next network is fine.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.explorer.parts.misbehaving import FINE, network, ramp
from tests.hostile.misbehaviours import ALL, LOOPS, written

TIMEOUT, LONG_TIMEOUT = 15, 120  # seconds for `check` on a network that loops, and on another one
PATIENCE_S, LONG_PATIENCE_S = 10.0, 60.0  # after which a person stops such a network in the window
ENDLESS = (*LOOPS, "import: loop")
LONGEST = 600  # characters of a sentence with a place
OWNED = Path("/tmp/equiscope-owned")
BAD = re.compile(
    r"Traceback|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|<class|object at 0x|File \""
)


def chosen(parts: Sequence[str]) -> list[str]:
    return [name for name in ALL if not parts or any(part in name for part in parts)]


def left_behind() -> list[str]:
    """Return what processes are there that a network has started, and files that must not be."""
    found = [str(OWNED)] if OWNED.exists() else []
    for number in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if b"86123" in Path("/proc", number, "cmdline").read_bytes().split(b"\0"):
                found.append(f"process {number}")
    return found


def checked(name: str, folder: Path) -> tuple[float, int, str, str]:
    """Return the seconds that `check` took, its exit code, and what it said on both streams."""
    from tests.explorer.parts.process_program import main

    out, err = io.StringIO(), io.StringIO()
    words = [written(name, folder), "--trust", "--group", "C4", "--data", ramp(folder), "--device", "cpu"]
    words += ["--timeout", str(TIMEOUT if name in ENDLESS else LONG_TIMEOUT)]
    began = time.monotonic()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["check", *words])
    return time.monotonic() - began, code, out.getvalue(), err.getvalue()


def faults(code: int, out: str, err: str) -> Iterator[str]:
    """Yield what is wrong with what a command has said."""
    sentences = [line for line in err.splitlines() if line.startswith("equiscope:")]
    if code not in (0, 1, 2, 3):
        yield f"code {code}"
    if code == 2 and len(sentences) != 1:
        yield f"{len(sentences)} sentences"
    if any(len(line) > LONGEST for line in sentences):
        yield "length"
    if found := BAD.search(out + err):
        yield f"signs {found[0]!r}"


def by_check(names: Sequence[str]) -> int:
    wrong = 0
    for name in names:
        with tempfile.TemporaryDirectory() as place:
            seconds, code, out, err = checked(name, Path(place))
        found = [*faults(code, out, err), *left_behind()]
        if seconds > TIMEOUT + 4 if name in ENDLESS else "had not ended" in err:
            found.append("slow")
        wrong += bool(found)
        said = next((x for x in err.splitlines() if x.startswith("equiscope:")), (out.strip().splitlines() or [""])[-1])
        print(
            f"{'FAULT ' + str(found) if found else 'ok'} {name}: {seconds:.1f} s, code {code}: {said[:400]!r}",
            flush=True,
        )
    return wrong


class Window:
    """A real window on networks of files, which notes what it says and how long it stood still."""

    def __init__(self, folder: Path) -> None:
        from PySide6.QtCore import QSettings, QTimer

        from explorer.app.answering.engine import LocalEngine
        from explorer.app.remote.engine import DividedEngine
        from explorer.state.state import State
        from tests.explorer.parts.process_program import PROGRAM, cards
        from widgets.window.app import application
        from widgets.window.main_window import MainWindow

        self.app = application(())
        settings = QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat)
        start = lambda: DividedEngine(LocalEngine(cards(), trust=True), PROGRAM, spare=False)  # noqa: E731
        self.window = MainWindow(start, State("fine", sample=ramp(folder), device="cpu"), settings)
        self.controller: Any = self.window.controller
        self.said: list[str] = []
        self.errors: list[str] = []
        self.stood = 0.0
        self._last = time.monotonic()
        self._beat = QTimer(interval=10)
        self._beat.timeout.connect(self._beaten)
        self._beat.start()
        self.controller.failed.connect(lambda failure: self.said.append(failure.sentence))
        self.window.panes.failed.connect(lambda text: self.errors.append(f"a view failed: {text}"))
        sys.excepthook = lambda kind, error, trace: self.errors.append(f"{kind.__name__}: {error}")
        self.window.resize(1280, 800)
        self.window.show()
        self.controller.begin()
        self.settle(60)

    def _beaten(self) -> None:
        now = time.monotonic()
        self.stood, self._last = max(self.stood, now - self._last), now

    def settle(self, seconds: float) -> bool:
        """Wait for an answer that long; return whether it came."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.app.processEvents()
            time.sleep(0.005)
            if self.controller.catalogue is not None and not self.controller.waiting:
                return True
        return False

    def shown(self, name: str, folder: Path, patience: float = LONG_PATIENCE_S) -> tuple[float, bool]:
        """Open a network, upright and then upside down; return the seconds and whether it had to be stopped."""
        from explorer.declare.elements import parse_chain
        from explorer.state.state import State

        began = time.monotonic()
        self.said.clear()
        self.errors.clear()
        self.stood, stopped = 0.0, False
        state = State(name, sample=ramp(folder), device="cpu")
        for steps in ("rotate:90", "rotate:180"):
            self.controller.open_state(replace(state, steps=parse_chain(steps)))
            if not self.settle(patience):
                stopped = True
                self.window.cancel()
                if not self.settle(5):
                    self.errors.append("it goes on after it was stopped")
                until = time.monotonic() + 10
                while not self.said and time.monotonic() < until:  # it has a second to give way
                    self.app.processEvents()
                    time.sleep(0.01)
                if not self.said:
                    self.errors.append("nothing is said when it was stopped")
        for _ in range(20):
            self.app.processEvents()
            time.sleep(0.01)
        return time.monotonic() - began, stopped

    def close(self) -> None:
        self.window.close()
        self.controller.close(60)


def by_window(names: Sequence[str]) -> int:
    from tests.widgets.parts.driving import display

    place = tempfile.mkdtemp(prefix="equiscope-networks-")
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "EQUISCOPE_CACHE", "EQUISCOPE_CONFIG"):
        os.environ[name] = place
    display.open_one()
    window, wrong = Window(Path(place)), 0
    for name in names:
        folder = Path(tempfile.mkdtemp(dir=place))
        seconds, stopped = window.shown(
            written(name, folder), folder, PATIENCE_S if name in ENDLESS else LONG_PATIENCE_S
        )
        said = list(window.said)
        found = list(window.errors)
        found += [f"a sentence: {text}" for text in said if BAD.search(text) or "\n" in text or len(text) > LONGEST]
        if window.stood > 2:
            found.append(f"the window stood still for {window.stood:.1f} s")
        other = Path(tempfile.mkdtemp(dir=place))
        window.shown(network(other, FINE, "fine.py"), other)
        frame = window.controller.frame
        if window.said or window.errors or frame is None or not frame.squares[0].model.endswith("fine.py:Net"):
            found.append(f"the next network: {window.said} {window.errors}")
        found += left_behind()  # what it has started ends before the next one runs
        wrong += bool(found)
        told = f"stopped, {said}" if stopped else said or "measured"
        print(f"{'FAULT ' + str(found) if found else 'ok'} {name}: {seconds:.1f} s: {str(told)[:500]}", flush=True)
    window.close()
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("where", choices=("check", "window"))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--after", default="", help="leave out what comes before this one")
    args = parser.parse_args()
    os.environ.setdefault("EQUISCOPE_MEMORY", "4")  # GB: those that take all that they get must not take the machine's
    names = chosen(args.names)
    names = names[names.index(args.after) :] if args.after else names
    wrong = (by_check if args.where == "check" else by_window)(names)
    print(f"{len(names)} networks, {wrong} at fault")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
