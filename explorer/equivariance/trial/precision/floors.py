"""Measure rounding: every layer against itself in the other of single and double precision."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

import torch
from torch import Tensor, nn

from explorer.declare.inputs import Inputs
from explorer.equivariance import measure
from explorer.equivariance.trial.precision.vanishing import OTHER, constants, vanishing
from explorer.network.changing.precision import converted, copied
from explorer.network.opening.global_state import reseed
from explorer.network.tracing.capture import capture
from explorer.network.tracing.layers import LayerError, Trace
from explorer.work.progress import Cancelled, waited

MOST_ROUNDING = 1e-12  # relative, in float64; float32 differs by half a per mille there
MOST_ENLARGED = 1e-6  # of a nudge of the input by its last digit; what is chosen otherwise differs by far more


def in_precision(
    other: nn.Module, x: Inputs, names: Sequence[str], dtype: torch.dtype
) -> dict[str, Tensor] | None:  # fmt: skip
    """Return the values of layers of a network converted to another precision; None where it runs in its own only."""
    try:
        return capture(other, x.to(dtype=dtype), names, clone=True, cancelled=waited)[0]
    except LayerError as error:
        if isinstance(error.__cause__, Cancelled):
            raise
        return None


class Run(Protocol):
    """One input with the values of all layers, and what layers were fed; `least` and `most` are found here.

    Attributes:
        least: {layer: up to which norm its values are rounding alone}.
        most: {layer that constants rule: size of values from which on they are constants}.
        unrelated: the values on an unrelated input, {} where they would tell nothing.
    """

    least: dict[str, float]
    most: dict[str, float]
    unrelated: dict[str, Tensor]

    @property
    def inputs(self) -> Inputs: ...
    @property
    def values(self) -> Mapping[str, Tensor]: ...
    @property
    def fed(self) -> Mapping[str, tuple[Tensor, ...]]: ...


def float_floor(
    model: nn.Module, trace: Trace, runs: Sequence[Run], dtype: torch.dtype, seed: int
) -> dict[str, float]:  # fmt: skip
    """Return rounding alone, per layer, and tell each run which of its values are nothing else.

    In float64 it is the difference scaled by the ratio of the epsilons, as this very network enlarges rounding. A
    network that runs in no other precision has the epsilon of its own.
    """
    names = [layer.name for layer in trace.layers]
    least = {n.name: torch.finfo(dtype).eps * math.sqrt(max(n.rank, 1)) for n in trace.layers}
    if (instead := OTHER.get(dtype)) is None:
        return least
    ratio = 1.0 if instead == torch.float64 else torch.finfo(dtype).eps / torch.finfo(instead).eps
    found = dict.fromkeys(names, 0.0)
    other = converted(copied(model), instead)
    for run in runs:
        reseed(seed)
        again = in_precision(other, run.inputs, names, instead)
        if again is None:
            return least
        run.least = vanishing(trace, run.values, again, run.fed)
        run.most = constants(trace, run.values, run.unrelated, again)
        for n in names:
            value, rerun = (measure.below(v[n].double(), run.most.get(n)) for v in (run.values, again))
            if value.shape == rerun.shape and measure.finite(value) and measure.finite(rerun):
                found[n] = max(found[n], ratio * float((value - rerun).norm() / value.norm().clamp_min(1e-300)))
    if instead == torch.float64:
        return found
    # what is chosen or counted can come out otherwise in low precision: that is no rounding
    told = {n: found[n] if found[n] < MOST_ROUNDING else 0.0 for n in names}
    enlarged = _enlarged(model, runs, names, dtype, seed) if dtype == torch.float64 else {}
    return {n: max(least[n], told[n], enlarged.get(n, 0.0)) for n in names}


def _enlarged(
    model: nn.Module, runs: Sequence[Run], names: Sequence[str], dtype: torch.dtype, seed: int
) -> dict[str, float]:
    """Return how far layers move where the input does by its last digit, if that is more than usual rounding.

    A shape far from the origin loses as much: rho(g) x itself is rounded so far, and no network is nearer to the law.
    """
    found = dict.fromkeys(names, 0.0)
    for run in runs:
        reseed(seed)
        again = in_precision(model, run.inputs.map(lambda v, _: _nudged(v)), names, dtype) or {}
        for n in again:
            value, rerun = (measure.below(v[n].double(), run.most.get(n)) for v in (run.values, again))
            if value.shape == rerun.shape and measure.finite(value) and measure.finite(rerun):
                moved = float((value - rerun).norm() / value.norm().clamp_min(1e-300))
                found[n] = max(found[n], moved if MOST_ROUNDING < moved < MOST_ENLARGED else 0.0)
    return found


def _nudged(values: Tensor) -> Tensor:
    if not values.is_floating_point():
        return values
    dice = torch.Generator("cpu").manual_seed(0)  # the same on every device
    sign = torch.randint(0, 2, values.shape, generator=dice, device="cpu").to(values) * 2 - 1
    return values * (1 + torch.finfo(values.dtype).eps * sign)
