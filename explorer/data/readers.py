"""Readers of data files. A reader is ONE file in this package that exports ONE constant, READER."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from explorer.declare.registry import scan, scanned
from explorer.declare.samples import Sample
from explorer.declare.telling.choices import Choice


class ReadError(ValueError):
    """A file that cannot be read; the message is one sentence: what, where, what to do."""


class Fit(IntEnum):
    """The fit of a file's content to a reader."""

    NO = 0  # it is none of its files
    NAMED = 1  # nothing but the name of the file says so
    ALLOWED = 2  # it can be read so, and is hardly meant
    LIKELY = 3
    CLEAR = 4


@dataclass(frozen=True, slots=True)
class Reader:
    """A way to read one family of file formats into a Sample.

    `sniff` looks at the first 64 bytes so that a lying extension is caught; `read` raises ReadError and nothing else
    for a bad file. `fits` looks into the file itself, whatever it is called: for formats that share a container (an
    image or a graph in an NPZ) and for those that no first bytes tell. It is asked before all others, and says False
    when in doubt. `rates` looks into a file with one of the `extensions`, where several readers share them (.txt) and
    any text could be theirs, and says how well it fits. Readers of a low `rank` are asked first: those
    of a special case of a format that others read as well. `part` reads one of the several things in a
    file, "12" of "file.txt#12"; None where a file is one thing. `choices` are what a person may say of a file, given
    what has been said already, and `read_as` reads it so: "file.csv?columns=2,3". `takes` is what an archive of arrays
    must hold to be read so, "a volume (z, y, x)": a person whose file no reader takes is told all of them. `unasked` is
    what a file holds that is read so though nobody says so, where one that holds less is read so by request.
    """

    name: str
    title: str
    extensions: tuple[str, ...]
    domain: str
    sniff: Callable[[bytes], bool]
    read: Callable[[Path], Sample]
    fits: Callable[[Path], bool] | None = None
    part: Callable[[Path, str], Sample] | None = None
    rates: Callable[[Path], Fit] | None = None
    rank: int = 0
    choices: Callable[[Path, Mapping[str, str]], tuple[Choice, ...]] | None = None
    read_as: Callable[[Path, Mapping[str, str]], Sample] | None = None
    takes: str = ""
    unasked: str = ""


@scanned
def readers() -> dict[str, Reader]:
    """Return every reader by name."""
    import explorer.spaces as package

    return scan(package, "READER", "readers")
