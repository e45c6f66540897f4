"""Tell where in a network the program is, so that it is known when the process has died there.

Nobody listens unless the process was made for one network; there it is written where another process can read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Writer = Callable[[str], None]
ROOT = "forward"  # stands for the network itself, outside of all its layers

_writers: list[Writer] = []


def listen(writer: Writer) -> None:
    """Let `writer` hear of every layer that is entered, "" where none is; for the rest of the process."""
    _writers[:] = [writer]


def writer() -> Writer | None:
    """Return who hears of layers, if anybody does."""
    return _writers[0] if _writers else None


@contextmanager
def within(layer: str) -> Iterator[None]:
    """Say that a layer is run."""
    write = writer()
    if write is None:
        yield
        return
    write(layer)
    yield
    write("")  # not after an exception, which leads out of the network; the next one to be entered is written over it
