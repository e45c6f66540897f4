"""Find by trial how far layers see on images: half of it is given other values, and it is watched what changes.

A half finds what a single pixel misses: strides pass over pixels, and no stride passes over all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache, partial

import torch
from torch import Tensor

from explorer.declare.types.fields import FieldType
from explorer.network.tracing.fading import LOUD, heard
from explorer.spaces.grid.fields import ChannelsLast, Grid

Run = Callable[..., Mapping[str, Tensor]]

MOST_CUTS = 4


def reaches(run: Run, x: Tensor, fields: Mapping[str, FieldType]) -> dict[str, float]:
    """Return how many pixels to either side the values of layers see: inf for all of the image, NaN where unknown.

    Args:
        run: x, names of some of the layers -> their values; what it raises is passed on.
        x: images (batch, channel, y, x).
        fields: of these layers.
    """
    found = {n: math.nan if math.isfinite(f.spacing) and _spread(f) else math.inf for n, f in fields.items()}
    wanted = {n: f for n, f in fields.items() if math.isnan(found[n])}
    if not wanted or not x.numel():
        return found
    x = x[:1]
    generator = torch.Generator().manual_seed(0)
    size = float(x.std()) if x.numel() > 1 else 1.0
    one, other = (
        (torch.randn(x.shape, generator=generator, device="cpu", dtype=torch.float64) * (size or 1.0)).to(x)
        for _ in range(2)
    )
    before, again = run(one), run(one)
    # what draws random numbers of its own tells nothing
    wanted = {n: f for n, f in wanted.items() if torch.equal(before[n], again[n])}
    found |= dict.fromkeys(wanted, 0.0)
    # where a network strides, what a place sees depends on where it lies between two strides
    coarsest = max((f.spacing for f in wanted.values()), default=1.0)
    cuts = range(max(2, min(math.ceil(coarsest), MOST_CUTS)))
    for axis in (-2, -1):
        steps = x.shape[axis]
        if steps == 1:  # no half of it can be given other values
            return found | dict.fromkeys(wanted, math.inf)
        for low in (False, True):
            fading: dict[str, FieldType] = {}
            for k in cuts:
                changed = torch.arange(steps, device="cpu") < min(steps // 2 + k, steps - 1)
                changed = changed if low else ~changed
                there = changed.to(x.device).view((-1, 1) if axis == -2 else (-1,))
                # what sees all of the image sees no more
                wanted = {n: f for n, f in wanted.items() if math.isfinite(found[n])}
                if not wanted:
                    return found
                after = run(torch.where(there, (LOUD if k % 2 else 1.0) * other, one), wanted)
                for n, f in wanted.items():
                    reach, fades = heard(before[n], after[n], partial(_farthest, f, axis, changed))
                    if fades:
                        fading[n] = f
                    found[n] = max(found[n], reach)
            if fading:
                # what is not a number never fades, however far it goes
                after = run(torch.where(there, torch.full_like(one, math.nan), one), fading)
                for n, f in fading.items():
                    found[n] = max(found[n], _farthest(f, axis, changed, after[n].isnan()))
    return {n: r + max(0.0, fields[n].spacing - len(cuts)) for n, r in found.items()}


def _spread(field: FieldType) -> bool:
    return isinstance(field.domain, Grid | ChannelsLast)


@lru_cache(maxsize=256)
def _places(count: int, spacing: float, given: tuple[bool, ...]) -> tuple[list[float], list[int], int, list[int]]:
    """Return where places lie in pixels, which pixels are given, the border farthest from them, and other places."""
    steps = len(given)
    at = [(k - (count - 1) / 2) * spacing + (steps - 1) / 2 for k in range(count)]
    pixels = [k for k, is_given in enumerate(given) if is_given]
    edge = 0 if pixels and pixels[0] else steps - 1
    others = [k for k, place in enumerate(at) if not pixels[0] - 0.5 < place < pixels[-1] + 0.5]
    return at, pixels, edge, others


def _farthest(field: FieldType, axis: int, given: Tensor, changed: Tensor) -> float:
    """Return how far from the pixels that were `given` other values the changed places lie, along one axis."""
    maps = field.domain.spread(changed)
    line = maps.movedim(axis, -1).flatten(0, -2).any(0).tolist()
    at, pixels, edge, others = _places(len(line), field.spacing, tuple(given.tolist()))
    seen = [k for k in others if line[k]]
    if not seen:
        return 0.0
    if len(seen) == len(others):
        return math.inf
    # padding that goes round the edge brings values to the border on the other side
    round_the_edge = line[0 if edge == 0 else -1]

    def far(place: float) -> float:
        apart = min(abs(place - pixels[0]), abs(place - pixels[-1]))
        return min(apart, abs(place - edge) + 1) if round_the_edge else apart

    return max(far(at[k]) for k in seen)
