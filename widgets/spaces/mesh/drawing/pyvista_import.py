"""The import of pyvista, which takes a second or two, in a thread of its own: the window goes on meanwhile."""

from __future__ import annotations

import gc
import logging
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

NAME = "import of pyvista"
ROOM = 64 * 2**20  # bytes on the disk of caches, below which no compiled shaders are kept
SWITCH = "MESA_SHADER_CACHE_DISABLE"
# which comes with pyvista, and says at its first start that it looks for fonts, and without a cache where it puts them
logging.getLogger("matplotlib").setLevel(logging.ERROR)
_lock = threading.Lock()
_thread: threading.Thread | None = None


def begin() -> None:
    """Start the import unless it was started before."""
    global _thread
    with _lock:
        if _thread is None:
            # a program that ends meanwhile waits for it: half an import is no place to stop at
            _thread = threading.Thread(target=_work, name=NAME)
            _thread.start()


def done() -> bool:
    """Say whether drawing can be imported at once."""
    return _thread is not None and not _thread.is_alive()


def wait() -> None:
    """Return when drawing can be imported at once."""
    begin()
    assert _thread is not None
    _thread.join()


PYPLOT, PLUGIN = "matplotlib.pyplot", "mypy"


class Later(ModuleType):
    """Stands for a module that is imported when something of it is wanted."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked of every module by whoever looks through all of them
            raise AttributeError(name)
        return getattr(import_module(self.__name__), name)


@contextmanager
def spared() -> Iterator[None]:
    """Let pyvista be imported without what it imports for charts and for type checkers: a third of its time.

    It keeps a stand-in for matplotlib's pyplot, which becomes the real one at its first use; who else imports that
    afterwards gets the real one. A type checker that is installed is not there meanwhile.
    """
    modules: dict[str, Any] = sys.modules
    put = {PYPLOT: Later(PYPLOT), PLUGIN: None}
    put = {name: module for name, module in put.items() if name not in modules}
    modules.update(put)
    try:
        yield
    finally:
        for name, module in put.items():
            if modules.get(name) is module:
                modules.pop(name, None)
        parent = modules.get(PYPLOT.rpartition(".")[0])
        if parent is not None and isinstance(parent.__dict__.get("pyplot"), Later):
            del parent.pyplot


def without_shaders_on_a_full_disk() -> None:
    """Have Mesa keep no compiled shaders where there is no room for them.

    It writes to a file that it has mapped: where the disk has no room for a page, the program ends by a bus error.
    """
    named = os.environ.get("MESA_SHADER_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    folder = Path(named) if named else Path("~/.cache")
    with suppress(OSError, RuntimeError):  # without a home Mesa keeps nothing
        folder = folder.expanduser()
        there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        if shutil.disk_usage(there).free < ROOM:
            os.environ.setdefault(SWITCH, "true")


def _work() -> None:
    without_shaders_on_a_full_disk()
    # Python's collector runs on whichever thread allocates, and objects of Qt must not be destroyed on this one
    collects = gc.isenabled()
    gc.disable()
    # who draws imports it again, and says what is missing
    with suppress(ImportError):
        with spared():
            from widgets.spaces.mesh.drawing import picking, scene  # noqa: F401
    if collects:
        gc.enable()
    else:  # the window collects by itself, and would go through all that came with pyvista
        gc.freeze()
