"""Put back what somebody's code sets for the whole process."""

from __future__ import annotations

import random
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import init

UNSEEDED = 0x51A7E5EED  # tells that the code has not seeded the generator itself, as with 0


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


@contextmanager
def drawn_by_shape() -> Iterator[None]:
    """Let weights follow from their shape and their number among those of that shape, not from what is drawn before.

    A network that is edited and made again keeps the weights of the layers that are as they were. What the code makes
    of them afterwards is made of the same, as where it symmetrises a filter. Code that seeds the generator itself draws
    what it would draw anywhere.
    """
    counts, last = Counter[object](), UNSEEDED
    reseed(UNSEEDED)
    wide: tuple[int, ...] = ()  # shape of the last weight

    def keyed(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def draw(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            nonlocal last, wide
            if isinstance(tensor, Tensor) and torch.initial_seed() == last:
                shape = tuple(tensor.shape)
                # biases of many layers are as long: theirs goes with the weight before it
                wide = wide if len(shape) < 2 else shape
                key = function.__name__, shape, wide
                counts[key] += 1
                last = zlib.crc32(repr((key, counts[key])).encode())
                reseed(last)
            return function(tensor, *args, **kwargs)

        return draw

    functions = {name: f for name, f in vars(init).items() if name.endswith("_") and not name.startswith("_")}
    mine = {name: keyed(f) for name, f in functions.items() if callable(f)}
    vars(init).update(mine)
    try:
        yield
    finally:
        for name, f in mine.items():
            if vars(init).get(name) is f:  # else the code has put its own there
                setattr(init, name, functions[name])
