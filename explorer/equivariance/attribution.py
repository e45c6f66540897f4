"""Measure what a layer's own error does to the output: ||J_{l -> out} e_l||, exactly or within an interval.

J^T v is linear in v, so J e is the derivative of <J^T v, e> by v: two backward passes in place of a forward mode, on
values that one run has captured. Where a network cannot be differentiated twice, or nobody asks for more, random
probes estimate it: for v standard normal <J^T v, e> = <v, J e> is normal with variance ||J e||^2.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import CheckpointError

from explorer.declare.inputs import Given, Inputs
from explorer.equivariance.measure import finite
from explorer.network.changing.differentiating import Plainly
from explorer.network.tracing.capture import capture, differentiable, gradients_to_inputs
from explorer.network.tracing.layers import LayerError, Trace

PROBES = 8  # where the size alone is asked for
MORE = 64  # where it is asked for exactly, and cannot be had
CONFIDENCE = 0.95
AGREES = 1e-4  # relative to |v| |J e|: both ways to <v, J e> round, in single precision too


@dataclass(frozen=True, slots=True)
class Effect:
    """The relative change of the output that a layer's own error makes.

    Attributes:
        value: ||J e|| / ||F(rho(g) x)||.
        within: the interval that holds the exact figure with 95 % confidence; None: `value` is exact.
    """

    value: float
    within: tuple[float, float] | None = None


def attributed(
    model: nn.Module,
    trace: Trace,
    gx: Given,
    local_errors: Mapping[str, Tensor],
    exactly: Collection[str] | None = None,
    probes: int = PROBES,
    seed: int = 0,
) -> dict[str, Effect]:
    """Return what each local error does to the output.

    Args:
        gx: rho(g) x, where the Jacobians are taken.
        local_errors: {layer: f_l(rho h) - rho f_l(h)}, shaped as the layer's output.
        exactly: the layers whose effect is not to be estimated; default: all.
    """
    # what was worked out beside the network's own way has no derivative there, and what is endless no effect
    within = (n for n in local_errors if n in trace.by_name and trace[n].within is None)
    names = [n for n in within if finite(local_errors[n])]
    if not names:
        return {}
    names = list(dict.fromkeys([*names, trace.output]))
    try:
        return _effects(model, trace, gx, names, local_errors, exactly, probes, seed, Plainly())
    except CheckpointError:
        # what computes its layers again on the way back has to find them in the same form there
        return _effects(model, trace, gx, names, local_errors, exactly, probes, seed, nullcontext())


def _effects(
    model: nn.Module,
    trace: Trace,
    gx: Given,
    names: Sequence[str],
    local_errors: Mapping[str, Tensor],
    exactly: Collection[str] | None,
    probes: int,
    seed: int,
    form: AbstractContextManager[object],
) -> dict[str, Effect]:
    """Return the effects of the layers called `names`, with the network computed within `form`."""
    # the inputs need a gradient so that every layer after any of them is in the graph
    with gradients_to_inputs(model):
        fed = gx.map(_followed) if isinstance(gx, Inputs) else differentiable(gx)
        try:
            with form:
                outputs, _ = capture(model, fed, names, clone=trace.clones)
        except LayerError as error:
            if isinstance(error.__cause__, CheckpointError):
                raise error.__cause__ from None
            return {}  # it ran before: what leaves torch, or writes to its input, cannot run with gradients
        out = outputs[trace.output]
        inside = {n: outputs[n] for n in names if n in local_errors and outputs[n].requires_grad}
        if not inside or not out.requires_grad:
            return {}  # what is counted or chosen has no derivative
        size = float(out.detach().norm())
        found = {n: Effect(0.0) for n in inside if not local_errors[n].any()}  # no error at all changes nothing
        if out.numel() <= probes:
            try:
                return found | _by_rows(out, {n: v for n, v in inside.items() if n not in found}, local_errors, size)
            except RuntimeError:
                return found  # as below
        wanted = {n: v for n, v in inside.items() if n not in found and (exactly is None or n in exactly)}
        found |= _exact(out, wanted, local_errors, size, seed)
        missed = {n: v for n, v in inside.items() if n not in found}
        count = MORE if any(n in wanted for n in missed) else probes
        try:
            return found | _estimated(out, missed, local_errors, size, count, seed)
        except RuntimeError:
            return found  # work in place has overwritten what the derivative needs: it has none


def _followed(value: Tensor, _: object) -> Tensor:
    return differentiable(value) if value.is_floating_point() else value


def _exact(
    out: Tensor, layers: Mapping[str, Tensor], errors: Mapping[str, Tensor], size: float, seed: int
) -> dict[str, Effect]:
    """Return the exact effects; none of the layers that cannot be differentiated twice."""
    if not layers:
        return {}
    values = list(layers.values())
    v, probe = torch.zeros_like(out, requires_grad=True), _probe(out, torch.Generator().manual_seed(seed))
    try:
        slopes = _slopes(out, v, values, create_graph=True)
    except RuntimeError:
        return {}
    checks = _slopes(out, probe, values)
    found = {}
    for name, slope, check in zip(layers, slopes, checks, strict=True):
        if slope is None or check is None:
            found[name] = Effect(0.0)
            continue
        try:
            (moved,) = torch.autograd.grad((slope * errors[name]).sum() + 0 * v.sum(), v, retain_graph=True)
        except RuntimeError:
            continue
        # a backward of somebody's own may be written so that its own derivative is lost
        apart = abs(float((moved * probe).sum() - (check * errors[name]).sum()))
        scale = float(moved.norm() * probe.norm()) + float(check.norm() * errors[name].norm())
        if apart <= AGREES * scale:
            found[name] = _effect(float(moved.norm()), size)
    return found


def _by_rows(out: Tensor, layers: Mapping[str, Tensor], errors: Mapping[str, Tensor], size: float) -> dict[str, Effect]:
    """Return the exact effects on an output of a few numbers: one backward pass for each."""
    if not layers:
        return {}
    squares = dict.fromkeys(layers, 0.0)
    for row in torch.eye(out.numel(), dtype=out.dtype, device=out.device):
        slopes = _slopes(out, row.view(out.shape), list(layers.values()))
        for name, slope in zip(layers, slopes, strict=True):
            squares[name] += 0.0 if slope is None else abs(complex((slope * errors[name]).sum())) ** 2
    return {name: _effect(math.sqrt(found), size) for name, found in squares.items()}


def _estimated(
    out: Tensor, layers: Mapping[str, Tensor], errors: Mapping[str, Tensor], size: float, probes: int, seed: int
) -> dict[str, Effect]:
    """Return the effects as far as random probes tell them."""
    if not layers:
        return {}
    generator = torch.Generator().manual_seed(seed)
    squares: dict[str, list[float]] = {name: [] for name in layers}
    for _ in range(probes):
        v = _probe(out, generator)
        slopes = _slopes(out, v, list(layers.values()))
        for name, slope in zip(layers, slopes, strict=True):
            squares[name].append(0.0 if slope is None else float((slope * errors[name]).sum()) ** 2)
    return {name: _effect(math.sqrt(sum(found) / probes), size, found) for name, found in squares.items()}


def _slopes(out: Tensor, v: Tensor, values: Sequence[Tensor], create_graph: bool = False) -> Sequence[Tensor | None]:
    """Return J^T v for each of the values, None of those that `out` does not depend on."""
    # v as an argument of its own would make torch import its symbolic shapes, which takes a second
    found: Sequence[Tensor | None] = torch.autograd.grad(
        (out * v).sum(), values, retain_graph=True, create_graph=create_graph, allow_unused=True
    )
    return found


def _probe(out: Tensor, generator: torch.Generator) -> Tensor:
    return torch.randn(out.shape, generator=generator, device="cpu", dtype=torch.float64).to(out)


def _effect(norm: float, size: float, squares: Sequence[float] = ()) -> Effect:
    if not norm or not size:
        return Effect(0.0)
    if not squares:
        return Effect(norm / size)
    from scipy.special import chdtri

    # the sum of n squares over ||J e||^2 follows the chi-squared distribution with n degrees of freedom
    tails = ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)
    low, high = (math.sqrt(sum(squares) / float(chdtri(len(squares), tail))) / size for tail in tails)
    return Effect(norm / size, (low, high))
