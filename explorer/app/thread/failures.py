"""Describe an exception: one sentence for a person, the traceback for the log."""

from __future__ import annotations

import errno
import re
import traceback
from collections.abc import Iterable
from pathlib import Path

from explorer.declare.states.model_name import PYTHON, code_of
from explorer.square.frame import Failure
from explorer.state.runs import models_of
from explorer.state.state import State
from explorer.work.files.places import INSTALLED, at_home
from explorer.work.processes.no_room import starved
from explorer.work.words import in_our_words, printable

LONGEST = 10_000  # characters of a message that are looked at
LONGEST_KIND = 60  # characters of the name of somebody's own exception
LONGEST_SENTENCE = 300
ROOM_FOR_A_PLACE = 60  # characters of "(file.py, line 3)"
LONGEST_PATH = 220  # characters of a path in a sentence; of a longer one the beginning and the end are told
# modules whose exceptions are written for a person; in a wheel the packages are parts of equiscope
OURS = ("equiscope",) if INSTALLED else ("equiscope", "explorer", "models", "widgets", "main", "__main__")
NO_MEMORY = ("not enough memory", "can't allocate memory", "std::bad_alloc")
# all that oneDNN says where it has no room for a layer; of a descriptor it says so where it has no way to run one
NO_ROOM = ("could not create a primitive", "could not create a memory object")


class Relayed(Exception):
    """Tell what was raised in another process, as it was told there.

    Attributes:
        told: the sentence.
        where: the file or layer.
        detail: the traceback.
        kinds: the names of its class and of those above it.
    """

    def __init__(self, told: str, where: str, detail: str, kinds: tuple[str, ...]) -> None:
        super().__init__(told)
        self.told, self.where, self.detail, self.kinds = told, where, detail, kinds


def relayed(error: BaseException, names: Iterable[str] = ()) -> tuple[str, str, str, tuple[str, ...]]:
    """Return what crosses to another process of an exception: the arguments of `Relayed`.

    Args:
        names: of the networks that ran.
    """
    told = failure_of(error, State())
    kinds = tuple(kind.__name__ for kind in type(error).__mro__)
    return (
        located(told.sentence, error, names),
        told.where,
        told.detail,
        (*kinds, "MemoryError") if out_of_memory(error) else kinds,
    )


def is_kind(error: BaseException, name: str) -> bool:
    """Return whether an exception is of the class of that name, also where another process has raised it."""
    kinds = error.kinds if isinstance(error, Relayed) else tuple(kind.__name__ for kind in type(error).__mro__)
    return name in kinds


def failure_of(error: BaseException, state: State) -> Failure:
    """Describe an exception: a sentence, the layer where it was raised if that is known, a traceback for the log."""
    return Failure(
        state,
        located(sentence(error), error, models_of(state)),
        str(getattr(error, "where", "") or ""),
        error.detail if isinstance(error, Relayed) else _detail(error),
        state.model if is_kind(error, "Untrusted") else "",
    )


def located(text: str, error: BaseException, names: Iterable[str]) -> str:
    """Return a sentence with the line of the person's own file that an exception came from, unless it says one."""
    from explorer.network.opening.helpers import place_of  # imports what a window needs not before it runs a network

    for name in names:
        code = code_of(name)
        if code is None or code.suffix != PYTHON or re.search(r"\bline \d", text):
            continue
        if (at := place_of(error, at_home(code))) is not None:
            return f"{text.rstrip('.')} ({Path(at[0]).name}, line {at[1]})"
    return text


def _detail(error: BaseException) -> str:
    """Return the traceback for the log; the middle of what is too long for anybody is left out."""
    text = "".join(traceback.format_exception(error))
    return text if len(text) <= 2 * LONGEST else f"{text[:LONGEST]}\n[…]\n{text[-LONGEST:]}"


def out_of_memory(error: BaseException) -> bool:
    """Return whether an exception says that memory has run out."""
    # torch is not imported here, so its exceptions are known by name and by what they say
    text = str(error)[-LONGEST:]
    if starved(error) or type(error).__name__ == "OutOfMemoryError":
        return True
    if any(told in text for told in NO_MEMORY) or text.endswith(NO_ROOM):
        return True
    return "out of memory" in text.lower() and isinstance(error, RuntimeError)


def one_line(text: str) -> str:
    """Return a text as one line, with a question mark for what cannot be shown, such as colours of a terminal."""
    return printable(" ".join(text.split()))


def path_in_sentence(path: str) -> str:
    """Return a path as one line, of a long one the beginning and the end."""
    name = one_line(path)
    return name if len(name) <= LONGEST_PATH else f"{name[: LONGEST_PATH // 3]}…{name[-LONGEST_PATH // 2 :]}"


def sentence(error: BaseException) -> str:
    """Return one sentence for a person to read; a MemoryError and its kin say what to do."""
    if isinstance(error, Relayed):
        return error.told
    kind = one_line(type(error).__name__)[:LONGEST_KIND]
    said = str(error)[:LONGEST]
    text = one_line(in_our_words(said) or said)
    if out_of_memory(error):
        gpu = "cuda" in text.lower() or kind == "OutOfMemoryError"
        where = "on the GPU: choose the CPU, " if gpu else "for this: choose "
        return f"There is not enough memory {where}a smaller sample or a smaller model."
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return "No more files can be opened: close other programs, or raise the limit (ulimit -n)."
    if isinstance(error, OSError) and error.strerror:
        name = "" if error.filename is None else path_in_sentence(str(error.filename))
        return f"{error.strerror}{': ' * bool(name)}{name}."
    if isinstance(error, KeyError) and error.args:
        text = f"{error.args[0]!r} is missing"
    if isinstance(error, SystemExit):
        text = "the code asked the program to exit"
    if not text:
        return f"{kind} was raised without a message."
    # a ValueError is written for a person here; kinds from elsewhere say more when they are named
    ours = type(error).__module__.partition(".")[0] in OURS
    own = ours or isinstance(error, ValueError | OSError)
    # behind what comes from elsewhere stands where it was raised
    told, most = (text, LONGEST_SENTENCE) if own else (f"{kind}: {text}", LONGEST_SENTENCE - ROOM_FOR_A_PLACE)
    return told if len(told) <= most else f"{told[: most - 1]}…"
