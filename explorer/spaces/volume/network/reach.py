"""Find by trial how far layers see in volumes: a half is given other values, and it is watched what changes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial

import torch
from torch import Tensor

from explorer.declare.types.fields import FieldType
from explorer.network.tracing.fading import LOUD, heard
from explorer.spaces.volume.fields import Voxels


def reaches(
    run: Callable[[Tensor], Mapping[str, Tensor]], x: Tensor, fields: Mapping[str, FieldType]
) -> dict[str, float]:
    """Return how many voxels to either side the values of layers see: inf for all of the volume, NaN where unknown.

    Args:
        run: x -> the values of the layers; what it raises is passed on.
        x: volumes (batch, channel, z, y, x).
        fields: of these layers.
    """
    placed = {n: f for n, f in fields.items() if isinstance(f.domain, Voxels) and math.isfinite(f.spacing)}
    found = {n: math.nan if n in placed else math.inf for n in fields}
    if not placed or not x.numel():
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
    placed = {n: f for n, f in placed.items() if torch.equal(before[n], again[n])}
    found |= dict.fromkeys(placed, 0.0)
    for axis in (-3, -2, -1):
        side = x.shape[axis]
        shape = [1] * x.ndim
        shape[axis] = side
        for k, low in ((k, low) for k in range(2) for low in (False, True)):
            given = torch.arange(side, device="cpu") < min(side // 2 + k, side - 1)
            given = given if low else ~given
            there = given.to(x.device).view(shape)
            after = run(torch.where(there, (LOUD if k else 1.0) * other, one))
            for n, f in placed.items():
                found[n] = max(found[n], heard(before[n], after[n], partial(_farthest, f, axis, given))[0])
    return {n: r + max(0.0, fields[n].spacing - 2) for n, r in found.items()}


def _farthest(field: FieldType, axis: int, given: Tensor, changed: Tensor) -> float:
    """Return how far from the voxels that were `given` other values the changed places lie, along one axis."""
    line = field.domain.spread(changed).movedim(axis, -1).flatten(0, -2).any(0)
    voxels = given.nonzero()[:, 0]
    at = (torch.arange(len(line), device="cpu") - (len(line) - 1) / 2) * field.spacing + (len(given) - 1) / 2
    first, last = int(voxels[0]), int(voxels[-1])
    apart = torch.maximum(first - at, at - last)
    others = apart > 0.5
    seen = line.cpu() & others
    if not seen.any():
        return 0.0
    if bool((seen == others).all()):
        return math.inf
    # padding that goes round the edge brings values to the border on the other side
    edge = len(given) - 1 if first == 0 else 0
    if line[0 if edge == 0 else -1]:
        apart = torch.minimum(apart, (at - edge).abs() + 1)
    return float(apart[seen].max())
