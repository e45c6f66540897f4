"""Write files whole or not at all: under another name first, which then takes the place of what was there."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FULL = 2**14  # bytes that are free on a disk on which nothing can be written
ASIDE = 5  # copies of a damaged file that are kept; the last one is written over
HALF = ".part"  # in the names of files that are being written; one that stays is of a process that was killed
OLD_S = 3600.0  # after which nobody writes any more to a file of such a name
_LEFT = re.compile(rf"\.[0-9a-f]{{12}}{re.escape(HALF)}(\.\w+)?")
_cleared: set[Path] = set()


def is_device(path: Path) -> bool:
    """Say whether something is there that is neither a file nor a folder: it is written to, and never replaced."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _is_full(folder: Path) -> bool:
    try:
        return shutil.disk_usage(folder).free < FULL
    except OSError:
        return False


def _clear(folder: Path) -> None:
    """Remove what killed processes have left half written in a folder, once for each."""
    if folder in _cleared:
        return
    _cleared.add(folder)
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not _LEFT.fullmatch(entry.name):
                continue
            with suppress(OSError):
                if time.time() - entry.stat(follow_symlinks=False).st_mtime > OLD_S:
                    os.unlink(entry.path)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a name to write under, with the ending of `path`; it becomes `path` when all went well, else it is removed.

    What is replaced leaves its permissions, and a link leads to the new file as it did to the old one. A device or a
    pipe (/dev/null, /dev/stdout) takes the bytes and stays what it is.

    Raises:
        OSError: the file cannot be written; it names `path`.
    """
    target = Path(os.path.realpath(path))
    try:
        if is_device(target):
            with tempfile.TemporaryDirectory() as folder:
                yield (beside := Path(folder, f"whole{HALF}{path.suffix}"))
                with beside.open("rb") as made, target.open("wb") as taking:
                    shutil.copyfileobj(made, taking)
            return
        _clear(target.parent)
        beside = target.with_name(f".{secrets.token_hex(6)}{HALF}{path.suffix}")
        try:
            yield beside
            if target.is_file():
                shutil.copymode(target, beside)
            os.replace(beside, target)
        except Exception as error:  # libraries have words of their own for a full disk
            if not (isinstance(error, OSError) and error.errno) and _is_full(target.parent):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error
            raise
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        if error.errno is None or (error.filename is not None and HALF not in str(error.filename)):
            raise
        # of a full disk nobody says which file it was, and nobody asked for the name beside
        raise OSError(error.errno, error.strerror, str(path)) from None


def write_whole(path: Path, data: bytes, lasting: bool = True) -> None:
    """Write a file completely or not at all: it is synchronised to the disk before it replaces the old one.

    Args:
        lasting: off for what is for another process only: after a failure of the computer it may be gone.
    """
    with replacing(path) as beside, beside.open("wb") as file:
        file.write(data)
        file.flush()
        if lasting:
            os.fsync(file.fileno())


@contextmanager
def filled(folder: Path, alone: bool = False) -> Iterator[Path]:
    """Make a folder to be written into, which on failure is taken away with what was made above it, where it is empty.

    Args:
        alone: nobody else makes folders in it meanwhile: new ones that are empty are taken away as well.
    """
    path = folder.absolute()
    fresh = [one for one in (path, *path.parents) if not one.exists()]  # the deepest first
    before = set(path.iterdir()) if alone and path.exists() else set()
    try:
        path.mkdir(parents=True, exist_ok=True)
        yield folder
    except BaseException:
        made = [one for one in path.iterdir() if one not in before] if alone and path.exists() else []
        for one in (*(one for one in made if one.is_dir()), *fresh):
            with suppress(OSError):  # it is not empty
                one.rmdir()
        raise


def keep_aside(path: Path) -> Path | None:
    """Copy a damaged file beside itself before it is written again; return the copy, None where it cannot be made.

    What can be read of it is used, and the rest would be gone with the next choice of a person.
    """
    try:
        data = path.read_bytes()
        for number in range(1, ASIDE + 1):
            beside = path.with_name(f"{path.name}.damaged{number if number > 1 else ''}")
            if not beside.exists() or beside.read_bytes() == data or number == ASIDE:
                write_whole(beside, data)
                shutil.copymode(path, beside)
                return beside
    except OSError:
        pass
    return None
