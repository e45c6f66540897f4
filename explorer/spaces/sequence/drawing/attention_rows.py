"""One row of attention, made on demand of the queries and keys that are kept: for sequences too long for the matrix.

A module that can do it has a method `row(query, key, step)`, (..., T, C), (..., S, C) -> (..., H, S), and says with
`row_of` which of its layers it takes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from explorer.declare.types.fields import Pairs
from explorer.network.tracing.layers import Layer
from explorer.spaces.sequence.drawing.values import Attended
from explorer.square.frame import Array
from explorer.square.preparing.kept import kept
from explorer.square.preparing.prepare import Prepared


def attended(
    p: Prepared, layer: Layer, step: int | None, order: Array, answers: Mapping[str, Tensor]
) -> Attended | None:  # fmt: skip
    """Return what `step` attends to near `layer`, before and after the element; None where there is no attention,
    or where its matrix is a layer.

    Args:
        order: where each step has gone, NaN where it was cut off; answers: {layer: F(rho(g) x)}.
    """
    name = _nearest(p, layer)
    if step is None or name is None:
        return None
    row = _row(p, name, p.values, step)
    there = float(order[step]) if step < len(order) else math.nan
    return (
        None if row is None else Attended(name, row, _row(p, name, answers, round(there)) if there == there else None)
    )


def _nearest(p: Prepared, layer: Layer) -> str | None:
    """Return the attention that a layer lies in, else the last one before it, else the first."""
    names = _attentions(p)
    inside = [name for name in names if layer.name == name or layer.name.startswith(f"{name}.")]
    if inside or not names:
        return inside[0] if inside else None
    place = {w.name: k for k, w in enumerate(p.trace.layers)}
    before = [name for name in names if place[name] < place[layer.name]]
    return before[-1] if before else names[0]


@kept()
def _attentions(p: Prepared) -> list[str]:
    """Return the names of the attentions whose matrix is no layer."""
    able = {name for name, module in p.model.named_modules() if hasattr(module, "row_of")}
    formed = [w.name for w in p.trace.layers if w.field is not None and isinstance(w.field.domain, Pairs)]
    able -= {name for name in able if any(one.startswith(f"{name}.") for one in formed)}
    return [w.name for w in p.trace.layers if w.name in able]


def _row(p: Prepared, name: str, values: Mapping[str, Tensor], step: int) -> Array | None:
    module: Any = p.model.get_submodule(name)
    names = [f"{name}.{part}" for part in module.row_of]
    if any(one not in values for one in names):
        return None
    taken = [values[one] for one in names]
    if not 0 <= step < taken[0].shape[-2]:
        return None
    with torch.no_grad():
        found: Tensor = module.row(*taken, step)
    row: Array = found.reshape(-1, found.shape[-1]).t().contiguous().to("cpu", torch.float32).numpy().copy()
    row.flags.writeable = False
    return row
