"""Long work says how far it is, and ends when nobody waits: between two of its parts it calls `step`.

Who listens is set around the work (by the worker thread), so that what lies between need not hand it on. Where nobody
listens, as on the command line, a step is nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Cancelled(Exception):
    """Raised between two parts of some work when nobody waits for the answer any more."""


Listener = Callable[[str, float], None]
"""Takes what is done and its share, in [0, 1]; raises Cancelled when nobody waits any more."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def step(text: str, share: float) -> None:
    """Say what is being done and how much of it is done; raise Cancelled when nobody waits for it."""
    if (listener := _listener.get()) is not None:
        listener(text, share)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Let `listener` hear every step within."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
