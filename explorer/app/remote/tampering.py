"""Notice what a network has changed in its process that another one would meet: functions of torch, modes, the folder.

What torch itself calls its settings is put back after each call (`network/opening/global_state.py`).
"""

from __future__ import annotations

import builtins
import json
import os
import signal
import sys
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import nn

_HOLDERS: tuple[Any, ...] = (
    torch, torch.nn.functional, torch.linalg, torch.fft, torch.Tensor, nn.Module, nn.Conv2d, nn.Linear, builtins, json,
)  # fmt: skip


class Untouched:
    """The state of the process before it ran any network."""

    def __init__(self) -> None:
        self._functions = [
            (holder, {name: value for name, value in vars(holder).items() if callable(value)}) for holder in _HOLDERS
        ]
        self._modules = dict(sys.modules)
        self._around = _around()

    def changed(self) -> str:
        """Return what is not as it was, "" where all is."""
        for holder, functions in self._functions:
            now = vars(holder)
            for name, value in functions.items():
                if now.get(name) is not value:
                    return f"{holder.__name__}.{name}"
        for name, module in self._modules.items():
            if isinstance(module, ModuleType) and sys.modules.get(name) is not module:
                return f"the module {name}"
        now_around = _around()
        return next((name for name, value in self._around.items() if now_around[name] != value), "")


def _limits() -> list[tuple[int, int]]:
    if sys.platform == "win32":
        return []
    import resource

    return [resource.getrlimit(kind) for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_CPU, resource.RLIMIT_AS)]


def _around() -> dict[str, object]:
    try:
        folder = os.getcwd()
    except OSError:  # it was removed
        folder = ""
    return {
        "the mode of torch": (torch._C._len_torch_dispatch_stack(), torch.is_inference_mode_enabled()),
        "the anomaly mode of torch": torch.is_anomaly_enabled(),
        "what NumPy does about errors": np.geterr(),
        "how signals are handled": [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)],
        "what the system lets it have": _limits(),
        "the folder": folder,
        "the environment": dict(os.environ),
        "the tracing of Python": (sys.gettrace(), sys.getprofile()),
    }
