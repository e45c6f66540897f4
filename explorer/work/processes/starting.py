"""Start a process of this program: a fresh interpreter with the same paths, and a line to talk on."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Client, Connection, Listener
from types import MappingProxyType
from typing import IO, Any

PROCESS = "EQUISCOPE_PROCESS"  # 0: everything runs in one process
INSIDE = "inside"  # what it says in a process that was started for a network
# the folder that a person works in is no place to import from, before the paths are those of this process
CODE = "import sys, os; sys.path[:] = sys.argv[1].split(os.pathsep); from {module} import main; main(sys.argv[2:])"


@dataclass(slots=True)
class Started:
    """A process, the line to it, and what only its death shows.

    Attributes:
        life: the end of a pipe that closes with this process.
        crash: a file that the process writes its last stack to.
    """

    process: subprocess.Popen[bytes]
    connection: Connection[Any, Any]
    life: int
    crash: IO[bytes]

    def last_words(self) -> str:
        """Return the stacks that it has written down."""
        size = os.fstat(self.crash.fileno()).st_size
        if sys.platform == "win32":
            self.crash.seek(0)
            return self.crash.read().decode("utf-8", "replace")
        return os.pread(self.crash.fileno(), size, 0).decode("utf-8", "replace")

    def close(self) -> None:
        """Close what is held for it."""
        self.connection.close()
        with contextlib.suppress(OSError):
            os.close(self.life)
        self.crash.close()


def start(
    module: str,
    words: Sequence[str],
    numbers: Sequence[int] = (),
    variables: Mapping[str, str] = MappingProxyType({}),
    **more: Any,
) -> Started:
    """Start `main` of a module with some words.

    Args:
        module: its whole name, as `__name__` says it.
        numbers: descriptors that it inherits; they come before the words.
        variables: of its environment.
        more: how it is started, as for Popen.
    """
    ours, theirs, listener = _line()
    life, lived = os.pipe()
    crash = tempfile.TemporaryFile()
    code = CODE.format(module=module)
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
    return Started(process, ours, lived, crash)


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
