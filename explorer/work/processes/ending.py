"""Measure the memory of a process, and end it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys

from explorer.work.processes.footprint import footprint

LONGEST = 5.0  # seconds that a guard has to see that its child has ended


def memory(pid: int) -> int:
    """Return the bytes of memory that a process takes for itself, 0 where that is not known."""
    taken = footprint(pid)
    return taken.resident - taken.shared


def _told(pid: int) -> list[bytes]:
    """Return what the system tells of a process, from its state on; [] where nothing is known."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return []


def halted(pid: int) -> bool:
    """Say whether a process was stopped by a signal, so that it does nothing until another one wakes it."""
    return _told(pid)[:1] == [b"T"]


def headless(pid: int) -> bool:
    """Say whether the first thread of a process has ended while others go on, of which none answers."""
    try:
        return _told(pid)[:1] == [b"Z"] and len(os.listdir(f"/proc/{pid}/task")) > 1
    except OSError:
        return False


def children_of(pid: int) -> list[int]:
    """Return the processes that any thread of a process has started and that are there still; none where unknown."""
    found = list[int]()
    with contextlib.suppress(OSError, ValueError):
        for thread in os.listdir(f"/proc/{pid}/task") if pid else ():
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found += map(int, file.read().split())
    return found


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process has taken, 0 where that is not known."""
    told = _told(pid)
    try:
        return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")
    except (ValueError, IndexError):
        return 0.0


def age(pid: int) -> float:
    """Return the seconds since a process began, 0 where that is not known."""
    told = _told(pid)
    try:
        # what the system has in this file, a program that sets the clock of others back (faketime) leaves alone
        with open("/proc/uptime", "rb") as file:
            running = float(file.read().split()[0])
        return max(0.0, running - int(told[19]) / os.sysconf("SC_CLK_TCK"))
    except (AttributeError, OSError, ValueError, IndexError):  # another system
        return 0.0


def end(process: subprocess.Popen[bytes], working: int | None = None) -> None:
    """End a process and all that it has started, at once.

    Args:
        working: the child of it that does the work, as `Started.working` says it; None where it works itself.
    """
    if sys.platform == "win32":
        process.kill()
    else:
        group = process.pid if working is None else working
        if group:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)
        else:  # not known yet: its child sees that it is gone
            process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):  # a guard ends when its child has
            process.wait(LONGEST)
        process.kill()
    process.wait()
