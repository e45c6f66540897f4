"""Run `train` as a process of its own: lines of JSON go both ways, and a cancellation ends it for real."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from PySide6.QtCore import QObject, QProcess, Signal

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
        self._stopped = False
        self.process = QProcess(self)
        self.process.readyReadStandardOutput.connect(self._read)
        self.process.readyReadStandardError.connect(self._read_errors)
        self.process.finished.connect(self._finished)
        self.process.errorOccurred.connect(self._broke)

    def start(self, words: Sequence[str]) -> None:
        """Start `train` with these words behind it."""
        self.process.start(sys.executable, [*PROGRAM, "train", *words])

    @property
    def running(self) -> bool:
        return self.process.state() != QProcess.ProcessState.NotRunning

    def ask(self, what: str, **more: object) -> None:
        """Ask something of it between two steps."""
        if self.running:
            self.process.write(json.dumps({"do": what, **more}).encode() + b"\n")

    def stop(self) -> None:
        """End it at once; nothing is written."""
        if self.running:
            self._stopped = True
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
        if self._stopped:
            self.failed.emit("")
        elif self._written is not None and code == 0:
            self.done.emit(*self._written)
        else:
            self.failed.emit(self._sentence())

    def _broke(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            self.failed.emit("The training could not be started.")

    def _sentence(self) -> str:
        """Return the last thing that it said for a person."""
        said = [line for line in self._errors.decode(errors="replace").splitlines() if line.startswith("equiscope: ")]
        text = said[-1].removeprefix("equiscope: ") if said else "the training ended without a word"
        return f"{text[:1].upper()}{text[1:].rstrip('.')}."
