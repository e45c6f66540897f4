"""Readers of data files. A reader is ONE file in this package that exports ONE constant, READER."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from explorer.data.samples import Sample


class ReadError(ValueError):
    """A file that cannot be read; the message is one sentence: what, where, what to do."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A way to read one family of file formats into a Sample.

    `sniff` looks at the first 64 bytes so that a lying extension is caught; `read` raises ReadError and nothing else
    for a bad file. `fits` looks into the file itself, whatever it is called: for formats that share a container (an
    image or a graph in an NPZ) and for those that no first bytes tell. It is asked before all others, and says False
    when in doubt. `claims` looks into a file with one of the `extensions`, where several readers share them (.txt) and
    any text could be theirs: it is asked of files that no content tells. Readers of a low `rank` are asked first: those
    of a special case of a format that others read as well. `part` reads one of the several things in a
    file, "12" of "file.txt#12"; None where a file is one thing.
    """

    name: str
    title: str
    extensions: tuple[str, ...]
    domain: str
    sniff: Callable[[bytes], bool]
    read: Callable[[Path], Sample]
    fits: Callable[[Path], bool] | None = None
    part: Callable[[Path, str], Sample] | None = None
    claims: Callable[[Path], bool] | None = None
    rank: int = 0
