"""Keep one process that runs networks: ask it, wait for its answer, end it when it does not give way.

It is started anew rather than forked, has no window, and dies with this process. What it prints is read to the end and
kept up to a bound. Everything here is called on one thread, the one that started it: on Linux a child is tied to that.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from multiprocessing.connection import Connection
from typing import Any

from explorer.app.failures import Relayed
from explorer.app.remote.crossing import Block, Receiver, Sender
from explorer.app.remote.deaths import Died, cause, excess, place, who
from explorer.app.remote.note import Note
from explorer.app.remote.starting import Started, start
from explorer.work.progress import Cancelled, printed, step

TICK = 0.05  # seconds between two looks at who waits, and at the memory that it takes
STARTING = "Starting a process for your network"
GRACE = 1.0  # seconds that it has to give way in
OVER = 1.1  # times the limit of memory: at the limit itself its own requests begin to fail, which says more
LAST_WORDS = 0.2  # seconds to say where it is, before it is ended
MOST_PRINTED = 65_536  # bytes of what it prints while it answers one request; the rest is counted


class Worker:
    """One process. It is ready when it was started; a request that comes sooner waits."""

    def __init__(self, program: str, limit: int) -> None:
        """Start it.

        Args:
            program: the module whose `cards` gives the built-in models.
            limit: bytes of memory that it may take, 0 for no limit.
        """
        self._limit = limit
        self._blocks = Block.made(), Block.made()
        self.note = Note(self._blocks[1], fresh=True)
        self._block = Block(self._blocks[0])
        self._receiver = Receiver(self._block)
        self._started: Started = start("serving", (program, str(limit)), self._blocks)
        self._process = self._started.process
        self._connection: Connection[Any, Any] = self._started.connection
        self._output = Output(self._process)
        self._ready = False
        self.sent: object = None  # of what is only sent when it has changed

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Return whether it can still be asked."""
        return self._process.poll() is None and not self._connection.closed

    def ask(
        self,
        request: tuple[object, ...],
        names: Iterable[str],
        cancelled: Callable[[], bool] = lambda: False,
        fresh: bool = False,
    ) -> Any:
        """Return its answer to a request.

        Args:
            names: of the networks that it is about, to be told if it dies of one.
            cancelled: asked again and again while it works.
            fresh: nothing that came before is mentioned in the answer.

        Raises:
            Cancelled: nobody waits; where it did not give way, it is ended.
            Relayed: what was raised there.
            Died: it has ended.
        """
        names = tuple(names)
        if fresh:
            self._receiver.forget()
        self.note.give_up(False)
        self._output.fresh()
        try:
            self._wait_until_ready(cancelled)
            self._connection.send_bytes(Sender(self._block).packed(request))
            return self._awaited(names, cancelled)
        except (OSError, EOFError):
            raise self._died(names) from None
        finally:
            printed(self._output.taken(all_told=True))

    def _wait_until_ready(self, cancelled: Callable[[], bool]) -> None:
        """Wait until it has imported what it needs; nothing is in anybody's way before, so nothing is ended."""
        while not self._ready:
            if (why := self._asked(cancelled, STARTING, math.nan)) is not None:
                raise why
            if self._connection.poll(TICK):
                self._connection.recv_bytes()
                self._ready = True
            elif self._process.poll() is not None:
                raise EOFError

    def _awaited(self, names: tuple[str, ...], cancelled: Callable[[], bool]) -> Any:
        urgent: float | None = None  # since when it stands in somebody's way
        while True:
            why = self._asked(cancelled)
            if self._connection.poll(TICK if why is None else 0):
                kind, *rest = self._receiver.unpacked(self._connection.recv_bytes())
                if kind != "told":
                    return self._answer(kind, rest, urgent is not None)
                why = self._asked(lambda: False, *rest) or why
            if why is not None:
                self.note.give_up(True)
                urgent = time.monotonic() if why.urgent and urgent is None else urgent
                if not self._connection.poll(TICK):
                    self._end_what_stays(names, urgent)
            if self._process.poll() is not None and not self._connection.poll(0):
                raise EOFError
            if self._limit and self._memory() > OVER * self._limit:
                told = f"{who(names)} {excess(self._limit)}{self._place(names)}: choose a smaller sample or network."
                where = self.note.place
                self.kill()
                raise Died(told, where)

    def _asked(self, cancelled: Callable[[], bool], text: str = "", share: float = 0.0) -> Cancelled | None:
        """Say how far it is and hand on what it has printed; return why nobody waits any more, if that is so."""
        try:
            step(text, share)
            printed(self._output.taken())
            return Cancelled() if cancelled() else None
        except Cancelled as why:
            return why

    def _end_what_stays(self, names: tuple[str, ...], urgent: float | None) -> None:
        if urgent is not None and time.monotonic() - urgent > GRACE:
            told = f"{who(names)} did not answer and was stopped{self._place(names)}."
            self.kill()
            raise Cancelled(told=told)

    def _answer(self, kind: str, rest: list[Any], given_up: bool) -> Any:
        match kind:
            case "failed":
                raise Relayed(*rest)
            case "cancelled":
                raise Cancelled(urgent=given_up)
            case _ if given_up:
                raise Cancelled
        return rest[0]

    # its end --------------------------------------------------------------------------------------------------
    def _died(self, names: tuple[str, ...]) -> Died:
        """Return what is to be said now that it has ended, or has closed its ends."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE)
        code = self._process.poll()
        layer = self.note.place
        where = place(layer, self._started.last_words(), names)
        self.kill()
        how = cause(code) if code is not None else "closed what it was asked through, and was ended"
        return Died(f"{who(names)} {how}{where}. Mend it, or choose another network or element.", layer)

    def _place(self, names: tuple[str, ...]) -> str:
        """Return where it is now; it has a moment to say so."""
        before = len(self._started.last_words())
        if hasattr(signal, "SIGUSR1"):
            with contextlib.suppress(OSError):
                os.kill(self.pid, signal.SIGUSR1)
            until = time.monotonic() + LAST_WORDS
            while time.monotonic() < until and len(self._started.last_words()) == before:
                self._connection.poll(0.01)
        return place(self.note.place, self._started.last_words()[before:], names)

    def _memory(self) -> int:
        """Return the bytes of memory that it takes, 0 where that is not known."""
        try:
            with open(f"/proc/{self.pid}/statm", "rb") as file:
                _, resident, shared, *_ = map(int, file.read().split())
        except (OSError, ValueError):
            return 0
        return (resident - shared) * os.sysconf("SC_PAGE_SIZE")

    def kill(self) -> None:
        """End it and all that it has started, at once."""
        if self._connection.closed:
            return
        if sys.platform == "win32":
            self._process.kill()
        else:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()
        self._output.close()
        self._started.close()
        self.note.close()
        self._block.close()


class Output:
    """Reads what a process prints for as long as it lives, and keeps the first of it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        self._pipe = process.stdout
        self._lock = threading.Lock()
        self._kept = bytearray()
        self._room = MOST_PRINTED
        self._left_out = 0
        self._thread = threading.Thread(target=self._read, name="equiscope-output", daemon=True)
        self._thread.start()

    def fresh(self) -> None:
        """Give room again for as much as is kept."""
        with self._lock:
            self._room = MOST_PRINTED

    def taken(self, all_told: bool = False) -> str:
        """Return what was printed since the last time; with `all_told`, how much there was besides."""
        with self._lock:
            data, self._kept = bytes(self._kept), bytearray()
            left_out = self._left_out if all_told else 0
            self._left_out -= left_out
        text = data.decode("utf-8", "replace")
        if left_out:
            text += f"\n… {left_out:,} more bytes of output are left out.\n"
        return text

    def _read(self) -> None:
        while data := os.read(self._pipe.fileno(), 65_536):
            with self._lock:
                kept = data[: self._room]
                self._room -= len(kept)
                self._kept += kept
                self._left_out += len(data) - len(kept)

    def close(self) -> None:
        """Stop reading; the process has ended, and all that could hold its output."""
        self._thread.join(GRACE)
        if not self._thread.is_alive():
            self._pipe.close()
