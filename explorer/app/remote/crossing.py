"""Carry values from one process to another: small things as bytes, the numbers of arrays in one shared block."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np

from explorer.app.remote.block import Block

SMALL = 512  # bytes; what is smaller goes with the rest
ALIGNED = 64


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
