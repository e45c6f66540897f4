"""One row of attention, made on demand of the queries and keys that are kept: for sequences too long for the matrix.

A module that can do it has a method `row(query, key, step)`, (..., T, C), (..., S, C) -> (..., H, S), and says with
`row_of` which of its layers it takes. In networks of other people a matrix that is never formed is asked for its row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from explorer.declare.types.fields import Pairs
from explorer.network.inner.tiled import Tiled
from explorer.network.tracing.layers import Layer
from explorer.network.tracing.walking import named_modules
from explorer.spaces.sequence.drawing.values import Attended
from explorer.square.drawing.layers import frozen
from explorer.square.frame import Array
from explorer.square.preparing.kept import kept
from explorer.square.preparing.prepare import Prepared


def attended(
    p: Prepared, layer: Layer, step: int | None, order: Array, answers: Mapping[str, Tensor]
) -> Attended | None:  # fmt: skip
    """Return what `step` attends to near `layer`, before and after the element; None where there is no attention,
    or where its matrix is a layer that is formed.

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
    owners = {name: p.trace[name].within or name for name in names}
    inside = [name for name, of in owners.items() if layer.name in (name, of) or layer.name.startswith(f"{of}.")]
    if inside or not names:
        return inside[0] if inside else None
    place = {w.name: k for k, w in enumerate(p.trace.layers)}
    before = [name for name in names if place[name] < place[layer.name]]
    return before[-1] if before else names[0]


@kept()
def _attentions(p: Prepared) -> list[str]:
    """Return the names of the attentions whose matrix is no layer, or is one that is never formed."""
    able = {name for name, module in named_modules(p.model) if hasattr(module, "row_of")}
    pairs = [w.name for w in p.trace.layers if w.field is not None and isinstance(w.field.domain, Pairs)]
    tiled = {name for name in pairs if isinstance(p.values.get(name), Tiled)}
    formed = [name for name in pairs if name not in tiled]
    able -= {name for name in able if any(one.startswith(f"{name}.") for one in formed)}
    return [w.name for w in p.trace.layers if w.name in able or w.name in tiled]


def _row(p: Prepared, name: str, values: Mapping[str, Tensor], step: int) -> Array | None:
    if isinstance(whole := values.get(name), Tiled):
        heads, rows, _ = whole.form
        if not 0 <= step < rows:
            return None
        return frozen(torch.cat([whole.head_rows(head, step, step + 1) for head in range(heads)]).t())
    if p.trace[name].within is not None:
        return None
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
