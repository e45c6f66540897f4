"""Say whether a file is still the one that was read, without reading it."""

from __future__ import annotations

from explorer.work.files.places import at_home


def stamp(path: str) -> object:
    """Return what changes when a file does, also where another one was renamed to it; None where there is no file."""
    try:
        status = at_home(path).stat()
    except (OSError, ValueError):  # no file, or no name of one
        return None
    return (status.st_mtime_ns, status.st_size, status.st_ino)
