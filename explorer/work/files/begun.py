"""Folders that are filled and then moved or removed, noted for whoever outlives a process that ends amid that.

A process that is killed takes nothing back. Whoever started it names a place; there lies a link to each such folder for
as long as it is needed, which needs no room on a full disk.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = "equiscope-begun-"
_place: list[str] = []  # where this process notes what it has begun; empty where nobody would look


def a_place() -> str:
    """Return a path of nothing yet, for one process to note in what it has begun; "" where there can be none."""
    try:
        return str(Path(tempfile.gettempdir(), f"{_PREFIX}{secrets.token_hex(8)}"))
    except OSError:  # there is no folder for temporary files
        return ""


def note_in(place: str) -> None:
    """Note from now on what is begun in this process."""
    _place[:] = [place] if place else []


@contextmanager
def begun(folder: Path) -> Iterator[None]:
    """Have a folder removed by whoever started this process if it ends within this; what it ends with otherwise stays.

    Of folders alone that are private and that this program has named itself.
    """
    note = Path(_place[0], secrets.token_hex(4)) if _place else None
    try:
        if note is not None:
            with suppress(OSError):  # nothing is noted then
                note.parent.mkdir(mode=0o700, exist_ok=True)
                note.symlink_to(folder.absolute())
        yield
    finally:
        if note is not None:
            with suppress(OSError):
                note.unlink()
            with suppress(OSError):  # another folder is noted there
                note.parent.rmdir()


def take_back(place: str) -> None:
    """Remove what a process that has ended has begun and left."""
    with suppress(OSError):  # mostly there is nothing
        for note in list(os.scandir(place)):
            with suppress(OSError):
                folder = Path(os.readlink(note.path))
                os.unlink(note.path)
                # nobody else's: a network may have put anything there
                if not folder.is_symlink() and folder.stat().st_mode & 0o777 == 0o700:
                    shutil.rmtree(folder, ignore_errors=True)
        os.rmdir(place)
