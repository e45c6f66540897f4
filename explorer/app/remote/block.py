"""Share memory between two processes."""

from __future__ import annotations

import mmap
import os
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

import numpy as np

from explorer.work.processes.wire import write_parts

LEAST = 2**20  # bytes of a block
LARGE = 2**26  # bytes; a block larger than this is given back when it is no longer needed
NO_SHRINKING = 0x2  # F_SEAL_SHRINK of fcntl.h


class Block:
    """Memory that two processes share and that nobody else can name, so that it goes when both are gone.

    It is a file without a name, or on Windows a section with one, which goes with its last user. The file is written
    and read, not mapped: the other process runs somebody else's code, which may cut it off, and what is mapped would
    then end this process.
    """

    def __init__(self, number: int) -> None:
        """Open the block of this number: a file descriptor, or on Windows any number that both know."""
        self._number = number
        self._view: mmap.mmap | None = None
        self._held = 0  # bytes that it has, as far as this side knows

    @staticmethod
    def made() -> int:
        """Return the number of a new block."""
        if sys.platform == "win32":
            return int.from_bytes(os.urandom(6), "big")
        if hasattr(os, "memfd_create"):
            return os.memfd_create("equiscope", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        with tempfile.TemporaryFile() as file:
            return os.dup(file.fileno())

    def write(self, parts: Sequence[tuple[int, memoryview]], size: int) -> int:
        """Write parts, each with where it begins; return the length of the block, which `read` wants to know."""
        wanted = max(LEAST, 1 << (size - 1).bit_length()) if size else LEAST
        if self._held < size or (self._held > LARGE and self._held > 4 * wanted):
            if sys.platform != "win32":
                os.ftruncate(self._number, wanted)
            self._held = wanted
        if sys.platform == "win32":
            view = self.seen(self._held)
            for at, raw in parts:
                view[at : at + raw.nbytes] = raw
            return self._held
        write_parts(self._number, parts)
        return self._held

    def read(self, size: int, length: int) -> np.ndarray[Any, Any]:
        """Return a copy of the first bytes, of a block that has `length` of them.

        Raises:
            ValueError: they are not there.
        """
        if not 0 <= size <= length:
            raise ValueError("more bytes than the block has")
        if sys.platform == "win32":
            with memoryview(self.seen(length)) as whole:
                return np.frombuffer(whole, np.uint8, size).copy()
        found = os.fstat(self._number)
        if size > min(found.st_size, found.st_blocks * 512 + mmap.PAGESIZE):  # nobody has written as much
            raise ValueError("more bytes than were written")
        own = np.empty(size, np.uint8)
        left, at = own.data, 0
        while left:
            done = os.preadv(self._number, [left[: 2**30]], at)
            if not done:
                raise ValueError("fewer bytes than were said")
            left, at = left[done:], at + done
        return own

    def seen(self, length: int) -> mmap.mmap:
        """Return the block as it is at that length, as memory."""
        if self._view is None or len(self._view) != length:
            self._let_go()
            if sys.platform == "win32":
                self._view = mmap.mmap(-1, length, tagname=f"equiscope-{self._number}-{length}")
            else:
                self._view = mmap.mmap(self._number, length)
        return self._view

    def keep_length(self, length: int) -> None:
        """Give it that length for good, where the system can do that: nobody can cut off what is mapped."""
        if sys.platform == "win32":
            return
        os.ftruncate(self._number, length)
        if sys.platform == "linux":
            import contextlib
            import fcntl

            with contextlib.suppress(OSError):
                fcntl.fcntl(self._number, fcntl.F_ADD_SEALS, NO_SHRINKING)

    def _let_go(self) -> None:
        if self._view is not None:
            self._view.close()
            self._view = None

    def close(self) -> None:
        self._let_go()
        if sys.platform != "win32" and self._number >= 0:
            os.close(self._number)
            self._number = -1
