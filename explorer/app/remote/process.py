"""Keep one process that runs networks: ask it, wait for its answer, end it when it does not give way.

It is started anew rather than forked, has no window, and dies with this process. What it prints is read to the end and
kept up to a bound. Everything here is called on one thread, the one that started it: on Linux a child is tied to that.
"""

from __future__ import annotations

import contextlib
import math
import subprocess
import time
from collections.abc import Callable, Iterable
from multiprocessing.connection import Connection
from typing import Any

from explorer.app.remote.answers import ANSWERS, said
from explorer.app.remote.block import Block
from explorer.app.remote.crossing import Receiver, Sender
from explorer.app.remote.life.deaths import GARBLED, SILENT, UNASKED, Died, cause, excess, flooded, place, who
from explorer.app.remote.life.watching import GRACE, MOST_WRITTEN, OVER, TICK, Asked, Output, Standing, here
from explorer.app.remote.note import Note
from explorer.app.thread.failures import Relayed, one_line
from explorer.work.processes.ending import end, memory
from explorer.work.processes.hearing import Hearing
from explorer.work.processes.starting import Started, start
from explorer.work.processes.wire import Refused
from explorer.work.progress import Cancelled, printed, seen, step

STARTING = "Starting a process for your network"
LONGEST = 64  # characters of what a network has changed
MOST_SAID, MOST_DETAIL = 2000, 50_000  # characters of a sentence, and of a traceback


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
        self._receiver = Receiver(self._block, limit // 2)
        self._started: Started = start(f"{__package__}.serving", (program, str(limit)), self._blocks, guard=True)
        self._process = self._started.process
        self._connection: Connection[Any, Any] = self._started.connection
        self._hearing = Hearing(self._connection)
        self._output = Output(self._process)
        self._ready = False
        self._number = 0  # of requests
        self.served: set[str] = set()  # networks that it was asked about
        self.asked: set[str] = set()  # those that its last request was about
        self.changed = ""  # what one of them has changed that others would meet
        self.sent: object = None  # of what is only sent when it has changed

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Return whether it can still be asked."""
        return self._process.poll() is None and not self._connection.closed

    @property
    def spoilt(self) -> bool:
        """Return whether other networks should not run there: one has changed it, or has left processes behind."""
        if not self.changed and self._ready and self.alive:
            with contextlib.suppress(Died, Relayed):  # then it is not alive, which is asked next
                self.ask(("settled",), sorted(self.asked), further=True)
        return bool(self.changed) or self._started.in_company

    def ask(
        self,
        request: tuple[object, ...],
        names: Iterable[str],
        cancelled: Callable[[], bool] = lambda: False,
        fresh: bool = False,
        further: bool = False,
    ) -> Any:
        """Return its answer to a request.

        Args:
            names: of the networks that it is about, to be told if it dies of one.
            cancelled: asked again and again while it works.
            fresh: nothing that came before is mentioned in the answer.
            further: it belongs to the request before, whose bound of what is printed goes on.

        Raises:
            Cancelled: nobody waits; where it did not give way, it is ended.
            Relayed: what was raised there.
            Died: it has ended.
        """
        names = tuple(names)
        self.served |= set(names)
        self.asked = self.asked | set(names) if further else set(names)
        if fresh:
            self._receiver.forget()
        self.note.give_up(False)
        if not further:
            self._output.fresh()
        try:
            self._wait_until_ready(cancelled)
            self._number += 1
            self._connection.send_bytes(Sender(self._block).packed(request))
            return self._awaited(names, cancelled, ANSWERS.get(str(request[0]), object))
        except (OSError, EOFError):
            raise self._died(names) from None
        finally:
            printed(self._output.taken(all_told=True))

    def _wait_until_ready(self, cancelled: Callable[[], bool]) -> None:
        """Wait until it has imported what it needs; nothing is in anybody's way before, so nothing is ended."""
        while not self._ready:
            if (why := self._asked(cancelled, STARTING, math.nan)) is not None:
                raise why
            if self._hearing.poll(TICK):
                self._hearing.take()
                self._ready = True
            elif self._process.poll() is not None:
                raise EOFError

    def _heard(self, names: tuple[str, ...], hint: Any, seconds: float) -> Any:
        """Return what it says within that time, None where it says nothing."""
        try:
            if not self._hearing.poll(seconds):
                return None
            return self._receiver.unpacked(self._hearing.take(), said(hint))
        except (Refused, ValueError, MemoryError):  # bytes of somebody else's
            raise self._killed(names, GARBLED) from None

    def _awaited(self, names: tuple[str, ...], cancelled: Callable[[], bool], hint: Any) -> Any:
        urgent: float | None = None  # since when it stands in somebody's way
        wished = False
        standing, asked = Standing(), Asked(self._started.working, self.note, self._number)
        while True:
            why = self._asked(cancelled)
            found = self._heard(names, hint, TICK if why is None else 0)
            if self._output.flooding:
                told, where = flooded(names, MOST_WRITTEN, here(self._started, self.note, names)), self.note.place
                self.kill()
                raise Died(f"{told}.", where)
            if found:
                kind, *rest = found
                if kind == "changed":
                    self.changed = one_line(rest[0][:LONGEST])
                    printed(f"{who(names)} has changed {self.changed}: other networks run in another process.\n")
                    continue
                if kind == "seen":
                    seen(rest[0])
                    continue
                # it would do so at each request, and say nothing
                if kind == "cancelled" and not wished and why is None:
                    raise self._killed(names, UNASKED)
                if kind != "told":
                    return self._answer(kind, rest, urgent is not None)
                why = self._asked(lambda: False, *rest) or why
            if why is not None:
                self.note.give_up(True)
                wished = True
                urgent = time.monotonic() if why.urgent and urgent is None else urgent
                if not self._hearing.poll(TICK):
                    self._end_what_stays(names, urgent)
            if self._process.poll() is not None and not self._hearing.poll():
                raise EOFError
            if stands := standing.told(self._started.working) or asked.told(lambda: not self._hearing.poll()):
                raise self._killed(names, stands)
            if self._limit and memory(self._started.working) > OVER * self._limit:
                told, where = excess(names, self._limit, here(self._started, self.note, names)), self.note.place
                self.kill()
                raise Died(told, where)

    def _killed(self, names: tuple[str, ...], what: str) -> Died:
        """End the process; return what is said of it: what one of these networks has done, and where in it that was."""
        where = self.note.place
        self.kill()
        return Died(f"{who(names)} {what}{place(where, '', names)}.", where)

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
            told = f"{who(names)} did not answer and was stopped{here(self._started, self.note, names)}."
            self.kill()
            raise Cancelled(told=told)

    def _answer(self, kind: str, rest: list[Any], given_up: bool) -> Any:
        match kind:
            case "failed":
                told, where, detail, kinds = rest
                raise Relayed(one_line(told[:MOST_SAID]), one_line(where[:MOST_SAID]), detail[:MOST_DETAIL], kinds)
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
        layer, killed, starved = self.note.place, self._started.guard_killed, self._started.out_of_memory
        where = place(layer, self._started.last_words(), names)
        self.kill()
        how = cause(code, killed, starved) if code is not None else SILENT
        before = self.served - set(names)  # one of them may have left what ended it
        doubt = f" ({who(sorted(before))} had run in that process before)" if before and not where else ""
        return Died(f"{who(names)} {how}{where}{doubt}. Mend it, or choose another network or element.", layer)

    def kill(self) -> None:
        """End it and all that it has started, at once."""
        if self._connection.closed:
            return
        end(self._process, self._started.working)
        self._output.close()
        self._started.close()
        self.note.close()
        self._block.close()
