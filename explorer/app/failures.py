"""Describe an exception: one sentence for a person, the traceback for the log."""

from __future__ import annotations

import traceback

from explorer.square.frame import Failure
from explorer.state.state import State
from explorer.work.places import INSTALLED

# modules whose exceptions are written for a person; in a wheel the packages are parts of equiscope
OURS = ("equiscope",) if INSTALLED else ("equiscope", "explorer", "models", "widgets", "main", "__main__")


def failure_of(error: BaseException, state: State) -> Failure:
    """Return what is said of an exception: a sentence, where it was if it knows, a traceback for the log."""
    return Failure(
        state,
        sentence(error),
        str(getattr(error, "where", "") or ""),
        "".join(traceback.format_exception(error)),
    )


def sentence(error: BaseException) -> str:
    """Return one sentence for a person to read; a MemoryError and its kin say what to do."""
    kind = type(error).__name__
    text = " ".join(str(error).split())
    # torch is not imported here, so its exceptions are known by name and by what they say
    memory = isinstance(error, MemoryError) or kind == "OutOfMemoryError" or "not enough memory" in text
    if memory or ("out of memory" in text.lower() and isinstance(error, RuntimeError)):
        gpu = "cuda" in text.lower() or kind == "OutOfMemoryError"
        where = "on the GPU: choose the CPU, " if gpu else "for this: choose "
        return f"There is not enough memory {where}a smaller sample or a smaller model."
    if isinstance(error, OSError) and error.strerror:
        name = f": {error.filename}" if error.filename is not None else ""
        return f"{error.strerror}{name}."
    if isinstance(error, KeyError) and error.args:
        text = f"{error.args[0]!r} is missing"
    if isinstance(error, SystemExit):
        text = "the code asked the program to exit"
    if not text:
        return f"{kind} was raised without a message."
    text = text if len(text) <= 300 else text[:297] + "…"
    # a ValueError is written for a person here; kinds from elsewhere say more when they are named
    ours = type(error).__module__.partition(".")[0] in OURS
    return text if ours or isinstance(error, ValueError | OSError) else f"{kind}: {text}"
