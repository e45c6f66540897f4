"""Carry values from one process to another: small things as bytes, the numbers of arrays in one shared block."""

from __future__ import annotations

import mmap
import os
import pickle
import sys
import tempfile
from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np

SMALL = 512  # bytes; what is smaller goes with the rest
ALIGNED = 64
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


class Sender:
    """Packs values; an array that the other side has got since `forget` is only mentioned."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._sent: dict[int, tuple[int, Any]] = {}  # by id; the array is held, so that the id stays its own

    def forget(self) -> None:
        """Begin anew: nothing of what was sent is known to the other side any more."""
        self._sent.clear()

    def packed(self, value: object, keep: bool = False) -> bytes:
        """Return a message; `keep` has the other side keep the arrays in it."""
        stream, buffers = BytesIO(), list[memoryview]()
        _Pickler(stream, buffers, self._sent if keep else dict(self._sent)).dump(value)
        places, size = [], 0
        for raw in buffers:
            places.append((size, raw.nbytes))
            size += -(-raw.nbytes // ALIGNED) * ALIGNED
        length = 0
        if size:
            room = self._block.room(size)
            length = len(room)
            for (at, count), raw in zip(places, buffers, strict=True):
                room[at : at + count] = raw
        return pickle.dumps((stream.getvalue(), places, size, length, keep), 5)


class Receiver:
    """Unpacks what a Sender packed: arrays that nobody can write to, in memory of this process."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._kept: list[Any] = []

    def forget(self) -> None:
        self._kept.clear()

    def unpacked(self, message: bytes) -> Any:
        """Return the value; what it holds is copied out of the block, which the next message overwrites."""
        data, places, size, length, keep = pickle.loads(message)
        own = np.empty(size, np.uint8)
        if size:
            with memoryview(self._block.seen(length)) as whole:
                own[:] = np.frombuffer(whole, np.uint8, size)
        own.flags.writeable = False
        held = own.data
        kept = self._kept if keep else list(self._kept)
        return _Unpickler(BytesIO(data), [held[at : at + count] for at, count in places], kept).load()


class _Pickler(pickle.Pickler):
    """Puts the numbers of large arrays into buffers."""

    def __init__(self, stream: BytesIO, buffers: list[memoryview], sent: dict[int, tuple[int, Any]]) -> None:
        super().__init__(stream, 5, buffer_callback=self._apart)
        self._buffers, self._sent = buffers, sent

    def _apart(self, buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes < SMALL:
            return True
        self._buffers.append(raw)
        return False

    def reducer_override(self, value: object) -> Any:
        if type(value) is not np.ndarray or value.dtype.hasobject:
            return NotImplemented
        known = self._sent.get(id(value))
        if known is not None:
            return _mentioned, (known[0],)
        self._sent[id(value)] = len(self._sent), value
        whole = np.ascontiguousarray(value)
        # an array without places has no buffer of its own kind; all are read as bytes
        return _array, (pickle.PickleBuffer(whole.reshape(-1).view(np.uint8).data), value.dtype, value.shape)


_reading: list[list[Any]] = []  # the arrays of what is being unpacked, innermost last; one thread unpacks at a time


class _Unpickler(pickle.Unpickler):
    def __init__(self, stream: BytesIO, buffers: Sequence[memoryview], kept: list[Any]) -> None:
        super().__init__(stream, buffers=buffers)
        self._kept = kept

    def load(self) -> Any:
        _reading.append(self._kept)
        try:
            return super().load()
        finally:
            _reading.pop()


def _array(buffer: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    made = np.frombuffer(buffer, np.uint8).view(dtype).reshape(shape)
    made.flags.writeable = False
    _reading[-1].append(made)
    return made


def _mentioned(number: int) -> np.ndarray[Any, Any]:
    found: np.ndarray[Any, Any] = _reading[-1][number]
    return found
