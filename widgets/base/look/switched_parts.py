"""Switches for parts of the window that are left out while a figure is painted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_shown = {"badges": True, "terms": True, "shortened": True}
_sharp = {"stroke": 1.0}


def badges() -> bool:
    """Return whether verdicts are painted."""
    return _shown["badges"]


def terms() -> bool:
    """Return whether words of the glossary are underlined: what lies under the mouse is told, on paper nothing is."""
    return _shown["terms"]


def shortens() -> bool:
    """Return whether a text that has no room is shortened: on paper it may go on in another line."""
    return _shown["shortened"]


@contextmanager
def on_paper(whole: bool = False) -> Iterator[None]:
    """Paint nothing that only says where the mouse may go; with `whole`, texts as they are."""
    _shown["terms"], _shown["shortened"] = False, not whole
    try:
        yield
    finally:
        _shown["terms"] = _shown["shortened"] = True


def stroke() -> float:
    """Return by how much lines of so many pixels are widened: the pixels of a sharp picture are small."""
    return _sharp["stroke"]


@contextmanager
def sharp(times: float) -> Iterator[None]:
    """Paint for a picture that has so many pixels for one of the screen."""
    _sharp["stroke"] = times
    try:
        yield
    finally:
        _sharp["stroke"] = 1.0


@contextmanager
def without_badges(without: bool = True) -> Iterator[None]:
    """Paint no verdicts."""
    _shown["badges"] = not without
    try:
        yield
    finally:
        _shown["badges"] = True
