"""Run one command line in a process that was started for it."""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import sys
import threading
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any, TextIO

from explorer.app.remote.note import Note
from explorer.work import crumbs
from explorer.work.files.begun import note_in
from explorer.work.processes.birth import born, end_fork, keep_to, own
from explorer.work.processes.wire import Writer

MOST_LINES = 10  # of what is ignored
LONGEST_LINE = 200  # characters of an exception that is ignored
LIBRARIES = 6 * 2**30  # bytes of addresses that are taken by what is not imported yet


class Line(io.TextIOBase):
    """Takes to the parent what the command says.

    Attributes:
        noise: where what the network says belongs: the process's own output, which is bounded.
    """

    def __init__(self, connection: Connection[Any, Any], kind: str, noise: TextIO) -> None:
        self._connection, self._kind, self.noise = connection, kind, noise

    def write(self, text: str) -> int:
        if threading.current_thread() is not threading.main_thread():
            return self.noise.write(text)
        end_fork(self._connection)
        self._connection.send_bytes(Writer().text((self._kind, text)))
        return len(text)

    def writable(self) -> bool:
        return True


def tell_ignored(noise: TextIO) -> None:
    """Say in a line, and once, what Python ignores: exceptions of destructors, of hooks at the end, of threads."""
    told = set[str]()

    def line(kind: type[BaseException], error: object, where: str) -> None:
        with contextlib.suppress(Exception):  # it may not be possible to write it, or to say it
            text = f"{' '.join(f'{kind.__name__}: {error}'.split())[:LONGEST_LINE]} (ignored, {where})\n"
            if text not in told and len(told) < MOST_LINES:
                told.add(text)
                noise.write(text)

    sys.unraisablehook = lambda it: line(it.exc_type, it.exc_value, "in a destructor or at the end")
    threading.excepthook = lambda it: line(it.exc_type, it.exc_value, "in a thread")


def tell_uncaught(connection: Connection[Any, Any]) -> None:
    """End by a word to the parent where nothing in Python has caught an exception, instead of by a traceback.

    The command catches all that it can know: a network may have taken from Python what that is done with.
    """
    leave, plain = os._exit, Writer().text(("broke", ""))

    def broke(kind: type[BaseException], error: BaseException, trace: object) -> None:
        try:
            told = " ".join(f"{kind.__name__}: {error}".split())[:LONGEST_LINE]
            connection.send_bytes(Writer().text(("broke", told)))
        except BaseException:
            connection.send_bytes(plain)
        finally:
            leave(1)

    sys.excepthook = broke


def main(words: list[str]) -> None:
    """Run a command line and say how it ended; return when its threads may end by themselves."""
    end = born(words)
    note, program, limit, place, *argv = end.words
    note_in(place)
    crumbs.listen(own(end.connection, Note(int(note)).write))
    keep_to(int(limit), LIBRARIES)
    noise = open(2, "w", encoding="utf-8", errors="replace", buffering=1, closefd=False)
    sys.stdout = Line(end.connection, "out", noise)
    sys.stderr = Line(end.connection, "err", noise)
    tell_ignored(noise)
    tell_uncaught(end.connection)
    code = import_module(program).main(argv)
    end_fork(end.connection)
    sys.stdout = sys.stderr = noise
    with contextlib.suppress(OSError, ValueError):  # the network may have closed it
        noise.flush()
    left = [t.name for t in threading.enumerate() if not t.daemon and t is not threading.current_thread()]
    # once all threads have ended, and before all that takes long
    atexit.register(end.connection.send_bytes, Writer().text(("over",)))
    end.connection.send_bytes(Writer().text(("done", code, tuple(left))))
