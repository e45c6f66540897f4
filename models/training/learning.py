"""The conditions under which every network here learns, and how it tells of its progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

Progress = Callable[[int, int, str], None]  # (epoch, epochs, text); what it raises ends the training


@contextmanager
def learning() -> Iterator[None]:
    """Record gradients, whatever the caller does meanwhile with other networks, and compute on one thread."""
    with torch.inference_mode(False), torch.enable_grad(), one_thread():
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one thread, so that sums have one order whatever the number of cores.

    Another order is another rounding, and after a few epochs another network. On networks this small a second
    thread gains little, and loses much where the cores are busy.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
