"""The conditions under which every network here learns, and how it tells of its progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from explorer.work.training.course import Schedule, Scheduled

Progress = Callable[[int, int, str], None]  # (epoch, epochs, text); what it raises ends the training


@contextmanager
def learning() -> Iterator[None]:
    """Record gradients, whatever the caller does meanwhile with other networks, and compute on one thread."""
    with torch.inference_mode(False), torch.enable_grad(), one_thread():
        yield


def one_cycle(rise: float = 0.3) -> Schedule:
    """Return a schedule by which rates rise once, for a share of the steps, to the optimizer's own and then fall.

    Smith, Topin, "Super-Convergence", 2019. One rise and one cosine fall, stepped per batch: short trainings end well.
    """

    def made(optimizer: torch.optim.Optimizer, steps: int) -> Scheduled:
        rates = [group["lr"] for group in optimizer.param_groups]
        return torch.optim.lr_scheduler.OneCycleLR(optimizer, rates, total_steps=steps, pct_start=rise)

    return made


def cosine(least: float) -> Schedule:
    """Return a schedule by which the rates fall to `least` along half a cosine."""
    return lambda optimizer, steps: torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps, least)


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
