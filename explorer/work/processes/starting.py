"""Start a process of this program: a fresh interpreter with the same paths, and a line to talk on."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Client, Connection, Listener
from types import MappingProxyType
from typing import IO, Any

from explorer.work.processes.ending import children_of
from explorer.work.processes.footprint import killed_for_memory
from explorer.work.processes.guarding import child_of, outlived

PROCESS = "EQUISCOPE_PROCESS"  # 0: everything runs in one process
MOST_WORDS = 2**20  # bytes of the stacks of a process that are read
INSIDE = "inside"  # what it says in a process that was started for a network
# the folder that a person works in is no place to import from, before the paths are those of this process
PATHS = "import sys, os; sys.path[:] = sys.argv[1].split(os.pathsep); "
CODE = "from {module} import main; main(sys.argv[2:])"
# the guard forks before the module is imported, whose libraries start threads
GUARDED = f"from {__package__}.guarding import guarded; sys.argv[2:] = guarded(sys.argv[2:]); "


@dataclass(slots=True)
class Started:
    """A process, the line to it, and what only its death shows.

    Attributes:
        process: what was started; where somebody else's code runs, a guard whose child runs it.
        life: the end of a pipe that closes with this process.
        crash: a file that the process writes its last stack to.
    """

    process: subprocess.Popen[bytes]
    connection: Connection[Any, Any]
    life: int
    crash: IO[bytes]
    guarded: bool = False
    _working: int = 0
    _killed_before: int | None = field(default_factory=killed_for_memory)

    @property
    def working(self) -> int:
        """Return the id of the process that does the work: a guard's child, where one is; 0 before it is known."""
        if not self._working:
            self._working = child_of(self.last_words()) if self.guarded else self.process.pid
        return self._working

    @property
    def in_company(self) -> bool:
        """Return whether other programs that it has started are still there, where the system tells."""
        of_guard = children_of(self.process.pid) if self.guarded else []
        return any(not _ours(one) for one in {*of_guard, *children_of(self.working)} - {self.working})

    @property
    def guard_killed(self) -> bool:
        """Return whether the guard has ended before its child had."""
        return outlived(self.last_words(), self.process.poll())

    @property
    def out_of_memory(self) -> bool:
        """Return whether the system may have ended it for want of memory: it has ended some process so since then."""
        return self._killed_before is None or killed_for_memory() != self._killed_before

    def last_words(self) -> str:
        """Return the stacks that it has written down: the first of them, for a network may write there too."""
        size = min(os.fstat(self.crash.fileno()).st_size, MOST_WORDS)
        if sys.platform == "win32":
            self.crash.seek(0)
            return self.crash.read(size).decode("utf-8", "replace")
        return os.pread(self.crash.fileno(), size, 0).decode("utf-8", "replace")

    def close(self) -> None:
        """Close what is held for it."""
        self.connection.close()
        with contextlib.suppress(OSError):
            os.close(self.life)
        self.crash.close()


def _ours(pid: int) -> bool:
    """Return whether a process was started by `start`, as the one that reads files; or has ended meanwhile."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read().split(b"\0")
    except OSError:
        return True
    return len(words) < 3 or words[2].startswith(PATHS.encode())


def start(
    module: str,
    words: Sequence[str],
    numbers: Sequence[int] = (),
    variables: Mapping[str, str] = MappingProxyType({}),
    guard: bool = False,
    **more: Any,
) -> Started:
    """Start `main` of a module with some words.

    Args:
        module: its whole name, as `__name__` says it.
        numbers: descriptors that it inherits; they come before the words.
        variables: of its environment.
        guard: it gets a parent of its own, which it may kill.
        more: how it is started, as for Popen.
    """
    ours, theirs, listener = _line()
    life, lived = os.pipe()
    crash = tempfile.TemporaryFile()
    code = PATHS + GUARDED * guard + CODE.format(module=module)
    inherited = [life, crash.fileno(), *numbers] + ([theirs] if isinstance(theirs, int) else [])
    own = {"pass_fds": inherited, "start_new_session": True} if sys.platform != "win32" else {"close_fds": True}
    told = [str(theirs), str(os.getpid()), str(life), str(crash.fileno()), *map(str, numbers)]
    given = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, **own, **more}
    process = subprocess.Popen(
        [sys.executable, "-c", code, os.pathsep.join(sys.path), *told, *words],
        env=os.environ | {PROCESS: INSIDE, **variables}, **given,
    )  # fmt: skip
    os.close(life)
    if isinstance(theirs, int):
        os.close(theirs)
    if listener is not None:
        ours = listener.accept()
        listener.close()
    assert ours is not None
    return Started(process, ours, lived, crash, guard and hasattr(os, "fork"))


def _line() -> tuple[Connection[Any, Any] | None, int | str, Listener | None]:
    """Return our end of a line and theirs: a descriptor, or on Windows the name of a pipe."""
    if sys.platform == "win32":
        listener = Listener(family="AF_PIPE")
        return None, str(listener.address), listener
    one, other = socket.socketpair()
    return Connection(one.detach()), other.detach(), None


def joined(line: str) -> Connection[Any, Any]:
    """Return the end of the line in the process that was started."""
    found: Connection[Any, Any] = Connection(int(line)) if line.isdigit() else Client(line, family="AF_PIPE")
    return found
