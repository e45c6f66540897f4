"""A page of memory that both processes see: whether to give way, where in a network the other one is, and how far."""

from __future__ import annotations

import mmap

from explorer.app.remote.block import Block

SIZE = 4096
HEARD_AT, ANSWERED_AT = 1, 2  # how many requests, of which a byte is kept
LENGTH_AT, TEXT_AT = 8, 16
MOST = SIZE - TEXT_AT


class Note:
    """The parent writes the first byte; the child writes the rest, and may die while it does."""

    def __init__(self, number: int, fresh: bool = False) -> None:
        self._block = Block(number)
        if fresh:
            self._block.keep_length(SIZE)
        self._page: mmap.mmap = self._block.seen(SIZE)

    @property
    def given_up(self) -> bool:
        """Return whether nobody waits for what is being done."""
        return self._page[0] != 0

    def give_up(self, wish: bool) -> None:
        self._page[0] = wish

    def hear(self, number: int) -> None:
        """Say that request `number` has come."""
        self._page[HEARD_AT] = number % 256

    def answer(self, number: int) -> None:
        """Say that the answer to request `number` was sent, whether or not something took its place."""
        self._page[ANSWERED_AT] = number % 256

    def heard(self, number: int) -> bool:
        return self._page[HEARD_AT] == number % 256

    def answered(self, number: int) -> bool:
        return self._page[ANSWERED_AT] == number % 256

    def write(self, place: str) -> None:
        """Say where in the network it is, "" for nowhere; this takes less than a microsecond."""
        data = place.encode("utf-8", "replace")[:MOST]
        page = self._page
        page[TEXT_AT : TEXT_AT + len(data)] = data
        page[LENGTH_AT : LENGTH_AT + 2] = len(data).to_bytes(2, "little")

    @property
    def place(self) -> str:
        """Return where it was last."""
        length = min(int.from_bytes(self._page[LENGTH_AT : LENGTH_AT + 2], "little"), MOST)
        return self._page[TEXT_AT : TEXT_AT + length].decode("utf-8", "replace")

    def close(self) -> None:
        self._block.close()
