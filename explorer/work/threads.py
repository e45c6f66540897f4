"""Limit what a process that computes takes of its machine: cores, heaps, places for files."""

from __future__ import annotations

import os

from explorer.work.compiler import leave_no_folder
from explorer.work.memory import keep_few_kernels, share_arenas


def leave_a_core() -> None:
    """Let torch compute on every core but one, for the window and other programs; call it on the thread that computes.

    Torch's threads wait for each other after every layer. One that shares its core with anything else holds up all the
    others: on two cores a small network is ten times slower on two threads than on one. So do those of NumPy's
    products: one of 65,536 numbers took 78 ms beside other work, and 56 microseconds without.
    Whoever has set OMP_NUM_THREADS is obeyed.
    """
    import torch
    from threadpoolctl import threadpool_limits

    if not os.environ.get("OMP_NUM_THREADS"):
        threads = max(1, min(torch.get_num_threads(), (os.cpu_count() or 2) - 1))
        torch.set_num_threads(threads)
        if not os.environ.get("OPENBLAS_NUM_THREADS"):
            threadpool_limits(threads, "blas")  # of what is loaded by now
            os.environ["OPENBLAS_NUM_THREADS"] = str(threads)  # of what is loaded later


def tune() -> None:
    """Prepare a process for computing beside a window: one core stays free, memory is bounded, no folder is left."""
    share_arenas()
    keep_few_kernels()
    leave_no_folder()
    leave_a_core()
