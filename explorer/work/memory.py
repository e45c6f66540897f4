"""Keep freed memory from staying with the process: glibc gives each thread a heap of its own and seldom returns any.

After a thousand interactions two thirds of what the heaps held was free. Where there is no glibc, nothing is done.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys

_ARENA_MAX = -8  # M_ARENA_MAX of malloc.h
RESTED = 3.0  # seconds after the last request that freed memory is given back, once
ARENAS = 2  # the window's and one for all threads that compute


def share_arenas() -> None:
    """Let all threads but the first share one heap; call it before they are started."""
    _ask("mallopt", _ARENA_MAX, ARENAS)


def give_back() -> None:
    """Return freed pages to the system; takes milliseconds, in which other threads may wait for memory."""
    _ask("malloc_trim", 0)


def _ask(function: str, *numbers: int) -> None:
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError, AttributeError):
            getattr(ctypes.CDLL(None), function)(*numbers)
