"""Give a network of somebody's data that hide no fault, where nobody chose the data that it is tested on.

The sample of its kind was made for other networks. It may have zeros in channels that this one reads, the same numbers
in two of them, few of the codes that it knows, and it may come back to itself when it is moved. Its graph may have
ones alone for weights, and no node that is its own neighbour.
"""

from __future__ import annotations

import torch
from torch import Tensor

from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import FieldType, Scalar
from explorer.network.tracing.capture import calls_alike
from explorer.square.preparing.prepare import Prepared
from explorer.work.budget import held_bytes

MOST_CODES = 1024
MOST_CASES = 4  # with other codes in each, the lowest first
ROOM = 32 * 2**20  # bytes of the values of all layers on these


def with_noise(p: Prepared, given: list[Inputs], seed: int) -> list[Inputs]:
    """Return the data that a network is tested on, and noise beside them where it runs on that."""
    first = given[0]
    if not p.card.own:
        return given
    generator = torch.Generator().manual_seed(seed)

    def drawn(value: Tensor, field: FieldType) -> Tensor:
        if not _free(value, field) or not value.is_floating_point():
            return value
        low, high = float(value.min()), float(value.max())
        noise = torch.rand(value.shape, generator=generator, device="cpu", dtype=torch.float64)
        return (noise * ((high - low) or 1.0) + low).to(value)

    def changed(one: Inputs) -> list[Inputs]:
        return [one] if any(a is not b for a, b in zip(one.values, first.values, strict=True)) else []

    noise, x = first.map(drawn), first.x
    if _free(x, first.field) and x.dtype == torch.int64 and x.device.type == "cpu":
        order = torch.randperm(x.numel(), generator=generator)
        cases = [noise.with_x(codes[order].view_as(x)) for codes in _codes(p, first)]
    else:
        cases = changed(noise)
    cases += changed(first.map(lambda value, field: _weighed(value, generator) if _between(value, field) else value))
    return [*given, *(case for case in cases if calls_alike(p.model, case, p.trace))]


def _free(value: Tensor, field: FieldType) -> bool:
    """Say whether values may be any: what lies between places is often the same both ways, and points have edges."""
    return field.domain.placed and not field.domain.paired and value.numel() > 1 and isinstance(field.rep, Scalar)


def _between(value: Tensor, field: FieldType) -> bool:
    """Say whether values are a matrix of weights between places, none below zero."""
    axes = field.domain.axes
    return field.domain.paired and axes[-1] == axes[-2] and value.is_floating_point() and bool((value >= 0).all())


def _weighed(value: Tensor, generator: torch.Generator) -> Tensor:
    """Return a matrix of weights with other ones on its edges and on its diagonal, and symmetric if it was."""
    drawn = torch.rand(value.shape, generator=generator, device="cpu", dtype=torch.float64) + 0.5
    if torch.equal(value, value.transpose(-2, -1)):
        drawn = (drawn + drawn.transpose(-2, -1)) / 2
    weights = value * drawn.to(value)
    return weights + torch.diag_embed(drawn.to(value).diagonal(dim1=-2, dim2=-1)) * value.max().clamp(min=1e-3)


def _codes(p: Prepared, first: Inputs) -> list[Tensor]:
    """Return codes for as many places as there are, other ones in each case: the lowest that a network knows first."""
    places, low = first.x.numel(), int(first.x.min())
    count = _largest(p, first) + 1 - low
    # each case takes as long as the sample itself
    most = max(1, min(MOST_CASES, ROOM // max(1, held_bytes([p.values]))))
    cases = range(min(most, -(-count // places)))
    return [low + (k * places + torch.arange(places)) % count for k in cases]


def _largest(p: Prepared, first: Inputs) -> int:
    """Return the largest code that a network knows, by trial, at most MOST_CODES."""
    known = int(first.x.max())
    unknown = max(known + 1, MOST_CODES)
    while unknown - known > 1:
        code = (known + unknown) // 2
        if calls_alike(p.model, first.with_x(torch.full_like(first.x, code)), p.trace):
            known = code
        else:
            unknown = code
    return known
