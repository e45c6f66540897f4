"""Measure by trial how stored precision harms a law: numbers are moved by as much as storing them can have moved them.

A filter that is symmetric up to its last digits loses its symmetry then; one that code makes symmetric, whatever is
stored, does not: an error there is a fault, however small.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import nn

from explorer.declare.elements import Element
from explorer.declare.inputs import Inputs
from explorer.equivariance import measure
from explorer.equivariance.figures import summary
from explorer.equivariance.sampled import restore_random_state
from explorer.equivariance.trial.precision.rounding import coarseness
from explorer.equivariance.trial.remembered import Remembered
from explorer.network.changing.precision import copied
from explorer.network.opening.global_state import reseed
from explorer.network.tracing.capture import capture
from explorer.network.tracing.layers import Layer, LayerError, Trace
from explorer.network.tracing.running import evaluating
from explorer.work.progress import waited

if TYPE_CHECKING:
    from explorer.equivariance.audit import Audit

ELEMENTS = 3  # under which it is tried: what storing does, it does under each of them
SHARE = 0.5  # of the error that moved numbers make: an error of rounding is a hundredth of that, a fault almost all


def excuses(audit: Audit, stored: Mapping[str, float]) -> tuple[dict[str, float], dict[str, float]]:
    """Return per layer the cumulative and the local error that stored numbers explain.

    It is tried only where an error lies between the rounding of the run and that of stored numbers.

    Args:
        stored: with what precision each number was made that a law may rest on.
    """
    whole, own = dict(audit.of_filters), dict(audit.of_own_filters)
    if not (between := [name for name in audit.names if _between(audit, name)]):
        return whole, own
    case = audit.cases[0]

    def rewind(layer: Layer) -> None:
        if layer.called in case.states:
            restore_random_state(audit.x, case.states[layer.called])

    acted = [on[0] for on in audit.acted.values()][:ELEMENTS]
    found = shown(audit.model, stored, audit.trace, case.inputs, acted, audit.seed, rewind)
    for name in between:
        cumulative, local = found.get(name, (math.inf, math.inf))
        whole[name], own[name] = excused(whole[name], cumulative), excused(own[name], local)
    return whole, own


def excused(most: float, explained: float | None) -> float:
    """Return the error that is excused of `most` where moved numbers make such an error; None where they told none."""
    return most if explained is None else min(most, SHARE * explained)


def shown(
    model: nn.Module,
    stored: Mapping[str, float],
    trace: Trace,
    inputs: Inputs,
    acted: Sequence[tuple[Element, Inputs]],
    seed: int,
    rewind: Callable[[Layer], None] = lambda layer: None,
) -> dict[str, tuple[float, float | None]]:
    """Return per layer the largest cumulative and local error that moved numbers make; {} where it does not run.

    Args:
        stored: with what precision each number was made that a law may rest on.
        acted: elements, and what the inputs become under each.
        rewind: restore the random state that a layer ran in.
    """
    with evaluating(model), torch.no_grad():
        try:
            return _shown(_moved(model, stored, seed), trace, inputs, acted, seed, rewind)
        except LayerError:  # as of numbers that were looked up by, and are no longer whole
            return {}


def _between(audit: Audit, name: str) -> bool:
    """Say whether an error of a layer is more than rounding of the run and excused by stored numbers."""
    figures, least = audit.figures[name], audit.rounding[name]
    pairs = (figures.cumulative, audit.of_filters[name]), (figures.local, audit.of_own_filters[name])
    return any(found is not None and least < found.most <= most for found, most in ((summary(f), m) for f, m in pairs))


def _moved(model: nn.Module, stored: Mapping[str, float], seed: int) -> nn.Module:
    """Return a copy whose stored numbers are moved at random, by the tolerance that one layer has for them."""
    other = copied(model)
    generator = torch.Generator().manual_seed(seed)
    for name, value in (*other.named_parameters(), *other.named_buffers()):
        finite = value.detach().isfinite()
        if name not in stored or not value.is_floating_point() or not finite.any():
            continue
        size = float(value.detach()[finite].abs().max())  # a cosine that ought to be 0 is wrong by the digits of 1
        drawn = 2 * torch.rand(value.shape, generator=generator, dtype=torch.float64, device="cpu") - 1
        by = coarseness(stored[name]) * size * drawn.to(value)
        value.data = torch.where(finite, value.detach() + by, value.detach())
    return other


def _shown(
    model: nn.Module,
    trace: Trace,
    inputs: Inputs,
    acted: Sequence[tuple[Element, Inputs]],
    seed: int,
    rewind: Callable[[Layer], None],
) -> dict[str, tuple[float, float | None]]:
    found, names = dict[str, tuple[float, float | None]](), [layer.name for layer in trace.layers]
    reseed(seed)
    values, fed = capture(model, inputs, names, clone=True, inputs=True, cancelled=waited)
    for element, gx in acted:
        reseed(seed)
        answers, _ = capture(model, gx, names, clone=True, cancelled=waited)
        once = Remembered(element)
        for layer in trace.layers:
            value, answer = values[layer.name], answers[layer.name]
            expected = measure.expected_after(once, layer, value)
            if expected is None or layer.field is None or expected.shape != answer.shape:
                continue
            where = measure.mask(element, value, layer.field, layer.sees)
            if where.kept == 0.0 or not measure.judged(element, inputs, layer, value, where):
                continue
            rewind(layer)
            alone = measure.local_answer(model, trace, layer, once, fed.get(layer.called, ()))
            error = float(measure.apart(expected, answer, where, layer.field).max())
            local = None if alone is None else float(measure.apart(expected, alone, where, layer.field).max())
            before, before_local = found.get(layer.name, (0.0, None))
            if local is not None:
                before_local = max(local, before_local or 0.0)
            found[layer.name] = max(error, before), before_local
    return {name: pair for name, pair in found.items() if all(e is None or math.isfinite(e) for e in pair)}
