"""Tell what takes the memory of this process: heaps, arrays, results that are kept, objects that Python knows of."""

from __future__ import annotations

import ctypes
import gc
import re
import sys
from collections import Counter
from dataclasses import dataclass

MB = 2**20
ARENA = 64 * MB  # HEAP_MAX_SIZE of glibc
_MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ \d+ *(.*)")


class _Mallinfo(ctypes.Structure):
    """struct mallinfo2 of malloc.h; figures of all heaps together, in bytes."""

    _fields_ = [(name, ctypes.c_size_t) for name in
                ("arena", "o", "s", "h", "mapped", "u", "f", "used", "free", "k")]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Heap:
    """Bytes of the C heaps: what is in use (also what has pages of its own), and what is free and kept."""

    used: int
    mapped: int
    free: int

    @property
    def live(self) -> int:
        return self.used + self.mapped


def heap() -> Heap:
    """Return the figures of the C heaps; zeros where there is no glibc of 2.33 or later."""
    ask = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if ask is None:
        return Heap(0, 0, 0)
    ask.restype = _Mallinfo
    info = ask()
    return Heap(info.used, info.mapped, info.free)


@dataclass(frozen=True, slots=True)
class Resident:
    """Bytes of memory that the process takes: its own, pages of files (libraries, as they are used), and shared."""

    own: int
    files: int
    shared: int

    @property
    def all(self) -> int:
        return self.own + self.files + self.shared


def resident() -> Resident:
    """Return the memory that the process takes."""
    found = {}
    with open("/proc/self/status", encoding="ascii") as file:
        for line in file:
            name, _, value = line.partition(":")
            if name.startswith("Rss"):
                found[name] = int(value.split()[0]) * 1024
    return Resident(found["RssAnon"], found["RssFile"], found["RssShmem"])


def heap_pages() -> int:
    """Return the bytes of pages that the C heaps take: what is more than in use is free in pieces of pages."""
    found, ours = 0, False
    with open("/proc/self/smaps", encoding="ascii", errors="replace") as file:
        for line in file:
            if place := _MAPPING.match(line):
                begin, end, name = int(place[1], 16), int(place[2], 16), place[3].strip()
                # the first thread's heap has a name; those of others begin at multiples of 64 MB and are no larger
                ours = name == "[heap]" or (not name and begin % ARENA == 0 and end - begin <= ARENA)
            elif ours and line.startswith("Rss:"):
                found += int(line.split()[1]) * 1024
    return found


def arrays() -> int:
    """Return the bytes of all tensors and arrays that the collector knows of: nothing may be put aside from it."""
    import numpy as np
    import torch

    from explorer.work.budget import held_bytes

    # by their type: isinstance asks what is lazy for its class, and has it imported
    told = (v for o in gc.get_objects() for v in gc.get_referents(o) if issubclass(type(v), np.ndarray | torch.Tensor))
    return held_bytes(told, 0)


def kinds() -> Counter[str]:
    """Count the objects that the collector knows of, by their class."""
    return Counter(f"{type(o).__module__}.{type(o).__qualname__}" for o in gc.get_objects())


def holders(listing: bool = False) -> str:
    """Say what the memory is taken by: heaps, results that are kept, pages, blocks of Python.

    Args:
        listing: arrays and tensors too. For them all objects are listed, and a worker that makes a tuple of a generator
            meanwhile has CPython raise a SystemError there: only where no window is open.
    """
    from explorer.work.budget import results

    now, taken = heap(), resident()
    heaps = (
        f"heaps {now.used // MB} MB in use in {heap_pages() // MB} MB of pages, {now.free // MB} free, "
        f"{now.mapped // MB} mapped; "
    ) if now.live else ""  # fmt: skip
    held = f"results {results.nbytes // MB} MB" + (f", arrays {arrays() // MB} MB" if listing else "")
    pages = f"own {taken.own // MB}, of files {taken.files // MB}, shared {taken.shared // MB} MB"
    python = f"{sys.getallocatedblocks():,} blocks of Python, {len(sys.modules)} modules"
    return f"{heaps}{held}; {pages}; {python}"
