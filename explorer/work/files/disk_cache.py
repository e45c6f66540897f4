"""Arrays that took long, kept on disk by the hash of what they follow from.

The folder is EQUISCOPE_CACHE, or `equiscope` in the system's folder for caches. A file that cannot be read is made
again and never an error; a folder that cannot be written keeps nothing. Nothing is unpickled.
"""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.work.files.places import cache_folder
from explorer.work.files.replacing import HALF, replacing

LIMIT = 1_000_000_000  # bytes on disk; what was not used for longest goes first
FORGOTTEN_S = 3600.0  # age of a half of a file, from which on nobody writes it any more
VERSION = 1  # of what the arrays mean
WORTH = 0.5  # seconds that something must have taken to be kept: a drag makes a new surface for every picture


def content_key(*parts: Any) -> str:
    """Return 32 hexadecimal digits that follow from arrays and plain values alone."""
    digest = hashlib.blake2b(digest_size=16)
    for part in (VERSION, *parts):
        if isinstance(part, np.ndarray):
            digest.update(f"{part.dtype}{part.shape}".encode())
            # -0.0 is 0.0
            digest.update(np.ascontiguousarray(part + 0.0 if part.dtype.kind == "f" else part).tobytes())
        else:
            digest.update(repr(part).encode())
        digest.update(b"\0")
    return digest.hexdigest()


def folder() -> Path:
    """Return where the files lie; it need not exist."""
    return cache_folder()


def load(key: str) -> dict[str, NDArray[Any]]:
    """Return the arrays under a key, empty if there are none or the file is broken, which is then removed."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    path = folder() / f"{key}.safetensors"
    try:
        if not path.exists():
            return {}
        found = load_file(path)
        os.utime(path)  # used just now
    except (OSError, SafetensorError, ValueError, RuntimeError):
        _remove(path)
        return {}
    return dict(found)


def store(key: str, arrays: dict[str, NDArray[Any]], seconds: float) -> None:
    """Keep arrays that took `seconds`, written beside and renamed; drop the oldest files beyond the limit."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    if seconds < WORTH or sum(array.nbytes for array in arrays.values()) > LIMIT:
        return
    try:
        home = folder()
        home.mkdir(parents=True, exist_ok=True)
        with replacing(home / f"{key}.safetensors") as beside:
            save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, beside)
        _bound(home)
    except (OSError, RuntimeError, SafetensorError):  # a full or read-only disk: it is made again next time
        return


def _bound(home: Path) -> None:
    for part in home.glob(f".*{HALF}*"):  # of a process that was killed
        if abs(time.time() - part.stat().st_mtime) > FORGOTTEN_S:
            _remove(part)
    files = sorted(((p.stat().st_mtime_ns, p.stat().st_size, p) for p in home.glob("*.safetensors")), reverse=True)
    size = 0
    for _, bytes_, path in files:
        size += bytes_
        if size > LIMIT:
            _remove(path)


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return
