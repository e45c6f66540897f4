"""Share memory between two processes."""

from __future__ import annotations

import mmap
import os
import sys
import tempfile

LEAST = 2**20  # bytes of a block
LARGE = 2**26  # bytes; a block larger than this is given back when it is no longer needed


class Block:
    """Memory that two processes share and that nobody else can name, so that it goes when both are gone.

    It is a file without a name, or on Windows a section with one, which goes with its last user.
    """

    def __init__(self, number: int) -> None:
        """Open the block of this number: a file descriptor, or on Windows any number that both know."""
        self._number = number
        self._view: mmap.mmap | None = None

    @staticmethod
    def made() -> int:
        """Return the number of a new block."""
        if sys.platform == "win32":
            return int.from_bytes(os.urandom(6), "big")
        if hasattr(os, "memfd_create"):
            return os.memfd_create("equiscope")
        with tempfile.TemporaryFile() as file:
            return os.dup(file.fileno())

    def room(self, size: int) -> mmap.mmap:
        """Return the block with room for so many bytes; only who writes calls this."""
        held = 0 if self._view is None else len(self._view)
        wanted = max(LEAST, 1 << (size - 1).bit_length()) if size else LEAST
        if held < size or (held > LARGE and held > 4 * wanted):
            if sys.platform != "win32":
                self._let_go()
                os.ftruncate(self._number, wanted)
            self.seen(wanted)
        assert self._view is not None
        return self._view

    def seen(self, length: int) -> mmap.mmap:
        """Return the block as it is at that length."""
        if self._view is None or len(self._view) != length:
            self._let_go()
            if sys.platform == "win32":
                self._view = mmap.mmap(-1, length, tagname=f"equiscope-{self._number}-{length}")
            else:
                self._view = mmap.mmap(self._number, length)
        return self._view

    def _let_go(self) -> None:
        if self._view is not None:
            self._view.close()
            self._view = None

    def close(self) -> None:
        self._let_go()
        if sys.platform != "win32" and self._number >= 0:
            os.close(self._number)
            self._number = -1
