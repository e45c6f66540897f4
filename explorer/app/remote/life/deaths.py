"""Say in one sentence how the process of a network has ended, and where it was."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable
from pathlib import Path

from explorer.app.remote.settings import GB, MEMORY
from explorer.declare.states.model_name import code_of, named_as_shown
from explorer.work.crumbs import ROOT
from explorer.work.files.places import at_home

TOLD = {
    "SIGSEGV": "crashed (segmentation fault)",
    "SIGBUS": "crashed (bus error)",
    "SIGABRT": "was aborted by a library that it uses",
    "SIGFPE": "crashed (arithmetic error)",
    "SIGILL": "crashed (illegal instruction)",
    "SIGKILL": "was killed by the system, most likely because the memory of this computer ran out",
}
# where the system says that it has ended nothing for want of memory
KILLED = "was killed by its own code or by another program (SIGKILL)"
# exit codes by which Windows says the same
WINDOWS = {0xC0000005: TOLD["SIGSEGV"], 0xC0000409: TOLD["SIGABRT"], 0xC00000FD: "overran its stack"}
BROKEN = 70  # exit code of a process in which nothing can be answered any more
_FRAME = re.compile(r'^ *File "(?P<file>.+)", line (?P<line>\d+)', re.MULTILINE)


class Died(Exception):
    """The process of a network has ended before it had answered; `where` is the layer that ran."""

    def __init__(self, sentence: str, where: str = "") -> None:
        super().__init__(sentence)
        self.where = where


def cause(code: int, guard_killed: bool = False, out_of_memory: bool = True) -> str:
    """Return what became of a process that ended by itself, by its exit code or the signal that ended it.

    Args:
        guard_killed: it has killed the process that guards it.
        out_of_memory: the system may have ended it for want of memory.
    """
    if guard_killed:
        return "was ended: its parent process was killed"
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        if name == "SIGKILL" and not out_of_memory:
            return KILLED
        return TOLD.get(name, f"was ended by {name}")
    if code == BROKEN:
        return "has broken what Python itself needs in its process"
    return WINDOWS.get(code, f"ended its own process with exit code {code}")


SILENT = "closed what it was asked through, and was ended"
# both look alike from here: bytes that are no answer
GARBLED = "gave no answer that can be read (it wrote into its line, or replaced what writes there), and was ended"
# what it would have been told by never came: it says so on another way
MUTE = "has replaced what sends its answers, and was ended"
DEAF = "has replaced what hears what it is asked, and was ended"
UNASKED = "broke off though nobody had asked it to, and was ended"
HALTED = "stopped its own process by a signal, and was ended"
HEADLESS = "ended the main thread of its own process, and was ended"


def excess(names: Iterable[str], limit: int, where: str) -> str:
    """Return what is said of networks whose process took more memory than it may."""
    most = f"the {limit / GB:.3g} GB that it may ({MEMORY} sets the limit)"
    return f"{who(names)} took more memory than {most}{where}: choose a smaller sample or network."


def flooded(names: Iterable[str], most: int, where: str) -> str:
    """Return what is said of networks whose process has printed more than that many bytes."""
    return f"{who(names)} printed more than {most // 10**6} MB{where}, and was stopped"


def who(names: Iterable[str]) -> str:
    """Return the networks of a person's own files among these: "Net in net.py"."""
    told = [named_as_shown(name) for name in names if code_of(name) is not None]
    return " or ".join(dict.fromkeys(told)) or "The network"


def place(layer: str, traceback: str, names: Iterable[str]) -> str:
    """Return " in layer conv1 (net.py, line 12)" as far as it is known.

    Args:
        layer: where the network was by its own hooks.
        traceback: what `faulthandler` wrote.
    """
    folders = {str(at_home(path).resolve().parent) for name in names if (path := code_of(name)) is not None}
    line = next(
        (
            f"{Path(found['file']).name}, line {found['line']}"
            for found in _FRAME.finditer(traceback)
            if any(Path(found["file"]).resolve().is_relative_to(folder) for folder in folders)
            and "site-packages" not in found["file"]
        ),
        "",
    )
    here = "" if not layer else " in its forward" if layer == ROOT else f" in layer {layer}"
    return here + (f" ({line})" if line and here else f" at {line}" if line else "")
