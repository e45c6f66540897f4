"""Put a process in between: what runs a network has a parent that it may kill without harm.

The process that was started forks before it has imported anything. The child goes on as if it had been started itself;
the parent does nothing but wait, and ends as the child did. A network that kills its parent, or its process group,
kills this guard, and the window is told of it. The child and what it starts are a group of their own. On Linux the
guard inherits what leaves that group (a daemon, a session of its own), and ends it too.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import signal
import sys
import threading

_TOLD = re.compile(r"^guarding (\d+)\n", re.MULTILINE)
_ENDED = "guarded to the end\n"
_ADOPT = 36  # PR_SET_CHILD_SUBREAPER of prctl.h
_ROUNDS = 100  # of looking for what is left: each round ends the children of those that were ended before
WORDS = 4  # of `starting.start`: the line, the parent, the life, the crash


def guarded(words: list[str]) -> list[str]:
    """Go on in a child, where the system can fork; return the words with this process as the parent."""
    if not hasattr(os, "fork"):
        return words
    line, _, life, crash = words[:WORDS]
    guard = os.getpid()
    if child := os.fork():
        _guard(child, int(line), int(life), int(crash))
    os.setpgid(0, 0)
    return [line, str(guard), *words[2:]]


def _guard(child: int, line: int, life: int, crash: int) -> None:
    """Wait for the child and end as it did; both end at once when the process that started this one has ended."""
    with contextlib.suppress(OSError):  # it has done so itself
        os.setpgid(child, child)
    os.write(crash, f"guarding {child}\n".encode())
    os.close(line)  # or its end would not be seen at the other end
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_ADOPT, 1, 0, 0, 0)
    threading.Thread(target=_follow, args=(life, child), daemon=True).start()
    _, status = os.waitpid(child, 0)
    _end_group(child)  # what it has started
    _end_adopted()
    # it stands still only where it has asked to be traced: by this process, which lets no signal pass
    code = -os.WSTOPSIG(status) if os.WIFSTOPPED(status) else os.waitstatus_to_exitcode(status)
    os.write(crash, _ENDED.encode())
    if code < 0:
        _without_core()
        if -code != signal.SIGKILL:  # which nobody can handle
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def _follow(life: int, child: int) -> None:
    while os.read(life, 1):
        pass
    _end_group(child)
    _end_adopted()
    os.kill(os.getpid(), signal.SIGKILL)


def _end_group(child: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)


def _end_adopted() -> None:
    """End all that has become a child of the guard because its own parent is gone."""
    for _ in range(_ROUNDS):
        found = _children()
        for one in found:
            with contextlib.suppress(OSError):
                os.kill(one, signal.SIGKILL)
        for one in found:
            with contextlib.suppress(OSError):  # the other thread has waited for it
                os.waitpid(one, 0)
        if not found:
            return


def _children() -> list[int]:
    found, own = [], os.getpid()
    for name in os.listdir("/proc") if sys.platform == "linux" else ():
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
                if int(file.read().rpartition(b")")[2].split()[1]) == own:
                    found.append(int(name))
    return found


def _without_core() -> None:
    """Leave no image of the memory of this process beside that of the child."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def child_of(words: str) -> int:
    """Return the id of the process that the guard waits for, by what was written down; 0 while nothing is known."""
    found = _TOLD.search(words)
    return int(found[1]) if found else 0


def outlived(words: str, code: int | None) -> bool:
    """Return whether the guard was killed while its child ran, by what was written down and its own end."""
    return code is not None and code < 0 and child_of(words) > 0 and _ENDED not in words
