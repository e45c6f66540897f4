"""Values of x and of the layers by place, as the part of a frame holds them for the views of its space."""

from __future__ import annotations

from collections.abc import Container

from torch import Tensor

from explorer.declare.types.fields import Domain, FieldType
from explorer.network.inner.tiled import Tiled
from explorer.square.drawing.layers import frozen
from explorer.square.drawing.pair_rows import on_demand
from explorer.square.frame import Array
from explorer.square.preparing.kept import kept
from explorer.square.preparing.prepare import Prepared

MOST_CHANNELS = 128  # of a field that is drawn
NO_PLACES = "invariant"  # the kind of what is drawn as one row of numbers


def kind_of(field: FieldType | None, drawn: Container[str]) -> str:
    """Return where the values sit, "node", "pair", ..., or "invariant" where views draw no such places."""
    # coarser places than those of the input are none that these views draw
    name = field.domain.name if field is not None and field.spacing == 1.0 else ""
    return name if name in drawn else NO_PLACES


def raw(values: Tensor, field: FieldType | None, most: int | None = MOST_CHANNELS) -> Array:
    """Return values as (places, channels), or (channels, places, places) of pairs, read-only float32.

    Args:
        most: how many channels, None for all. Those that belong together are all there, or none of them.
    """
    field = field or FieldType(Domain())
    if most is not None:
        most = max(most - most % field.rep.size, field.rep.size)
    if isinstance(values, Tiled):
        return on_demand(values)  # type: ignore[return-value]
    table = field.domain.table(values.detach(), field.rep)
    return frozen(table[:most] if table.ndim > 2 else table[:, :most])


@kept()
def input_values(p: Prepared, most: int | None = MOST_CHANNELS) -> Array:
    """Return the values of x, made once an epoch."""
    return raw(p.x, p.x_field, most)


@kept()
def layer_values(p: Prepared, name: str, most: int | None = MOST_CHANNELS) -> Array:
    """Return the values of F(x) at one layer; those of the newest one are kept."""
    return raw(p.values[name], p.trace[name].field, most)
