"""Watch a process from outside: what it prints, where it is, how much memory it takes; and end it."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from explorer.app.remote.life.deaths import DEAF, HALTED, HEADLESS, MUTE, place
from explorer.app.remote.note import Note
from explorer.work.processes.ending import halted, headless, processor_seconds
from explorer.work.processes.starting import Started

TICK = 0.05  # seconds between two looks at who waits, and at the memory that it takes
GRACE = 1.0  # seconds that it has to give way in
MOST_GRACE = 5.0  # seconds by the clock, where it is given so much processor time
HASTE, MOST_HASTE = 0.25, 1.0  # the same where it runs the network, which has begun nothing that is to be taken back
OVER = 1.1  # times the limit of memory: at the limit itself its own requests begin to fail, which says more
UNHEARD, MOST_UNHEARD = 3.0, 15.0  # seconds of processor time, and by the clock, in which it takes up what it is asked
LAST_WORDS = 0.2  # seconds to say where it is, before it is ended
# what would move the cursor of a terminal, clear it, name its window or turn the direction of a line round; colours go
# with it, and the end of a line that bars of progress write over stays
CONTROLS = re.compile(
    r"(?:\x9b|\x1b\[)[0-?]*[ -/]*[@-~]|\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)
FATAL = re.compile(r"^Fatal Python error: .*\n", re.MULTILINE)
MOST_PRINTED = 65_536  # bytes of what it prints while it answers one request; the rest is counted
MOST_WRITTEN = 50_000_000  # bytes of the same; what prints more is ended


class Standing:
    """Sees that a process that has not ended will never answer."""

    def __init__(self) -> None:
        self._since: float | None = None

    def told(self, pid: int) -> str:
        """Return what it has done, as the end of a sentence; "" where it may go on."""
        if halted(pid):
            return HALTED
        if not headless(pid):
            self._since = None
            return ""
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        return HEADLESS if now - self._since > GRACE else ""  # one that is just ending looks the same


class Asked:
    """Sees that a process will never answer the request that it was sent: it hears nothing more, or is not heard."""

    def __init__(self, pid: int, note: Note, number: int) -> None:
        """Begin with the moment in which the `number`th request is sent."""
        self._pid, self._note, self._number = pid, note, number
        self._since, self._processor = time.monotonic(), processor_seconds(pid)

    def told(self, silent: Callable[[], bool]) -> str:
        """Return what it has done, as the end of a sentence; "" where it may go on.

        Args:
            silent: says that nothing has come from it.
        """
        if self._note.answered(self._number):  # what was sent before that is there
            return MUTE if silent() else ""
        if self._note.heard(self._number):
            return ""
        taken, waited = processor_seconds(self._pid) - self._processor, time.monotonic() - self._since
        return DEAF if taken > UNHEARD or waited > MOST_UNHEARD else ""


def here(started: Started, note: Note, names: Iterable[str]) -> str:
    """Return where a process is now, that runs these networks: " in layer conv1 (net.py, line 12)"."""
    before, layer = len(started.last_words()), note.place
    if hasattr(signal, "SIGUSR1") and (process := started.working):
        with contextlib.suppress(OSError), _standing(process):
            layer = note.place
            os.kill(process, signal.SIGUSR1)  # answered before anything else once it goes on
        _until(lambda: len(started.last_words()) > before)
    return place(layer, started.last_words()[before:], names)


@contextmanager
def _standing(process: int) -> Iterator[None]:
    """Let a process stand still, so that the layer and the line that are read are those of one moment."""
    os.kill(process, signal.SIGSTOP)
    try:
        if sys.platform == "linux":  # elsewhere it cannot be seen
            _until(lambda: halted(process))
        yield
    finally:
        os.kill(process, signal.SIGCONT)


def _until(seen: Callable[[], bool]) -> None:
    """Wait until something is seen, for as long as last words may take."""
    until = time.monotonic() + LAST_WORDS
    while not seen() and time.monotonic() < until:
        time.sleep(0.01)


def give_way(started: Started, note: Note) -> None:
    """Ask a process to end and wait a moment, so that it takes back what it has begun.

    The moment is a second of its own processor time, a part of that in the network: on a busy machine that takes
    longer by the clock.
    """
    if started.process.poll() is not None or sys.platform == "win32":
        return
    process = started.working or started.process.pid
    begin, since = processor_seconds(process), time.monotonic()
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGTERM)
        while True:
            most, longest = (HASTE, MOST_HASTE) if note.place else (GRACE, MOST_GRACE)
            if time.monotonic() - since > longest or processor_seconds(process) - begin > most:
                return
            with contextlib.suppress(subprocess.TimeoutExpired):
                started.process.wait(TICK)
                return


class Output:
    """Reads what a process prints for as long as it lives, and keeps the first of it."""

    def __init__(self, process: subprocess.Popen[bytes], most: int = MOST_PRINTED) -> None:
        """Begin to read; `most` bytes are kept of what it prints until `fresh`."""
        assert process.stdout is not None
        self._pipe = process.stdout
        self._lock = threading.Lock()
        self._kept = bytearray()
        self._most = self._room = most
        self._left_out = 0
        self._total = self._before = 0  # bytes that it has printed, and that of them before `fresh`
        self._fatal = False  # Python has given up
        self._thread = threading.Thread(target=self._read, name="equiscope-output", daemon=True)
        self._thread.start()

    def fresh(self) -> None:
        """Give room again for as much as is kept, and as much as may be printed."""
        with self._lock:
            self._room, self._before = self._most, self._total

    @property
    def flooding(self) -> bool:
        """Say whether more was printed than anything may print since `fresh`."""
        return self._total - self._before > MOST_WRITTEN

    def taken(self, all_told: bool = False) -> str:
        """Return what was printed since the last time; with `all_told`, how much there was besides."""
        with self._lock:
            data, self._kept = bytes(self._kept), bytearray()
            left_out = self._left_out if all_told else 0
            self._left_out -= left_out
        text = CONTROLS.sub("", data.decode("utf-8", "replace"))
        if self._fatal:  # what follows is the state of the interpreter, over many lines
            return ""
        if said := FATAL.search(text):
            self._fatal = True
            return text[: said.end()]
        if left_out:
            text += f"\n… {left_out:,} more bytes of output are left out.\n"
        return text

    def _read(self) -> None:
        with self._pipe:  # closed here: whoever waits for this thread may have to give up on a busy machine
            while data := os.read(self._pipe.fileno(), 65_536):
                with self._lock:
                    kept = data[: self._room]
                    self._room -= len(kept)
                    self._kept += kept
                    self._left_out += len(data) - len(kept)
                    self._total += len(data)

    def close(self) -> None:
        """Wait a moment for the rest; the process has ended, and all that could hold its output."""
        self._thread.join(GRACE)
