"""End in good order when the system or the terminal asks: what was begun is taken back, as at an interrupt."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from explorer.work.crumbs import writer

ASKED = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
SIGNALLED = 128  # plus the number of the signal: the exit code by which a shell knows it
LATER_S = 0.05  # until an end that comes at a bad moment is asked for again
MOST_S = 10.0  # of processor time, for how long it is put off: on a busy machine torch takes a minute to be imported
_IMPORTING = "<frozen importlib._bootstrap>"


class Terminated(KeyboardInterrupt):
    """The program was asked to end. All that lets an interrupt pass lets this pass too."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def code_of_end(why: KeyboardInterrupt) -> int:
    """Return the exit code of a program that was interrupted, 130, or asked to end, 143."""
    return SIGNALLED + (why.number if isinstance(why, Terminated) else signal.SIGINT)


def leave_at_once() -> None:
    """End at once when that is asked for, where nobody else has a use for it: nothing has begun yet, or all is done.

    Without this an interrupt while the program is being imported ends it with a traceback, and a wish to end with the
    code of a program that was killed.
    """
    for number in (signal.SIGINT, *ASKED):
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _leave)


@contextmanager
def orderly() -> Iterator[None]:
    """Raise KeyboardInterrupt or Terminated when the program is asked to end, where nobody else has a use for that."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only there Python hears of signals
        return
    free = (signal.SIG_DFL, signal.default_int_handler, _leave)
    taken = {n: handler for n in (signal.SIGINT, *ASKED) if (handler := signal.getsignal(n)) in free}
    for number in taken:
        signal.signal(number, _raise)
    try:
        yield
    finally:
        for number, handler in taken.items():
            signal.signal(number, handler)


def let_forks_end() -> None:
    """Have what this process forks end at a signal as any program does: pools end their workers so.

    Without this a worker of a pool that a network has made raises Terminated in the middle of Python's own code, which
    prints a traceback.
    """

    def plainly() -> None:
        for number in (signal.SIGINT, *ASKED):
            if signal.getsignal(number) in (_raise, _leave):
                signal.signal(number, signal.SIG_DFL)

    os.register_at_fork(after_in_child=plainly)


class _Moment:
    """The state of the main thread: whether an exception may come at any moment, and what was asked for meanwhile."""

    held = 0
    wish = 0  # the signal that has come meanwhile
    since: float | None = None  # processor seconds when the end was first put off


@contextmanager
def held() -> Iterator[None]:
    """Keep the end for `give_way` and for when this is over.

    For work within Qt, which calls Python: an exception that is raised there is printed and lost, and what was begun
    stays.
    """
    _Moment.held += 1
    if (write := writer()) is not None:
        write("")  # no network runs meanwhile: whoever asks for the end waits for what is begun
    try:
        yield
    finally:
        _Moment.held -= 1
    give_way()


def wished() -> bool:
    """Return whether the end was asked for and put off."""
    return _Moment.wish > 0


def give_way() -> None:
    """Raise what was put off, if anything was."""
    number, _Moment.wish = _Moment.wish, 0
    if number:
        raise _of(number)


def _of(number: int) -> KeyboardInterrupt:
    return KeyboardInterrupt() if number == signal.SIGINT else Terminated(number)


def _raise(number: int, frame: FrameType | None) -> None:
    if _Moment.held:
        _Moment.wish = number
        return
    # libraries abort the process when an exception comes out of what they do while they are imported
    if _importing(frame) and _put_off() < MOST_S:
        later = threading.Timer(LATER_S, os.kill, (os.getpid(), number))
        later.daemon = True
        later.start()
        return
    _Moment.since = None
    raise _of(number)


def _put_off() -> float:
    """Return for how long the end is being put off."""
    now = time.process_time()
    if _Moment.since is None:
        _Moment.since = now
    return now - _Moment.since


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename == _IMPORTING:
            return True
        frame = frame.f_back
    return False


def leave_as_asked(code: int) -> None:
    """End at once where the exit code is that of a signal, after all that is registered for the end.

    Threads that compute, or import torch, are still there then: Python's own end waits for them, or crashes in one.
    """
    if code > SIGNALLED:
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):  # closed, or none
                stream.flush()
        os._exit(code)


def _leave(number: int, frame: FrameType | None) -> None:
    os.write(2, b"equiscope: stopped\n")
    os._exit(SIGNALLED + number)
