"""The import of pyvista, which takes a second or two, in a thread of its own: the window goes on meanwhile."""

from __future__ import annotations

import gc
import threading
from contextlib import suppress

NAME = "import of pyvista"
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


def _work() -> None:
    # Python's collector runs on whichever thread allocates, and objects of Qt must not be destroyed on this one
    collects = gc.isenabled()
    gc.disable()
    # who draws imports it again, and says what is missing
    with suppress(ImportError):
        from widgets.spaces.mesh.drawing import picking, scene  # noqa: F401
    if collects:
        gc.enable()
    else:  # the window collects by itself, and would go through all that came with pyvista
        gc.freeze()
