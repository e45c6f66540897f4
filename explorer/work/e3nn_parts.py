"""Import e3nn's harmonics and coupling coefficients without torch's compiler."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from threading import Lock
from typing import Any

import torch

_lock = Lock()


def o3() -> Any:
    """Return the module e3nn.o3.

    e3nn asks the compiler to leave one function alone, and asking imports the compiler: two to four seconds, in which
    another thread that imports it too leaves it half imported for good. Nothing here is compiled.
    """
    with _lock:
        if "e3nn.o3" not in sys.modules:
            usual = torch.compiler.disable
            torch.compiler.disable = _leave_alone
            try:
                import_module("e3nn.o3")
            finally:
                torch.compiler.disable = usual
        return sys.modules["e3nn.o3"]


def _leave_alone(fn: Callable[..., Any] | None = None, *_: Any, **__: Any) -> Any:
    return fn if fn is not None else (lambda function: function)
