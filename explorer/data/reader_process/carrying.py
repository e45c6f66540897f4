"""Carry what was read to another process: plain values, and the numbers of arrays as bytes. Nothing is executed.

The side that receives makes arrays, mappings and the program's own plain values (data classes and enumerations), and
refuses anything else, whatever the other side has become.
"""

from __future__ import annotations

import mmap
import os
import sys
from multiprocessing.connection import Connection
from typing import Any

from explorer.work.processes.wire import Reader, Refused, Writer, aligned, write_parts

_PASSES = sys.platform != "win32" and hasattr(os, "memfd_create")  # whether memory without a name can be handed over
_SEALS = 0x2 | 0x4 | 0x8  # of fcntl.h: it becomes neither shorter nor longer, and nobody writes to it


def send(connection: Connection[Any, Any], value: object) -> None:
    """Send a value; large arrays go through memory that both share."""
    writer = Writer({})  # an array that several signals share goes once
    text = writer.text(value)
    if not writer.parts:
        connection.send_bytes(b"0" + text)
    elif _PASSES:
        from multiprocessing.reduction import send_handle

        number = os.memfd_create("equiscope-data", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            write_parts(number, writer.parts)
            os.ftruncate(number, writer.size)
            connection.send_bytes(b"1" + text)
            send_handle(connection, number, 0)
        finally:
            os.close(number)
    else:
        connection.send_bytes(b"2" + text)
        connection.send_bytes(b"".join(raw.tobytes().ljust(aligned(raw.nbytes), b"\0") for _, raw in writer.parts))


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
            memory = _mapped(number)
        finally:
            os.close(number)
    elif message[:1] == b"2":
        memory = connection.recv_bytes()
    return Reader(memory).value(message[1:])


def _mapped(number: int) -> mmap.mmap:
    """Return the memory of a descriptor, which nobody can cut off from now on: reading it would end this process."""
    import fcntl

    try:
        fcntl.fcntl(number, fcntl.F_ADD_SEALS, _SEALS)
        return mmap.mmap(number, 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise Refused(type(error).__name__) from None
