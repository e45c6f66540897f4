"""Give a program the standard streams that it was started without."""

from __future__ import annotations

import os
import sys

_STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def open_missing() -> None:
    """Lead each standard stream that is closed (`2>&-`) nowhere.

    Without this what is meant for a closed stderr is printed on stdout, and the next file that is opened takes its
    number, so that what a library says there is written into that file.
    """
    for number in range(len(_STREAMS)):
        try:
            os.fstat(number)
        except OSError:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:  # a lower number is free as well
                os.dup2(nowhere, number)
                os.close(nowhere)
    for name, mode in _STREAMS:
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))
