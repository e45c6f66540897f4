"""Load torch's library while Python is busy with something else: the system needs no interpreter for that.

Python imports one thing at a time. That the largest library of torch (400 MB) is mapped and linked by then takes 0.17 s
from its import, while the window is built on another core.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

LIBRARIES = "libc10.so", "libtorch_cpu.so"  # no code of Python in them; the first is needed by the second


def load_ahead() -> threading.Thread | None:
    """Begin to load them on a thread of its own; None where that is not done: torch is there, or another system."""
    if not sys.platform.startswith("linux") or "torch" in sys.modules or (os.cpu_count() or 1) < 2:
        return None
    thread = threading.Thread(target=load, name="equiscope-loading", daemon=True)
    thread.start()
    return thread


def load() -> None:
    """Load them on this thread; what cannot be loaded is left to the import of torch."""
    with contextlib.suppress(Exception):  # whatever is wrong with torch, its import says it better
        found = find_spec("torch")
        if found is None or found.origin is None:
            return
        # a call through ctypes lets other threads run, which ctypes.CDLL does not
        opened = ctypes.CDLL(None).dlopen
        opened.restype, opened.argtypes = ctypes.c_void_p, (ctypes.c_char_p, ctypes.c_int)
        for name in LIBRARIES:
            path = Path(found.origin).parent / "lib" / name
            if not path.is_file() or not opened(os.fsencode(path), os.RTLD_LAZY):
                return
