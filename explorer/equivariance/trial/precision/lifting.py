"""Judge a network that rounds to a low precision in its forward without that rounding, which would hide a fault.

Half of the digits of `h.to(torch.bfloat16)` are rounding, and a fault below that is none of it: where the casts are
lifted, the same network obeys its law to the precision of the run, or it does not.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from explorer.equivariance.trial.precision.rounding import parts
from explorer.equivariance.verdict import sentences
from explorer.equivariance.verdict.outcome import Report
from explorer.network.tracing.layers import LayerError

_settled: ContextVar[bool] = ContextVar("settled", default=False)
_OURS = str(Path(__file__).parents[3])
_HANDLER = "__torch_function__"
_TORCHS = str(Path(torch.__file__).parent)


class Checking(Protocol):
    """A check of one network, with or without what takes long."""

    def __call__(self, *, details: bool) -> Report: ...


class Lifted(TorchFunctionMode):
    """Keep the precision of numbers where a network's own code would turn them into a lower one, or make such."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.dtype = dtype

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        if not (isinstance(result, Tensor) and self._lower(result) and _is_of_network()):
            return result
        tensors = [a for a in (*args, *kwargs.values()) if isinstance(a, Tensor)]
        if not tensors:  # as zeros, into which numbers are written
            return result.to(self.dtype.to_complex() if result.is_complex() else self.dtype)
        if len(tensors) < 3 and tensors[0].shape == result.shape and torch.equal(tensors[0].to(result.dtype), result):
            return tensors[0]
        if isinstance(kwargs.get("dtype"), torch.dtype):
            return func(*args, **{**kwargs, "dtype": self.dtype})
        return result

    def _lower(self, value: Tensor) -> bool:
        own = parts(value)
        return own is not None and torch.finfo(own).eps > torch.finfo(self.dtype).eps


def _is_of_network() -> bool:
    """Say whether neither this program nor torch by itself has called a function, but somebody's network."""
    frame = sys._getframe(1)
    # other modes, as what watches for casts, stand between
    while frame is not None and (frame.f_code.co_name == _HANDLER or frame.f_code.co_filename.startswith(_TORCHS)):
        frame = frame.f_back  # type: ignore[assignment]
    return frame is not None and not frame.f_code.co_filename.startswith(_OURS)


def undecided() -> bool:
    """Say whether casts are neither lifted here nor meant to stay."""
    return not _settled.get()


@contextmanager
def _decided() -> Iterator[None]:
    token = _settled.set(True)
    try:
        yield
    finally:
        _settled.reset(token)


def without_casts(check: Checking, low: torch.dtype, details: bool) -> Report:
    """Return the report of a network whose casts are lifted; as it is where it does not run so, or breaks by them.

    Args:
        check: makes a report.
        low: the precision of what the network makes.
        details: whether the report is to have what takes long.
    """
    with _decided():
        plain = check(details=False)
        try:
            with Lifted(torch.float64):
                found = check(details=details)
        except (LayerError, ValueError):  # as where the digits themselves are read
            found = None
        # without a verdict, as where sums come in any order, or with one that its own rounding breaks: as it is
        settled = found is not None and found.dtype == plain.dtype and found.verdict in ("holds", "broken")
        if found is None or not settled or (plain.verdict == "broken" and found.verdict == "holds"):
            return check(details=True) if details else plain
    error = max((row.cumulative_max or 0.0 for row in plain.layers[-1:]), default=0.0)
    return replace(found, warnings=(sentences.lifted(low, error), *found.warnings))
