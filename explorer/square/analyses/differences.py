"""Compare the layers of two runs, layer by layer: two inputs, two sets of weights, before and after a change."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.declare.telling.summaries import Difference, Differences
from explorer.equivariance.measure import quotient
from explorer.square.drawing.layers import drawn
from explorer.square.preparing.prepare import Prepared

PART_SECONDS = 0.025  # of work between two points where newer work may take over


@dataclass(frozen=True, slots=True, eq=False)
class Other:
    """The run that is compared with: its layers, and what it is called."""

    prepared: Prepared
    title: str


def difference(here: Tensor, there: Tensor | None) -> Difference:
    """Return how far the values of a layer are apart in two runs."""
    if there is None:
        return Difference(None, None, "not there")
    if here.shape != there.shape:
        return Difference(None, None, f"{'×'.join(map(str, there.shape))} there")
    if not here.numel():
        return Difference(0.0, 0.0)
    wide = torch.promote_types(torch.promote_types(here.dtype, there.dtype), torch.float32)
    a, b = here.to(wide), there.to(here.device, wide)
    apart = a - b
    figures = torch.stack([quotient(apart.norm(), a.norm()), apart.abs_().max()])
    relative, largest = figures.tolist()
    return Difference(relative, largest)


def differences(p: Prepared, other: Other) -> Iterator[dict[str, Difference]]:
    """Yield the differences of ever more layers of F(x), in the order of execution; the last time all of them."""
    found: dict[str, Difference] = {}
    start = time.perf_counter()
    for layer in p.trace.layers:
        found[layer.name] = difference(p.values[layer.name], other.prepared.values.get(layer.name))
        if time.perf_counter() - start > PART_SECONDS:
            yield dict(found)
            start = time.perf_counter()
    yield found


def pictured(p: Prepared, other: Other, name: str, found: Mapping[str, Difference]) -> Differences:
    """Return the differences with the maps of one layer: in this run, in the other, and this minus the other."""
    here, there = p.values[name], other.prepared.values.get(name)
    field = p.trace[name].field
    own = drawn(here, field)[0]
    if there is None or there.shape != here.shape:
        beside = None if there is None else drawn(there, other.prepared.trace[name].field)[0]
        return Differences(other.title, found, name, own, beside)
    moved = there.to(here.device, here.dtype)
    return Differences(other.title, found, name, own, drawn(moved, field)[0], drawn(here - moved, field)[0])
