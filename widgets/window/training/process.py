"""Run `train` as a process of its own: lines of JSON go both ways, and a cancellation ends it for real."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Sequence

from PySide6.QtCore import QObject, QProcess, Signal

from explorer.app.remote.life.deaths import cause
from explorer.work.files.places import INSTALLED, ROOT

PROGRAM = ("-m", "equiscope") if INSTALLED else (str(ROOT / "main.py"),)
KILL_MS = 5000  # for a process that was ended to be gone


class TrainProcess(QObject):
    """One training; see explorer/app/training/live.py for what is said."""

    told = Signal(object)  # a dict: a Signal(dict) would sort its keys
    done = Signal(str, object)  # path of the weights, figures by name
    failed = Signal(str)  # one sentence; "" when it was stopped

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rest, self._errors = b"", b""
        self._written: tuple[str, dict[str, float]] | None = None
        self._stopped = self._over = False
        self._asked: list[bytes] = []  # before it was started
        self.process = QProcess(self)
        if os.name == "posix":  # so that what a person's own code starts ends with it
            apart = QProcess.UnixProcessParameters()
            apart.flags = QProcess.UnixProcessFlag.CreateNewSession
            self.process.setUnixProcessParameters(apart)
        self.process.readyReadStandardOutput.connect(self._read)
        self.process.readyReadStandardError.connect(self._read_errors)
        self.process.finished.connect(self._finished)
        self.process.errorOccurred.connect(self._broke)

    def start(self, words: Sequence[str]) -> None:
        """Start `train` with these words behind it, unless it was stopped before."""
        if not self._over:
            self.process.start(sys.executable, [*PROGRAM, "train", *words])
            self.process.write(b"".join(self._asked))

    @property
    def running(self) -> bool:
        """Return whether it has not ended; it may not have begun."""
        return not self._over

    @property
    def _begun(self) -> bool:
        return self.process.state() != QProcess.ProcessState.NotRunning

    def ask(self, what: str, **more: object) -> None:
        """Ask something of it between two steps."""
        self._say({"do": what, **more})

    def allow(self, trust: tuple[bool, Sequence[str], Sequence[str]]) -> None:
        """Say what code may run; it waits for that before it looks at the network."""
        self._say({"trust": trust}, first=True)

    def _say(self, found: dict[str, object], first: bool = False) -> None:
        line = json.dumps(found).encode() + b"\n"
        if self._begun:
            self.process.write(line)
        elif not self._over:
            self._asked.insert(0 if first else len(self._asked), line)

    def stop(self) -> None:
        """End it at once; nothing is written."""
        if self._over:
            return
        self._stopped = True
        if not self._begun:
            self._over = True
            self.failed.emit("")
            return
        if os.name == "posix":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.processId(), signal.SIGKILL)
        self.process.kill()
        self.process.waitForFinished(KILL_MS)

    def _read(self) -> None:
        lines = (self._rest + self.process.readAllStandardOutput().data()).split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            try:
                found = json.loads(line)
            except ValueError:
                continue  # what somebody's own code prints
            if isinstance(found, dict) and "written" in found:
                self._written = (found["written"], found["figures"])
            elif isinstance(found, dict):
                self.told.emit(found)

    def _read_errors(self) -> None:
        self._errors = (self._errors + self.process.readAllStandardError().data())[-4000:]

    def _finished(self, code: int, status: QProcess.ExitStatus) -> None:
        self._read()
        self._read_errors()
        self._over = True
        if self._stopped:
            self.failed.emit("")
        elif self._written is not None and code == 0:
            self.done.emit(*self._written)
        else:
            self.failed.emit(self._sentence(code if status == QProcess.ExitStatus.NormalExit else -code))

    def _broke(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            self._over = True
            self.failed.emit("The training could not be started.")

    def _sentence(self, code: int) -> str:
        """Return the last thing that it said for a person, or what became of it."""
        said = [line for line in self._errors.decode(errors="replace").splitlines() if line.startswith("equiscope: ")]
        text = said[-1].removeprefix("equiscope: ") if said else f"the training {cause(code)}"
        return f"{text[:1].upper()}{text[1:].rstrip('.')}."
