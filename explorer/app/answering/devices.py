"""Say what a device's name means on this machine."""

from __future__ import annotations

import torch


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
