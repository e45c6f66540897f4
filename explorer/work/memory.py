"""Keep freed memory from staying with the process, and Python's collector from what stays.

glibc gives each thread a heap of its own and seldom returns any: after a thousand interactions two thirds of what the
heaps held was free. Where there is no glibc, nothing is done.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import sys
from collections.abc import Iterator

_ARENA_MAX = -8  # M_ARENA_MAX of malloc.h
RESTED = 3.0  # seconds after the last request that freed memory is given back, once
# how many kernels oneDNN and torch's layer above it keep each: they make one for each shape of each layer, and keep
# 1024 of each kind, which after some thousand shapes are 100 MB and more that no table of ours counts (an LSTM over one
# more length takes 0.2 MB); making one anew takes 0.1 ms for a convolution and 1 ms for an LSTM
KERNELS = 64
_KEEP = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")
ARENAS = 2  # the window's and one for all threads that compute


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Look for no cycles meanwhile: what an import makes stays, and is looked through again and again.

    The imports of torch and of all cards take 0.2 to 0.3 s of 1.6 less, a network of 15,000 modules a quarter.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def share_arenas() -> None:
    """Let all threads but the first share one heap; call it before they are started."""
    _ask("mallopt", _ARENA_MAX, ARENAS)


def keep_few_kernels() -> None:
    """Bound what torch keeps of compiled kernels, before the first layer runs; whoever has set a bound is obeyed."""
    for name in _KEEP:
        os.environ.setdefault(name, str(KERNELS))


def give_back() -> None:
    """Return freed pages to the system; takes milliseconds, in which other threads may wait for memory."""
    _ask("malloc_trim", 0)


def _ask(function: str, *numbers: int) -> None:
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError, AttributeError):
            getattr(ctypes.CDLL(None), function)(*numbers)
