"""End in good order when the system or the terminal asks: what was begun is taken back, as at an interrupt."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ASKED = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
SIGNALLED = 128  # plus the number of the signal: the exit code by which a shell knows it


class Terminated(KeyboardInterrupt):
    """The program was asked to end. All that lets an interrupt pass lets this pass too."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def code_of_end(why: KeyboardInterrupt) -> int:
    """Return the exit code of a program that was interrupted, 130, or asked to end, 143."""
    return SIGNALLED + (why.number if isinstance(why, Terminated) else signal.SIGINT)


@contextmanager
def orderly() -> Iterator[None]:
    """Raise Terminated when the program is asked to end, where nobody else has a use for that."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only there Python hears of signals
        return
    taken = [number for number in ASKED if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, _raise)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _raise(number: int, frame: FrameType | None) -> None:
    raise Terminated(number)
