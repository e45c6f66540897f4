"""Put back what somebody's code sets for the whole process."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


def reseed(seed: int) -> None:
    """Set the generators that networks draw from."""
    # torch.manual_seed formats a traceback for a CUDA that was never started, which takes a millisecond
    torch.default_generator.manual_seed(seed)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(seed)


@contextmanager
def settled() -> Iterator[None]:
    """Put back afterwards what code may have set for all of torch."""
    dtype, grad, threads = torch.get_default_dtype(), torch.is_grad_enabled(), torch.get_num_threads()
    device = torch.get_default_device()
    strict, warn = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    try:
        yield
    finally:
        if torch.get_default_dtype() != dtype:
            torch.set_default_dtype(dtype)
        if torch.is_grad_enabled() != grad:
            torch.set_grad_enabled(grad)
        if torch.get_default_device() != device:
            torch.set_default_device(device)
        if torch.get_num_threads() != threads:
            torch.set_num_threads(threads)
        if torch.are_deterministic_algorithms_enabled() != strict:
            torch.use_deterministic_algorithms(strict, warn_only=warn)


@contextmanager
def same_numbers() -> Iterator[None]:
    """Put back afterwards what random numbers Python and NumPy would draw next."""
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002  (of other people's code)
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002
