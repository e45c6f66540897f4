"""Measure the memory that a process takes."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

_COUNTS = Path("/proc/vmstat")


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


def killed_for_memory() -> int | None:
    """Return how many processes the system has ended so far because memory ran out; None: it does not tell."""
    try:
        found = re.search(r"^oom_kill (\d+)", _COUNTS.read_text("ascii"), re.MULTILINE)
    except (OSError, ValueError):
        return None
    return int(found[1]) if found else None
