"""Reduce the values of layers to a few numbers each, on the device, in passes that keep no copy of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.declare.telling.summaries import Statistics
from explorer.network.inner.tiled import looked_at

CHUNK = 2**16  # values that a second, exact pass looks at together: its extra memory, whatever the layer's size
STEEP = 1e-3  # share of the mean square that the variance must be, for the difference of two sums to tell it
SUMS = 5  # figures that `moments` returns


def moments(values: Tensor) -> Tensor:
    """Return (sum, sum of squares, lowest, highest, how many are not zero) as one small tensor on the device.

    A matrix of attention that is never formed stands for itself by evenly spaced rows.
    NaN and infinities in the values show in the sums: `statistics` then looks again.
    """
    v = looked_at(values).detach()
    if v.is_complex():
        v = torch.view_as_real(v)
    if not v.numel():
        return torch.zeros(SUMS, dtype=torch.float64, device=v.device)
    if not v.is_floating_point():
        v = v.double() if v.numel() <= CHUNK else v.float()
    wide = v.dtype if v.dtype in (torch.float32, torch.float64) else torch.float32
    if v.device.type == "cpu" and v.is_contiguous() and v.dtype == wide:
        return torch.tensor(_by_parts(v.view(-1)), dtype=torch.float64, device="cpu")
    low, high = torch.aminmax(v)
    squares = torch.linalg.vector_norm(v, dtype=wide).square()
    sums = torch.stack([v.sum(dtype=wide), squares, low.to(wide), high.to(wide)]).double()
    # float64 holds any count of values exactly
    return torch.cat([sums, torch.count_nonzero(v).double()[None]])


def _by_parts(flat: Tensor) -> tuple[float, ...]:
    """Return what `moments` does, of parts that stay in the processor's cache from one sum to the next."""
    total, squares, low, high, there = 0.0, 0.0, math.inf, -math.inf, 0
    values: NDArray[Any] = flat.numpy()
    with np.errstate(all="ignore"):
        for k in range(0, values.size, CHUNK):
            part = values[k : k + CHUNK]
            # torch adds up four times as fast as NumPy does, in parts of parts as well; NumPy is the faster one else
            total += float(flat[k : k + CHUNK].sum())
            # not NumPy's product: its threads wait for each other, for a hundred times as long on a busy machine
            squares += float(torch.linalg.vector_norm(flat[k : k + CHUNK])) ** 2
            least, most = float(part.min()), float(part.max())
            low, high = min(low, least), max(high, most)
            # where all are on one side of zero, none is zero; of NaN neither is told
            there += part.size if least > 0 or most < 0 else int(np.count_nonzero(part != 0))
    return total, squares, low, high, float(there)


def statistics(values: Mapping[str, Tensor], found: Mapping[str, Tensor] | None = None) -> dict[str, Statistics]:
    """Return the statistics of every layer, with one transfer from the device; only doubtful ones are looked at again.

    Args:
        found: what `moments` returned of them already.
    """
    values = {name: looked_at(value) for name, value in values.items()}
    reduced = {name: moments(value) for name, value in values.items()} if found is None else found
    if not reduced:
        return {}
    rows = torch.stack(list(reduced.values())).tolist()
    return {name: _told(values[name], row) for name, row in zip(reduced, rows, strict=True)}


def _told(value: Tensor, row: Sequence[float]) -> Statistics:
    total, squares, low, high, there = row
    count = value.numel() * (2 if value.is_complex() else 1)
    if not count:
        return Statistics(math.nan, math.nan, math.nan, math.nan, 0.0, 0, 0, 0)
    mean = total / count
    variance = squares / count - mean * mean
    if not (math.isfinite(total) and math.isfinite(squares)) or variance < STEEP * mean * mean:
        return exact(value)
    return Statistics(mean, math.sqrt(variance), low, high, (count - there) / count, 0, 0, count)


def exact(value: Tensor) -> Statistics:
    """Return the statistics by slow passes over small parts in double precision, NaN and infinities left out."""
    v = looked_at(value).detach()
    flat = (torch.view_as_real(v) if v.is_complex() else v).flatten()
    nan = infinite = zeros = count = 0
    total, low, high = 0.0, math.inf, -math.inf
    for part in flat.split(CHUNK):
        nan += int(part.isnan().sum())
        infinite += int(part.isinf().sum())
        zeros += int((part == 0).sum())
        good = part[part.isfinite()].double()
        if good.numel():
            count += good.numel()
            total += float(good.sum())
            low, high = min(low, float(good.min())), max(high, float(good.max()))
    if not count:
        return Statistics(math.nan, math.nan, math.nan, math.nan, 0.0, nan, infinite, flat.numel())
    mean = total / count
    spread = sum(float((p[p.isfinite()].double() - mean).square().sum()) for p in flat.split(CHUNK))
    return Statistics(mean, math.sqrt(spread / count), low, high, zeros / flat.numel(), nan, infinite, flat.numel())


def silent_channels(channels: Tensor) -> Tensor:
    """Return which channels are zero everywhere, (channels,) bool, of values as (batch, channels, places)."""
    if not channels.numel():
        return torch.zeros(channels.shape[1], dtype=torch.bool, device=channels.device)
    return (channels.amax(dim=(0, 2)) == 0) & (channels.amin(dim=(0, 2)) == 0)


def first_strange(found: Mapping[str, Statistics], fed: Mapping[str, Sequence[Tensor]] | None = None) -> str:
    """Name the first layer, in the order of execution, that has NaN or infinite values, in a clause; "" where none has.

    Args:
        found: in the order of execution.
        fed: what each layer was given: whether that was finite says who made them.
    """
    for name, s in found.items():
        if s.finite:
            continue
        given = [exact(t) for t in (fed or {}).get(name, ()) if t.is_floating_point()]
        clause = f"{s.strange} of {s.count:,} values of {name}, the first layer where any appear"
        if given and all(g.finite for g in given):
            most = max(max(abs(g.low), abs(g.high)) for g in given)
            clause += f"; what it was given is finite, at most {most:.3g} in size"
        elif given:
            clause += f"; what it was given has {next(g.strange for g in given if not g.finite)} already"
        return clause
    return ""


def strange_layer(values: Mapping[str, Tensor]) -> str:
    """Return the first layer, in the order of execution, that has a value that is not finite; "" where none has."""
    return next((n for n, v in values.items() if not torch.isfinite(v).all()), "")


def first_nan(before: Mapping[str, Tensor], after: Mapping[str, Tensor]) -> str:
    """Return the first layer, in the order of execution, that has NaN now and was finite; "" where there is none.

    Infinite values alone may be meant: scores of masked pairs are.
    """
    return next((n for n, v in before.items() if v.isfinite().all() and after[n].isnan().any()), "")
