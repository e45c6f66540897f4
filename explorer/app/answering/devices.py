"""Say what a device's name means on this machine, and where a network runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import torch

from explorer.work.words import first_line

PROCESSOR = torch.device("cpu")
T = TypeVar("T")


def device_of(name: str) -> torch.device:
    """Return the device; "auto" is the first GPU, else the CPU.

    Raises:
        ValueError: there is no such device.
    """
    if name == "auto":
        return torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ValueError(f"unknown device {name!r}; write 'cpu', 'cuda:0' or 'auto'") from None
    if device.type == "mps" and not torch.backends.mps.is_available():
        raise ValueError(f"there is no device {name!r} here")
    if device.type not in ("cpu", "cuda", "mps"):
        raise ValueError(f"cannot measure on {name!r}; write 'cpu', 'cuda:0' or 'auto'")
    if device.type == "cuda" and (not torch.cuda.is_available() or (device.index or 0) >= torch.cuda.device_count()):
        count = torch.cuda.device_count()
        raise ValueError(f"there is no device {name!r} here; this machine has {count} CUDA device(s)")
    return device


def placed(make: Callable[[torch.device], T], name: str) -> tuple[T, tuple[str, ...]]:
    """Return what is made on a device, and a note where "auto" took the processor since a network runs there only.

    Whether it runs on a GPU is tried: a network that makes tensors in its forward, or keeps them as plain attributes,
    leaves them on the processor, and calls of NumPy want them there.

    Raises:
        ValueError: it runs on the processor only, and another device was asked for.
    """
    device = device_of(name)
    try:
        return make(device), ()
    except torch.OutOfMemoryError:
        raise
    except (RuntimeError, TypeError) as error:
        if device == PROCESSOR:
            raise
        said = first_line(error)
    found = make(PROCESSOR)  # or what the processor says of it
    if name != "auto":
        raise ValueError(
            f"the network runs on the processor and not on {device} ({said}): make its tensors with device=x.device "
            "and keep them by register_buffer, or ask for the device 'cpu'"
        )
    return found, (f"the network runs on the processor, and not on {device}: {said}",)
