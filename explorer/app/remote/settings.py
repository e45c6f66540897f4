"""Say whether a person's own network runs in a process of its own, and how much memory it may take there.

Both are set in the environment, so that they hold for the window and the command line alike:
EQUISCOPE_PROCESS=0 runs it in the program's own process, as a debugger needs it; EQUISCOPE_MEMORY=8 gives it 8 GB, and
0 as much as there is.
"""

from __future__ import annotations

import os
from pathlib import Path

from explorer.work.processes.starting import INSIDE, PROCESS

MEMORY = "EQUISCOPE_MEMORY"
SHARE = 0.75  # of the memory of this machine
GB = 10**9


def apart() -> bool:
    """Return whether a person's own network gets a process."""
    return os.environ.get(PROCESS, "") not in ("0", INSIDE)


def memory_limit() -> int:
    """Return how many bytes of memory its process may take, 0 for no limit."""
    try:
        given = float(os.environ.get(MEMORY, ""))
    except ValueError:
        return int(SHARE * _machine())
    return max(0, int(given * GB))


def _machine() -> int:
    """Return how much memory there is for this program: that of the machine, or of its container; 0 where unknown."""
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 0
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            there = min(there, int(Path(file).read_text()))
        except (OSError, ValueError):  # "max": no limit
            continue
    return there
