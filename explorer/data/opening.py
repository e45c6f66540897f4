"""Open a data file that a person has chosen: in a process of its own, which may crash, hang or run out of memory.

EQUISCOPE_PROCESS=0 reads it in this process, as a debugger needs it.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from explorer.data import in_process
from explorer.data.formats.checks import refusal
from explorer.data.reader_process.asking import apart, pool
from explorer.data.readers import Fit, Reader, ReadError, readers
from explorer.declare.samples import Sample
from explorer.declare.telling.choices import Choice

_NOTHING: Mapping[str, str] = MappingProxyType({})


def readings(path: Path) -> list[tuple[Reader, Fit]]:
    """Return the ways of reading a file with how well they fit, the best first; [] where there is none.

    Raises:
        ReadError: it is not there.
    """
    known = readers()
    found = _asked("readings", path) if apart() else in_process.named_readings(Path(path))
    return [(known[name], Fit(fit)) for name, fit in found]


def ambiguous(found: Sequence[tuple[Reader, Fit]]) -> bool:
    """Return whether the content of a file leaves open which of its readings is meant."""
    return len(found) > 1 and Fit.NAMED < found[0][1] == found[1][1] < Fit.CLEAR


def reader_of(path: Path, name: str = "") -> Reader:
    """Return the reader that a file is opened with: the one of that name, else the one that fits best.

    Raises:
        ReadError: in one sentence: it is not there, of no known type, or cannot be read so.
    """
    found = _asked("reader", path, name) if apart() else in_process.reader_of(Path(path), name).name
    return readers()[found]


def domain_of(path: Path, name: str = "") -> str:
    """Return the kind of data a file holds, read as `name` says, or "" where it does not open; it is not read whole.

    A name alone does not say: .csv, .npy, .txt and .json hold more than one kind of data.
    """
    try:
        return reader_of(Path(path), name).domain
    except ReadError:
        return ""


def read_file(path: Path, part: str = "", asked: Mapping[str, str] = _NOTHING) -> Sample:
    """Read one file as a sample, or the `part` of it that is asked for, as a person has chosen.

    Raises:
        ReadError: in one sentence, whatever was wrong with the file, and what to do about it.
        Cancelled: nobody waits for it any more.
    """
    if not apart():
        try:
            return in_process.read_file(Path(path), part, asked)
        except MemoryError:
            raise refusal(path, "it takes more memory than there is", "take a part of it") from None
    sample: Sample = _asked("read", path, part, dict(asked))
    return sample


def choices_of(reader: Reader, path: Path, asked: Mapping[str, str]) -> tuple[Choice, ...]:
    """Return what may be said of a file that is read by a reader; () where there is nothing, or it is damaged."""
    if reader.choices is None:
        return ()
    try:
        found = (
            _asked("choices", path, reader.name, dict(asked))
            if apart()
            else in_process.choices(path, reader.name, asked)
        )
    except ReadError:  # reading it says what is wrong
        return ()
    return tuple(found)


def expect_file() -> None:
    """Have the process ready, soon: a person is about to choose a file."""
    if apart():
        threading.Thread(target=pool.expect, name="equiscope-expect", daemon=True).start()


def _asked(what: str, path: Path, *given: object) -> Any:
    # the other process has the folder that this one was started in, and not the one it is in now
    return pool.ask(what, Path(path).absolute(), *given)
