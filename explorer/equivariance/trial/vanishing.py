"""Find values that are nothing but what rounding leaves of sums that cancel, and take them for the zeros that they are.

The cross product of parallel vectors is such a value: of atoms on a line a layer has nothing else to give. Its error is
as large as itself, under every element, and no fault.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import torch
from torch import Tensor

from explorer.equivariance import measure
from explorer.network.tracing.layers import Trace

GONE = 1e-4  # of what single precision leaves of a sum double precision leaves a 1e-9th, of any other value all
OTHER = {torch.float32: torch.float64, torch.float64: torch.float32}


def vanishing(
    trace: Trace, values: Mapping[str, Tensor], again: Mapping[str, Tensor], fed: Mapping[str, tuple[Tensor, ...]]
) -> dict[str, float]:
    """Return {layer: up to which norm its values are rounding alone} of the layers whose values are.

    Args:
        values, again: of the layers, and those of a run in the other of float32 and float64.
        fed: what the layers were given.
    """
    found = {}
    whole = largest(values.values())
    for layer in trace.layers:
        value, rerun = values[layer.name], again[layer.name]
        if value.shape != rerun.shape or OTHER.get(value.dtype) != rerun.dtype:
            continue
        single, double = sorted((value, rerun), key=lambda v: v.dtype == torch.float64)
        low, high = float(single.double().norm()), float(double.norm())
        if not high <= GONE * low:  # nor NaN
            continue
        # of what is zero in both, as on an axis, the size of what went in tells how large rounding may be
        eps = torch.finfo(value.dtype).eps
        size = largest(fed.get(layer.called, ()))
        if size <= GONE * whole:  # what went in is what code had left of sums that cancel
            size = whole
        scale = max(eps * size, low * eps / torch.finfo(single.dtype).eps)
        found[layer.name] = measure.K * math.sqrt(max(layer.rank, 1)) * scale
    return found


def largest(tensors: Iterable[Tensor]) -> float:
    """Return the largest norm of tensors of real numbers, 0 of none."""
    return max((float(v.double().norm()) for v in tensors if v.is_floating_point()), default=0.0)


def settled(least: float, values: Tensor) -> Tensor:
    """Return zeros in place of values whose norm is at most `least`."""
    return values if not least or float(values.norm()) > least else torch.zeros_like(values)
