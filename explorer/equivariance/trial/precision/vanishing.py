"""Find values that carry no signal: what rounding leaves of sums that cancel, and constants that outweigh the rest.

The cross product of parallel vectors is such a value: of atoms on a line a layer has nothing else to give. Its error is
as large as itself, under every element, and no fault. It is taken for the zero that it is. The -1e9 of masked scores is
another: a relative error would be measured against it, and no fault of the scores be seen.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import torch
from torch import Tensor

from explorer.equivariance import measure
from explorer.network.inner.tiled import Tiled
from explorer.network.tracing.layers import Trace

GONE = 1e-4  # of what single precision leaves of a sum double precision leaves a 1e-9th, of any other value all
ALIKE = 1e-6  # share by which a value may differ on an unrelated input and still be a constant: a mask may be added
RULED = 1e3  # times as large as all others a constant is that hides them
# Share by which the others may differ in another precision. What was summed up with constants so large differs by more:
# its error would be that of rounding.
STEADY = 3e-5
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


def constants(
    trace: Trace, values: Mapping[str, Tensor], unrelated: Mapping[str, Tensor], again: Mapping[str, Tensor]
) -> dict[str, float]:
    """Return {layer: size of values from which on they are constants} of the layers that constants rule.

    Args:
        values, unrelated: of the layers, on an input and on one that has nothing to do with it.
        again: of a run in the other of float32 and float64: what is left beside the constants may be rounding alone.
    """
    found = {}
    for name in ruled(trace, values, unrelated):
        value, rerun = values[name], again.get(name)
        if rerun is None or value.shape != rerun.shape or OTHER.get(value.dtype) != rerun.dtype:
            continue
        constant = _constant(value, unrelated[name])
        others = value.masked_fill(constant, 0.0)
        apart = others.double() - rerun.double().masked_fill(constant, 0.0)
        if float(apart.norm()) <= STEADY * float(others.double().norm()):
            found[name] = 2 * float(others.abs().amax())
    return found


def ruled(trace: Trace, values: Mapping[str, Tensor], unrelated: Mapping[str, Tensor]) -> list[str]:
    """Return the layers in whose values constants outweigh all others."""
    found = []
    for layer in trace.layers:
        value, other = values[layer.name], unrelated.get(layer.name)
        if layer.field is None or other is None or value.shape != other.shape or not value.is_floating_point():
            continue
        if isinstance(value, Tiled) or isinstance(other, Tiled):  # never formed: no mask was filled into it
            continue
        if not value.numel() or not (measure.finite(value) and measure.finite(other)):
            continue
        others = value.masked_fill(_constant(value, other), 0.0).abs().amax()
        if 0 < float(others) and float(others) * RULED < float(value.abs().amax()):
            found.append(layer.name)
    return found


def _constant(value: Tensor, other: Tensor) -> Tensor:
    """Return where values are the same on an unrelated input."""
    return (value == other) | ((value - other).abs() <= ALIKE * value.abs())
