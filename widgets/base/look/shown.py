"""Switches for parts of the window that are left out while a figure is painted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_shown = {"badges": True}


def badges() -> bool:
    """Return whether verdicts are painted."""
    return _shown["badges"]


@contextmanager
def without_badges(without: bool = True) -> Iterator[None]:
    """Paint no verdicts."""
    _shown["badges"] = not without
    try:
        yield
    finally:
        _shown["badges"] = True
