"""Limit the cores that torch may take for itself."""

from __future__ import annotations

import os


def leave_a_core() -> None:
    """Let torch compute on every core but one, for the window and other programs; call it on the thread that computes.

    Torch's threads wait for each other after every layer. One that shares its core with anything else holds up all the
    others: on two cores a small network is ten times slower on two threads than on one.
    Whoever has set OMP_NUM_THREADS is obeyed.
    """
    import torch

    if not os.environ.get("OMP_NUM_THREADS"):
        torch.set_num_threads(max(1, min(torch.get_num_threads(), (os.cpu_count() or 2) - 1)))
