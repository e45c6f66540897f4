"""Measure the memory of a process, and end it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys

from explorer.work.processes.footprint import footprint


def memory(pid: int) -> int:
    """Return the bytes of memory that a process takes for itself, 0 where that is not known."""
    taken = footprint(pid)
    return taken.resident - taken.shared


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it has started, at once."""
    if sys.platform == "win32":
        process.kill()
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
