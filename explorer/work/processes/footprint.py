"""Measure the memory that a process takes."""

from __future__ import annotations

import os
from typing import NamedTuple


class Footprint(NamedTuple):
    """Memory of a process in bytes: addresses taken, pages in memory, and those of them that it shares with others."""

    addresses: int = 0
    resident: int = 0
    shared: int = 0


def footprint(pid: int | None = None) -> Footprint:
    """Return the memory of a process, of this one without a number; zeros where the system does not tell."""
    try:
        with open(f"/proc/{'self' if pid is None else pid}/statm", "rb") as file:
            pages = [int(number) for number in file.read().split()[:3]]
    except (OSError, ValueError):
        return Footprint()
    return Footprint(*(number * os.sysconf("SC_PAGE_SIZE") for number in pages))
