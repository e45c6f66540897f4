"""Carry what was read to another process: plain values, and the numbers of arrays as bytes. Nothing is executed.

The side that receives makes arrays, mappings and the program's own plain values (data classes and enumerations), and
refuses anything else, whatever the other side has become.
"""

from __future__ import annotations

import enum
import mmap
import os
import pickle
import sys
from dataclasses import is_dataclass
from io import BytesIO
from multiprocessing.connection import Connection
from types import MappingProxyType
from typing import Any

import numpy as np

ALIGNED = 64
_PASSES = sys.platform != "win32" and hasattr(os, "memfd_create")  # whether memory without a name can be handed over


class Refused(Exception):
    """Raised where a message holds something else than plain values."""


def send(connection: Connection[Any, Any], value: object) -> None:
    """Send a value; large arrays go through memory that both share."""
    stream, arrays = BytesIO(), list[np.ndarray[Any, Any]]()
    _Pickler(stream, arrays).dump(value)
    if not arrays:
        connection.send_bytes(b"0" + stream.getvalue())
    elif _PASSES:
        from multiprocessing.reduction import send_handle

        number = os.memfd_create("equiscope-data")
        try:
            at = 0
            for array in arrays:
                _write(number, array.reshape(-1).view(np.uint8).data, at)
                at += _aligned(array.nbytes)
            connection.send_bytes(b"1" + stream.getvalue())
            send_handle(connection, number, 0)
        finally:
            os.close(number)
    else:
        connection.send_bytes(b"2" + stream.getvalue())
        connection.send_bytes(b"".join(a.tobytes().ljust(_aligned(a.nbytes), b"\0") for a in arrays))


def receive(connection: Connection[Any, Any]) -> Any:
    """Return the value that was sent; its arrays cannot be written to.

    Raises:
        Refused: it is no message that `send` makes.
        OSError, EOFError: the other side is gone.
    """
    message = connection.recv_bytes()
    memory: Any = b""
    if message[:1] == b"1":
        from multiprocessing.reduction import recv_handle

        number = recv_handle(connection)
        try:
            memory = mmap.mmap(number, 0, access=mmap.ACCESS_READ)
        finally:
            os.close(number)
    elif message[:1] == b"2":
        memory = connection.recv_bytes()
    try:
        return _Unpickler(BytesIO(message[1:]), memory).load()
    except Refused:
        raise
    except Exception as error:  # a damaged message
        raise Refused(type(error).__name__) from None


def _aligned(size: int) -> int:
    return -(-size // ALIGNED) * ALIGNED


def _write(number: int, data: memoryview, at: int) -> None:
    while data:
        done = os.pwrite(number, data, at)
        data, at = data[done:], at + done
    os.ftruncate(number, max(_aligned(at), ALIGNED))


class _Pickler(pickle.Pickler):
    """Sets arrays and mappings apart, which the receiver makes itself."""

    def __init__(self, stream: BytesIO, arrays: list[np.ndarray[Any, Any]]) -> None:
        super().__init__(stream, 5)
        self._arrays, self._at = arrays, 0
        self._told = dict[int, tuple[object, ...]]()  # an array that several signals share goes once

    def persistent_id(self, value: object) -> object:
        if isinstance(value, np.ndarray) and not value.dtype.hasobject and value.dtype.names is None:
            if id(value) not in self._told:
                whole = np.ascontiguousarray(value)
                self._told[id(value)] = "array", value.dtype.str, value.shape, self._at
                self._at += _aligned(whole.nbytes)
                self._arrays.append(whole)
            return self._told[id(value)]
        if isinstance(value, np.generic):
            return "plain", value.item()
        if isinstance(value, MappingProxyType):
            return "mapping", dict(value)
        return None


class _Unpickler(pickle.Unpickler):
    """Makes nothing but what is plain."""

    def __init__(self, stream: BytesIO, memory: Any) -> None:
        super().__init__(stream)
        self._memory = memory

    def persistent_load(self, told: Any) -> Any:
        match told:
            case ("array", str(kind), tuple(shape), int(at)):
                dtype = np.dtype(kind)
                count = int(np.prod(shape, dtype=np.int64))
                made = np.frombuffer(self._memory, dtype, count, at) if count else np.empty(0, dtype)
                made = made.reshape(shape)
                made.flags.writeable = False
                return made
            case ("plain", value):
                return value
            case ("mapping", dict(items)):
                return MappingProxyType(items)
        raise Refused("something else than an array")

    def find_class(self, module: str, name: str) -> Any:
        found: Any = sys.modules.get(module)  # nothing is imported for a message
        for part in name.split("."):
            found = getattr(found, part, None)
        ours = isinstance(found, type) and (is_dataclass(found) or issubclass(found, enum.Enum))
        if not ours or found.__module__ != module or module.partition(".")[0] in sys.stdlib_module_names:
            raise Refused(f"{module}.{name}")
        return found
