"""Long work says how far it is, and ends when nobody waits: between two of its parts it calls `step`.

Who listens is set around the work (by the worker thread), so that what lies between need not hand it on. Where nobody
listens, as on the command line, a step is nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Made = TypeVar("Made")


class Cancelled(Exception):
    """Raised between two parts of some work when nobody waits for the answer any more.

    Attributes:
        urgent: the work stands in somebody's way; one that is not may be finished where that is simpler.
        told: what else is to be said, where it had to be ended by force.
    """

    def __init__(self, urgent: bool = True, told: str = "") -> None:
        super().__init__(urgent, told)
        self.urgent, self.told = urgent, told


Listener = Callable[[str, float], None]
"""Takes what is done and its share, in [0, 1] or NaN; raises Cancelled when nobody waits any more. "" only asks."""

Reader = Callable[[str], None]
"""Takes what the code of a network has printed."""

Viewer = Callable[[object], None]
"""Takes what there is to be seen before the work has ended."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_reader: ContextVar[Reader | None] = ContextVar("reader", default=None)
_viewer: ContextVar[Viewer | None] = ContextVar("viewer", default=None)


def step(text: str, share: float) -> None:
    """Say what is being done and how much of it is done; raise Cancelled when nobody waits for it."""
    if (listener := _listener.get()) is not None:
        listener(text, share)


def waited() -> bool:
    """Return False, or raise Cancelled where nobody waits any more; what is being done is not said."""
    step("", math.nan)
    return False


def giving_way(make: Callable[[], Made]) -> Generator[None, None, Made]:
    """Return what is made; where something newer comes in between, yield, and make it from its start afterwards.

    What stands in the way of something else altogether ends with Cancelled, as all other work does.
    """
    while True:
        try:
            return make()
        except Cancelled as end:
            if end.urgent:
                raise
        yield


def printed(text: str) -> None:
    """Hand on what a network's own code has printed."""
    if (reader := _reader.get()) is not None:
        reader(text)


def seen(value: object) -> None:
    """Hand on what can be shown before the work has ended."""
    if (viewer := _viewer.get()) is not None:
        viewer(value)


@contextmanager
def listening(listener: Listener, reader: Reader | None = None, viewer: Viewer | None = None) -> Iterator[None]:
    """Let `listener` hear every step within, `reader` what networks print elsewhere, `viewer` see what there is."""
    tokens = _listener.set(listener), _reader.set(reader), _viewer.set(viewer)
    try:
        yield
    finally:
        _listener.reset(tokens[0])
        _reader.reset(tokens[1])
        _viewer.reset(tokens[2])


def clock(seconds: float) -> str:
    """Return a time as "1:05", "7:30:46" or "4 days"."""
    whole = max(0, round(seconds))
    hours, minutes = divmod(whole // 60, 60)
    if hours >= 48:
        return f"{hours // 24} days"
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"
