"""Say in one sentence that memory has run out, where there is no room left to say anything else."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from types import TracebackType

SENTENCE = "there is not enough memory for the program itself: close other programs, or raise the limit (ulimit -v)"
BAD_INPUT = 2  # the exit code; that of an exception that nobody handles would mean that a law is broken
UNMAPPED = ("failed to map segment", "cannot allocate memory")  # what the loader says of a library
DEEP = 100  # exceptions in whose handling others were raised


def starved(error: BaseException) -> bool:
    """Return whether an exception comes from a lack of memory, of Python's or of the system's."""
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    return isinstance(error, ImportError) and any(words in str(error).lower() for words in UNMAPPED)


def told(tell: Callable[[], str]) -> str:
    """Return what is to be told, or that memory has run out where it is not enough even for that."""
    try:
        return tell()
    except Exception as error:
        if not _starving(error):
            raise
        return SENTENCE


def say_no_room() -> None:
    """Tell in one line of an exception that nobody handles, and end as at bad input, where memory has run out.

    That is so while the program is being imported: what would tell of it is not there yet.
    """
    before = sys.excepthook

    def say(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if os.environ.get("EQUISCOPE_TRACEBACK") or not _starving(error):
            before(kind, error, trace)
            return
        os.write(2, b"equiscope: " + SENTENCE.encode() + b"\n")
        os._exit(BAD_INPUT)

    sys.excepthook = say


def _starving(error: BaseException | None) -> bool:
    """Return whether an exception, or one in whose handling it was raised, comes from a lack of memory."""
    for _ in range(DEEP):
        if error is None or starved(error):
            break
        error = error.__cause__ or error.__context__
    return error is not None and starved(error)
