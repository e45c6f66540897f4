"""Prepare a process that was just started: it dies with its parent, keeps to its memory, and says where it dies."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import IO, Any, NoReturn

from explorer.work.processes.asked_to_end import let_forks_end
from explorer.work.processes.footprint import footprint
from explorer.work.processes.starting import joined

GPU = "/dev/nvidiactl"
DEATH_OF_PARENT = 1  # PR_SET_PDEATHSIG


@dataclass(slots=True)
class Born:
    """The end of the line to the parent, and the words that it was started with."""

    connection: Connection[Any, Any]
    words: list[str]
    crash: IO[bytes] | None = None  # held, because the fault handler writes to it


def born(words: list[str], tied: bool = True) -> Born:
    """Read what `start` has told, and take precautions.

    Args:
        tied: it dies with the thread that started it, where the system can do that; else it only sees that a pipe is
            closed, as soon as its own code gives way.
    """
    line, parent, life, crash, *rest = words
    end = Born(joined(line), rest)
    if sys.platform == "win32":
        threading.Thread(target=_follow_id, args=(int(parent),), daemon=True).start()
        return end
    for number in (line, life, crash):  # what it starts, or becomes, must not keep the line open
        with contextlib.suppress(OSError):
            os.set_inheritable(int(number), False)
    os.register_at_fork(after_in_child=end.connection.close)  # what the network forks must not speak for it
    let_forks_end()
    if tied:
        _die_with(int(parent))
    threading.Thread(target=_follow, args=(int(life),), daemon=True).start()
    end.crash = os.fdopen(int(crash), "wb", buffering=0)
    faulthandler.enable(end.crash)
    faulthandler.register(signal.SIGUSR1, end.crash)
    _leave_a_trace(end.crash)
    return end


def end_fork(connection: Connection[Any, Any]) -> None:
    """End this process if the network has forked it: only what it does in the network's own code is its own."""
    if connection.closed:
        os.kill(os.getpid(), signal.SIGKILL)


def own(connection: Connection[Any, Any], write: Callable[[str], None]) -> Callable[[str], None]:
    """Return `write`, which ends a process that the network has forked as soon as it leaves the network's own code."""

    def written(place: str) -> None:
        end_fork(connection)
        write(place)

    return written


def _die_with(parent: int) -> None:
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(DEATH_OF_PARENT, signal.SIGKILL)
    if os.getppid() != parent:  # it has died meanwhile
        os._exit(1)


def _follow(life: int) -> None:
    """End when the parent has ended, whose end of this pipe closes then."""
    with contextlib.suppress(OSError):
        while os.read(life, 1):
            pass
    os.kill(os.getpid(), signal.SIGKILL)


def _follow_id(parent: int) -> None:
    """End when the parent has ended, where its pipes cannot be inherited."""
    import ctypes

    synchronize, endless = 0x00100000, 0xFFFFFFFF
    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined, unused-ignore]
    handle = kernel.OpenProcess(synchronize, False, parent)
    if handle:
        kernel.WaitForSingleObject(handle, endless)
        os._exit(1)


def _leave_a_trace(crash: IO[bytes]) -> None:
    """Have `os._exit` say first where it was called."""
    leave = os._exit

    def exit_(status: int) -> NoReturn:
        faulthandler.dump_traceback(crash, all_threads=False)
        leave(status)

    os._exit = exit_


def keep_to(limit: int, libraries: int = 0) -> None:
    """Let requests for more memory fail from here on, where the system can do that; 0 for no limit.

    It is about what comes on top of what is loaded, and of the `libraries` that are still to come. Those of a GPU
    reserve addresses without end, so with one only the parent looks after the memory.
    """
    if not limit or not sys.platform.startswith("linux") or os.path.exists(GPU):
        return
    import resource

    taken = footprint()
    most = taken.addresses + max(0, limit - taken.resident + taken.shared) + libraries
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
