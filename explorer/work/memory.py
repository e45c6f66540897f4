"""Keep freed memory from staying with the process, and Python's collector from what stays.

glibc gives each thread a heap of its own and seldom returns any: after a thousand interactions two thirds of what the
heaps held was free. So there is one, which keeps what is freed while a person works, and gives it back once they rest.
Where there is no glibc, nothing is done.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import os
import queue
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_TRIM_THRESHOLD, _MMAP_MAX, _ARENA_MAX = -1, -4, -8  # of malloc.h
RESTED = 3.0  # seconds after the last request that freed memory is given back, once
# how many kernels oneDNN and torch's layer above it keep each: they make one for each shape of each layer, and keep
# 1024 of each kind, which after some thousand shapes are 100 MB and more that no table of ours counts (an LSTM over one
# more length takes 0.2 MB); making one anew takes 0.1 ms for a convolution and 1 ms for an LSTM
KERNELS = 64
_KEEP = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")
END_S = 5.0  # that the end of the program waits for residents to be freed
HOME = "residents"  # the name of the thread that they live on
KEPT = 2**31 - 1  # bytes: more that is free at the end of the heap goes back at once
MUCH = 2**30  # bytes of freed memory that stay with the process while it works


_held = threading.Event()  # whether there is one heap


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
    """Let all threads but the first share one heap, where not all hold one; call it before they are started."""
    if not _held.is_set():
        _ask("mallopt", _ARENA_MAX, 2)


def hold_one_heap() -> None:
    """Let all threads share one heap that keeps what is freed, for a window; call it before they are started.

    Where each large tensor is a mapping of its own (glibc's way above 32 MB, and for all threads but the first), the
    system clears every page of every layer of every frame anew: of 1.4 s for 10,000 atoms through SchNet, 0.8 s.
    It takes more addresses, so a process with a limit of them, as a person's own network has, is better off without.
    Whoever computes calls `give_back_much` between two pieces of work, and `give_back` when nothing is left to do.
    """
    _held.set()
    _ask("mallopt", _ARENA_MAX, 1)  # other heaps hold pieces of 64 MB, and map what is larger
    _ask("mallopt", _MMAP_MAX, 0)
    _ask("mallopt", _TRIM_THRESHOLD, KEPT)


def keep_few_kernels() -> None:
    """Bound what torch keeps of compiled kernels, before the first layer runs; whoever has set a bound is obeyed."""
    for name in _KEEP:
        os.environ.setdefault(name, str(KERNELS))


def give_back() -> None:
    """Return freed pages to the system; takes milliseconds, in which other threads may wait for memory."""
    _ask("malloc_trim", 0)


def give_back_much() -> None:
    """Return freed pages to the system where they are many: new ones cost time, and others may need them."""
    if _freed() > MUCH:
        give_back()


def _freed() -> int:
    """Return about how many bytes are free and held: what is resident, and neither a file's nor in use by the heap.

    Python's own blocks and the stacks count too, some 100 MB. 0 where nobody tells.
    """
    if not sys.platform.startswith("linux"):
        return 0
    try:
        ask = ctypes.CDLL(None).mallinfo2  # of glibc 2.33
        with open("/proc/self/statm") as file:
            _, resident, of_files, *_ = map(int, file.read().split())
    except (OSError, AttributeError, ValueError):
        return 0
    ask.restype = _Mallinfo
    return (resident - of_files) * os.sysconf("SC_PAGE_SIZE") - int(ask().uordblks)


class _Mallinfo(ctypes.Structure):
    """The answer of mallinfo2, of malloc.h."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
        )
    ]  # fmt: skip


class Resident(Generic[T]):
    """An object whose memory a library takes back only on the thread that asked for it; it is made and freed on one.

    SciPy's SuperLU counts its pieces of memory for each thread, and leaves those that it does not find there: factors
    made by a worker and let go of by the window stayed with the process, some megabytes of a surface each time.

    Args:
        make: is called on that thread.

    Raises:
        Exception: what `make` raises.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._held = _home.made(make)
        weakref.finalize(self, _home.let_go, self._held).atexit = False

    def use(self, function: Callable[[T], R]) -> R:
        """Return what a function makes of the object on the caller's thread; it must not keep it."""
        return function(self._held[0])


class _Home:
    """The thread on which residents live; it is there as long as any of them."""

    def __init__(self) -> None:
        self._asked: queue.SimpleQueue[tuple[Callable[[], Any], Future[list[Any]]] | list[Any]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._all: dict[int, list[Any]] = {}
        atexit.register(self._close)

    def made(self, make: Callable[[], T]) -> list[T]:
        answer: Future[list[T]] = Future()
        with self._lock:
            self._asked.put((make, answer))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=HOME, daemon=True)
                self._thread.start()
        return answer.result()

    def let_go(self, held: list[Any]) -> None:
        self._asked.put(held)  # without the lock: a collector may come to this at any moment

    def _run(self) -> None:
        there = True
        while there:
            asked = self._asked.get()
            if isinstance(asked, list):
                asked.clear()
                self._all.pop(id(asked), None)
            else:
                make, answer = asked
                try:
                    held = [make()]
                except BaseException as error:
                    answer.set_exception(error)
                else:
                    self._all[id(held)] = held
                    answer.set_result(held)
                    del held
                del make, answer
            del asked
            if not self._all:
                with self._lock:
                    if not (there := not self._asked.empty()):
                        self._thread = None

    def _close(self) -> None:
        """Free all here: Python frees what is left at its end on the main thread, where SuperLU fails."""
        with self._lock:
            thread = self._thread
        for held in list(self._all.values()):
            self._asked.put(held)
        if thread is not None:
            thread.join(timeout=END_S)


_home = _Home()


def _ask(function: str, *numbers: int) -> None:
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError, AttributeError):
            getattr(ctypes.CDLL(None), function)(*numbers)
