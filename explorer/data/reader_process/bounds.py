"""Bound what the reading of one file may take: memory, seconds of the processor, open files."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from explorer.work.limits import MAX_ELEMENTS
from explorer.work.processes.footprint import footprint

MB = 2**20
LIBRARIES = 1024 * MB  # addresses of libraries that are loaded for a format
LEAST = 256 * MB  # bytes of memory that the smallest file may take
LARGEST = 4 * MAX_ELEMENTS  # bytes of the largest result
TIMES = 3  # the memory that reading takes, in results
DENSEST = 4 * 1032  # bytes of float32 that one byte can become: deflate packs 1032 bytes into one
SECONDS, SECONDS_PER_MB = 20.0, 5.0  # of the processor
IDLE = 10.0  # seconds for each second of the processor, until reading counts as hung
FILES = 64


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of the reading of one file."""

    memory: int  # bytes on top of those of the process
    seconds: float  # of the processor

    @property
    def longest(self) -> float:
        """Return the seconds of the clock after which it hangs, whether it works or waits."""
        return IDLE * self.seconds

    @classmethod
    def of(cls, size: int) -> Bounds:
        """Return the bounds for a file of so many bytes."""
        return cls(LEAST + TIMES * min(LARGEST, DENSEST * size), SECONDS + SECONDS_PER_MB * size / MB)

    def apply(self) -> None:
        """Keep this process to them from now on, where the system can do that; the last call counts."""
        if sys.platform == "win32":
            return
        import resource

        def lower(what: int, most: float) -> None:
            _, hard = resource.getrlimit(what)
            resource.setrlimit(what, (int(most) if hard == resource.RLIM_INFINITY else min(int(most), hard), hard))

        used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        lower(resource.RLIMIT_CPU, used + self.seconds + 1)
        lower(resource.RLIMIT_NOFILE, FILES)
        lower(resource.RLIMIT_CORE, 0)
        if sys.platform == "linux":
            lower(resource.RLIMIT_AS, footprint().addresses + self.memory + LIBRARIES)


def watch_peak() -> None:
    """Count the highest memory from here on, where the system can do that."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


def peak() -> int:
    """Return the highest memory in bytes since `watch_peak`, 0 where that is not known."""
    try:
        with open("/proc/self/status", "rb") as file:
            return next((int(line.split()[1]) * 1024 for line in file if line.startswith(b"VmHWM:")), 0)
    except OSError:
        return 0
