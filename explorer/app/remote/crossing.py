"""Carry values from one process to another: small things as text, the numbers of arrays in one shared block."""

from __future__ import annotations

import json
from typing import Any

from explorer.app.remote.block import Block
from explorer.work.processes.wire import Reader, Refused, Writer, as_json


class Sender:
    """Packs values; an array that the other side has got since `forget` is only mentioned."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._sent: dict[int, tuple[int, Any]] = {}  # by id; the array is held, so that the id stays its own

    def forget(self) -> None:
        """Begin anew: nothing of what was sent is known to the other side any more."""
        self._sent.clear()

    def packed(self, value: object, keep: bool = False) -> bytes:
        """Return a message; `keep` has the other side keep the arrays in it.

        Raises:
            Unwritable: the value holds what is not plain.
        """
        writer = Writer(self._sent if keep else dict(self._sent))
        text = writer.text(value)
        length = self._block.write(writer.parts, writer.size) if writer.size else 0
        return as_json([writer.size, length, keep]).encode("ascii") + b"\n" + text


class Receiver:
    """Unpacks what a Sender packed: arrays that nobody can write to, in memory of this process."""

    def __init__(self, block: Block, most: int = 0) -> None:
        """Read from that block; `most` bytes at a time, 0 for no limit."""
        self._block, self._most = block, most
        self._kept: list[Any] = []

    def forget(self) -> None:
        self._kept.clear()

    def unpacked(self, message: bytes, hint: Any = object) -> Any:
        """Return the value; what it holds is copied out of the block, which the next message overwrites.

        Args:
            hint: what it must be, as an annotation says it.

        Raises:
            Refused: it is no message, or no value of that kind.
        """
        head, _, text = message.partition(b"\n")
        try:
            size, length, keep = json.loads(head[:100])
            if type(size) is not int or type(length) is not int or (self._most and size > self._most):
                raise Refused("arrays of no size")
            own = self._block.read(size, length)
        except (ValueError, TypeError, RecursionError, OSError) as why:
            raise Refused(type(why).__name__) from None
        own.flags.writeable = False
        return Reader(own.data, self._kept if keep is True else list(self._kept)).value(text, hint)
