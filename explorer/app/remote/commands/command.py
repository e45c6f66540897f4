"""Run a command on a person's own network in a process of its own, and end it in one sentence whatever it does."""

from __future__ import annotations

import contextlib
import math
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from explorer.app.remote.block import Block
from explorer.app.remote.life.deaths import GARBLED, SILENT, cause, excess, flooded, place, who
from explorer.app.remote.life.watching import (
    CONTROLS,
    GRACE,
    MOST_WRITTEN,
    OVER,
    TICK,
    Output,
    Standing,
    give_way,
    here,
)
from explorer.app.remote.note import Note
from explorer.app.remote.settings import memory_limit
from explorer.work.files.begun import a_place, take_back
from explorer.work.processes.asked_to_end import SIGNALLED
from explorer.work.processes.ending import end, memory
from explorer.work.processes.hearing import Hearing
from explorer.work.processes.starting import start
from explorer.work.processes.wire import Reader

MOST_SHOWN = 8_192  # bytes of output of the network that are passed on
ENDING = 0.3  # seconds from when its line is closed until a process that ends has ended
MOST_TOLD = 2**30  # bytes of one answer
CHECKED = 64  # characters; what is longer is no name of a thread that is told


def delegated(argv: Sequence[str], program: str, model: str, timeout: float | None, began: float | None = None) -> int:
    """Run a command line elsewhere; return its exit code, 2 where it has not ended well.

    What it answers is printed when it has ended well, what it says beside that at once, and of what the network prints
    the first 8 KB.

    Args:
        program: the module whose `main` takes the words.
        model: what it is about, for the sentence.
        timeout: seconds until it is ended, None for never.
        began: the moment (`time.monotonic`) that they count from; default: now.
    """
    return _Command(argv, program, model, timeout, time.monotonic() if began is None else began).run()


class _Command:
    """One command under way."""

    def __init__(self, argv: Sequence[str], program: str, model: str, timeout: float | None, began: float) -> None:
        self._names = (model,)
        self._seconds = timeout
        self._until = math.inf if timeout is None else began + timeout
        self._limit = memory_limit()
        number = Block.made()
        self._note = Note(number, fresh=True)
        self._begun = a_place()
        words = (program, str(self._limit), self._begun, *argv)
        self._started = start(f"{__package__}.commanded", words, (number,), guard=True)
        self._hearing = Hearing(self._started.connection, MOST_TOLD)
        self._output = Output(self._started.process, MOST_SHOWN)
        self._standing = Standing()
        self._answer: list[str] = []
        self._midway = False  # in a line that the network has begun
        self._code: int | None = None  # known once it is done
        self._threads: tuple[str, ...] = ()  # that it has left
        self._told = False  # what is wrong, in a sentence
        self._broke: str | None = None  # the exception that nothing has caught, in brackets

    def run(self) -> int:
        try:
            problem = self._problem()
        except KeyboardInterrupt:
            give_way(self._started, self._note)
            raise
        finally:
            end(self._started.process, self._started.working)
            take_back(self._begun)
            self._output.close()
            self._pass_on(all_told=True)
            self._started.close()
            self._note.close()
        if problem or self._code is None:
            self._new_line()
            print(f"equiscope: {problem}", file=sys.stderr)
            return 2
        print("".join(self._answer), end="")
        return self._code

    def _problem(self) -> str:
        """Wait until it is done; return what is wrong, "" where nothing is."""
        process, closed = self._started.process, False
        while self._code is None:
            ended = process.poll() is not None
            if self._hearing.poll(0 if ended else TICK):
                try:
                    self._hear(*Reader().value(self._hearing.take(), tuple[Any, ...]))
                    continue
                except (EOFError, ConnectionError):
                    ended = True
                    closed = self._lives_on()
                except Exception:  # whatever bytes of somebody else's become
                    return f"{who(self._names)} {GARBLED}{self._place()}"
            self._pass_on()
            if closed:
                return f"{who(self._names)} {SILENT}{self._place()}"
            if ended:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(GRACE)
                if self._broke is not None and self._told:  # it has said why it ends, and fails at leaving
                    self._code = 2
                    return ""
                if self._broke is not None:
                    return f"Python has failed in the process of {who(self._names)}{self._broke}{self._last_place()}"
                how = cause(process.poll() or 0, self._started.guard_killed, self._started.out_of_memory)
                return f"{who(self._names)} {how}{self._last_place()}"
            if stands := self._standing.told(self._started.working):
                return f"{who(self._names)} {stands}{self._last_place()}"
            if self._limit and memory(self._started.working) > OVER * self._limit:
                return excess(self._names, self._limit, self._place()).rstrip(".")
            if time.monotonic() > self._until:
                late = f"had not ended after {self._seconds:g} s{self._place()}, and was stopped"
                return f"{who(self._names)} {late}; --timeout gives it longer, and smaller --data less to do"
            if self._output.flooding:
                return flooded(self._names, MOST_WRITTEN, self._place())
        if self._output.flooding:  # just before it was done
            return flooded(self._names, MOST_WRITTEN, "")
        if self._code > SIGNALLED:  # nobody has asked it to end: it has asked itself
            return f"{who(self._names)} {cause(SIGNALLED - self._code)}{self._last_place()}"
        return self._left_over()

    def _lives_on(self) -> bool:
        """Say whether the process goes on though it can be heard no more."""
        try:
            self._started.process.wait(ENDING)
        except subprocess.TimeoutExpired:
            return True
        return False

    def _left_over(self) -> str:
        """Return what is wrong when all is done: a process that goes on. Threads of idle pools end by themselves."""
        if not self._threads:
            return ""
        if self._hearing.poll(GRACE):
            return ""
        running = ", ".join(name[:CHECKED] for name in self._threads[:3])
        return f"{who(self._names)} did not end: it left a thread running ({running}); make it a daemon, or end it"

    def _hear(self, kind: str, *rest: object) -> None:
        match kind, rest:
            case "out", (str(text),):
                self._answer.append(CONTROLS.sub("", text))  # names of a network's layers are in it
            case "err", (str(text),):
                self._pass_on()
                self._new_line()
                print(CONTROLS.sub("", text), end="", file=sys.stderr, flush=True)
                self._told |= text.startswith("equiscope:")
            case "done", (int(code), tuple(threads)):
                self._code, self._threads = code, threads
            case "broke", (str(error),):
                self._broke = f" ({error})" if error else ""

    def _place(self) -> str:
        return here(self._started, self._note, self._names)

    def _last_place(self) -> str:
        return place(self._note.place, self._started.last_words(), self._names)

    def _pass_on(self, all_told: bool = False) -> None:
        if text := self._output.taken(all_told):
            print(text, end="", file=sys.stderr, flush=True)
            self._midway = not text.endswith("\n")

    def _new_line(self) -> None:
        """End a line that the network has begun: a question, for instance."""
        if self._midway:
            print(file=sys.stderr)
        self._midway = False
