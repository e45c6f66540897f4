"""Hear a process that may send half a message and fall silent, or send without end: nobody waits for the rest."""

from __future__ import annotations

import os
import struct
import sys
import time
from multiprocessing.connection import Connection
from typing import Any

CHUNK = 2**20
MOST = 2**25  # bytes of a message: what is large lies in a block beside it


class Hearing:
    """The messages that come through a connection, each once it is whole.

    `Connection.recv` waits for the rest of a message, however long, and believes what it says of its own size.
    """

    def __init__(self, connection: Connection[Any, Any], most: int = MOST) -> None:
        self._connection, self._most = connection, most
        self._data = bytearray()
        self._wanted: int | None = None  # bytes of the message that has begun
        self._over = self._wrong = False

    def poll(self, seconds: float = 0.0) -> bool:
        """Wait for a whole message so long; return whether `take` need not wait."""
        if sys.platform == "win32":  # there a line has messages of its own
            return self._connection.poll(seconds)
        until = time.monotonic() + seconds
        while not self._whole() and not self._over and not self._wrong:
            if not self._connection.poll(max(0.0, until - time.monotonic())):
                return False
            data = os.read(self._connection.fileno(), CHUNK)
            self._over = not data
            self._data += data
        return True

    def take(self) -> bytes:
        """Return the next message.

        Raises:
            EOFError: nothing comes any more.
            ValueError: what has come is no message.
        """
        if sys.platform == "win32":
            return self._connection.recv_bytes(self._most)
        while not self.poll(1.0):
            pass
        if self._wrong:
            raise ValueError("a message of no length that there is")
        if self._wanted is None or len(self._data) < self._wanted:
            raise EOFError
        message = bytes(self._data[: self._wanted])
        del self._data[: self._wanted]
        self._wanted = None
        return message

    def _whole(self) -> bool:
        """Return whether a message is there as a whole; its length comes first, as `Connection` writes it."""
        if self._wanted is None:
            if len(self._data) < 4:
                return False
            (length,), head = struct.unpack_from("!i", self._data), 4
            if length == -1:
                if len(self._data) < 12:
                    return False
                (length,), head = struct.unpack_from("!Q", self._data, 4), 12
            if not 0 <= length <= self._most:
                self._wrong = True
                return False
            del self._data[:head]
            self._wanted = length
        return len(self._data) >= self._wanted
