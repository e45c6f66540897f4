"""Keep True and None alive: PySide6 6.12.0 takes references to them that it was not given.

Measured on Python 3.11: every call of a Qt method that returns nothing brings None's count down by one, and so does
every `Signal.emit` to True's. After some ten thousands of calls, or at the latest when the interpreter ends, Python
aborts with "deallocating None" or "deallocating True or False". PySide6 6.11.2 does not do it, and from Python 3.12
on both are immortal, so that it does no harm.
"""

from __future__ import annotations

import ctypes
import sys

from PySide6.QtCore import QObject

PLENTY = 1 << 40  # references: at a million calls a second they last for twelve days


def leaks(calls: int = 64) -> bool:
    """Say whether calls into Qt take references to None that are not theirs."""
    thing = QObject()
    before = sys.getrefcount(None)
    for _ in range(calls):
        thing.setObjectName("x")
    return before - sys.getrefcount(None) > calls // 2


def make_immortal() -> None:
    """Do what Python 3.12 does: give both singletons more references than will ever be taken."""
    if sys.implementation.name != "cpython" or sys.version_info >= (3, 12):
        return
    for singleton in (True, None):
        # the count is the first word of an object, in all builds but those for debugging Python itself
        count = ctypes.c_ssize_t.from_address(id(singleton))
        if abs(count.value - sys.getrefcount(singleton)) < 100 and count.value < PLENTY:
            count.value += PLENTY


if leaks():
    make_immortal()
