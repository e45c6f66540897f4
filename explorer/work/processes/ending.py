"""Measure the memory of a process, and end it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys


def memory(pid: int) -> int:
    """Return the bytes of memory that a process takes for itself, 0 where that is not known."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            _, resident, shared, *_ = map(int, file.read().split())
    except (OSError, ValueError):
        return 0
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")


def halted(pid: int) -> bool:
    """Say whether a process was stopped by a signal, so that it does nothing until another one wakes it."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[:1] == [b"T"]
    except OSError:
        return False


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it has started, at once."""
    if sys.platform == "win32":
        process.kill()
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
