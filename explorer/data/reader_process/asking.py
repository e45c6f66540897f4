"""Ask a process to read a file; whatever becomes of it, a person is told in one sentence."""

from __future__ import annotations

import atexit
import math
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from explorer.data.formats.checks import refusal
from explorer.data.reader_process.bounds import MB, Bounds
from explorer.data.reader_process.carrying import receive, send
from explorer.data.readers import ReadError, readers
from explorer.declare.registry import plugged_in
from explorer.work.processes.ending import end, memory
from explorer.work.processes.starting import PROCESS, start
from explorer.work.processes.wire import Refused
from explorer.work.progress import step

TICK = 0.02  # seconds between two looks at who waits, and at the memory that it takes
KEPT = 2  # processes that wait for the next file
_TELL = "convert the file, or take a part of it"
# threads take addresses, and reading multiplies nothing
_VARIABLES = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_GROWN = 400 * MB  # of what it keeps; a process that keeps more gives way to a new one
_CRASHES = {signal.SIGSEGV: "a segmentation fault", signal.SIGABRT: "an abort"} | (
    {signal.SIGBUS: "a bus error"} if hasattr(signal, "SIGBUS") else {}
)


def apart() -> bool:
    """Return whether files are read in a process of their own."""
    return os.environ.get(PROCESS, "") != "0"


class Process:
    """One process that reads files, one after the other."""

    def __init__(self) -> None:
        self._started = start(
            f"{__package__}.serving", (), variables=_VARIABLES, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        readers()  # what an answer consists of is imported here too, while it imports the same
        self._plugged = plugged_in()
        self.ready = False  # once it has imported the readers
        self._first = 0  # bytes of memory that it takes when it begins
        self._base = 0  # and before it reads a file
        self.spent = (0, 0.0)  # bytes at most and seconds of the processor that the last file took

    @property
    def pid(self) -> int:
        return self._started.process.pid

    @property
    def alive(self) -> bool:
        """Return whether it can be asked: it runs, and knows the readers that are there now."""
        running = not self._started.connection.closed and self._started.process.poll() is None
        return running and self._plugged == plugged_in()

    def ask(self, what: str, path: Path, *given: object) -> Any:
        """Return its answer about a file.

        Raises:
            ReadError: the file cannot be read: in a sentence.
            Cancelled: nobody waits any more; the process is ended.
        """
        over = False
        connection = self._started.connection
        bounds = Bounds.of(_size(path))
        try:
            if not self.ready:
                self._await(path, Bounds.of(0), watched=False)
                receive(connection)
                self.ready, self._first = True, memory(self.pid)
            self._base = memory(self.pid)
            send(connection, ((bounds.memory, bounds.seconds), what, str(path), *given))
            self._await(path, bounds)
            kind, answer, self.spent = receive(connection)
            over = True
        except Refused:
            raise refusal(path, "its reader gave no answer that can be understood", _TELL) from None
        except (OSError, EOFError):
            raise self._death(path, bounds) from None
        finally:
            if not over:
                self.kill()
        match kind:
            case "done":
                return answer
            case "refused":
                raise ReadError(answer)
            case "full":
                raise _excess(path, bounds)
        raise refusal(path, f"its reader failed ({answer})", "report it with the file, or convert the file")

    def _await(self, path: Path, bounds: Bounds, watched: bool = True) -> None:
        """Wait until it has said something."""
        until = time.monotonic() + bounds.longest
        while not self._started.connection.poll(TICK):
            step(f"Reading {path.name}", math.nan)
            if self._started.process.poll() is not None and not self._started.connection.poll(0):
                raise EOFError
            if watched and memory(self.pid) > self._base + bounds.memory:
                raise _excess(path, bounds)
            if time.monotonic() > until:
                raise _hang(path, bounds)

    def _death(self, path: Path, bounds: Bounds) -> ReadError:
        """Return what is said now that it has ended, or has closed its end."""
        try:
            code = self._started.process.wait(1.0)
        except subprocess.TimeoutExpired:
            code = 0
        if hasattr(signal, "SIGXCPU") and -code in (signal.SIGXCPU, signal.SIGKILL):
            return _hang(path, bounds) if -code == signal.SIGXCPU else _excess(path, bounds)
        told = _CRASHES.get(signal.Signals(-code), "") if -code in set(signal.Signals) else ""
        what = f"the library that reads it crashed{f' ({told})' if told else ''}"
        return refusal(path, what, "the file is damaged, or made to do that: save or copy it again")

    @property
    def grown(self) -> bool:
        """Return whether it keeps more memory than it should."""
        return memory(self.pid) > self._first + _GROWN

    def kill(self) -> None:
        """End it at once."""
        if not self._started.connection.closed:
            end(self._started.process)
            self._started.close()


def _excess(path: Path, bounds: Bounds) -> ReadError:
    size = _size(path)
    what = f"it takes more than {bounds.memory // MB} MB of memory, the most for a file of {size} bytes"
    return refusal(path, what, _TELL)


def _hang(path: Path, bounds: Bounds) -> ReadError:
    what = f"reading it takes longer than {bounds.seconds:.0f} s, the most for a file of {_size(path)} bytes"
    return refusal(path, what, _TELL)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return 0


class Pool:
    """Processes that wait for the next file; several threads may ask at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.idle: list[Process] = []  # that wait for a file
        self._owner = os.getpid()

    def expect(self) -> None:
        """Have a process ready: a person is about to choose a file."""
        with self._lock:
            ready = any(process.alive for process in self.idle)
        if not ready:
            with self._one():
                pass

    def ask(self, what: str, path: Path, *given: object) -> Any:
        """Return the answer of a process about a file, as `Process.ask` does."""
        with self._one() as process:
            return process.ask(what, path, *given)

    @contextmanager
    def _one(self) -> Iterator[Process]:
        with self._lock:
            if self._owner != os.getpid():  # a fork has the lines of its parent, which are not its own
                self.idle, self._owner = [], os.getpid()
            process: Process | None = None
            while self.idle and process is None:
                process = self.idle.pop()
                if not process.alive:
                    process.kill()
                    process = None
        process = process or Process()
        try:
            yield process
        finally:
            with self._lock:
                keep = process.alive and len(self.idle) < KEPT and not process.grown
                if keep:
                    self.idle.append(process)
            if not keep:
                process.kill()

    def close(self) -> None:
        """End all that wait."""
        with self._lock:
            idle, self.idle = self.idle if self._owner == os.getpid() else [], []
        for process in idle:
            process.kill()


pool = Pool()
atexit.register(pool.close)
