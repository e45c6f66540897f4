"""Find which entries of a layer's tensor a channel, a head or a place is; the domain of its field tells."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from explorer.declare.states.interventions import CHANNEL, HEAD, PIXEL, PLACE, Intervention
from explorer.declare.types.fields import FieldType
from explorer.network.tracing.layers import Layer


class Unit(NamedTuple):
    """The entries of a layer's tensor that are meant.

    Attributes:
        entries: a mask of one sample, which broadcasts over a batch.
        of_data: whether it is a place of the data, which an element moves; all else is a part of the network.
    """

    entries: Tensor
    of_data: bool = False


def unit_of(one: Intervention, model: nn.Module, layer: Layer, shape: tuple[int, ...]) -> Unit | None:
    """Return where the unit lies in a tensor of that shape, of unmoved data; None for all of it.

    Raises:
        ValueError: the layer has no such part, in one sentence.
    """
    if not one.unit:
        return None
    if one.unit == HEAD and layer.within is not None and len(shape) > (3 if layer.field is not None else 2):
        found = torch.zeros(shape[-3], 1, 1, dtype=torch.bool)  # (heads, to, from), whatever places these are
        found[_inside(one, one.index[0], shape[-3], "head")] = True
        return Unit(found)
    if layer.field is None:
        raise ValueError(f"the field type of {layer.name} is unknown, so only the whole layer can be changed")
    shape = (1, *shape[1:]) if layer.field.batched else shape
    entries = torch.arange(torch.Size(shape).numel(), device="cpu").reshape(shape)
    table = layer.field.domain.by_channel(entries)[0]  # (channels, places)
    channels, places = table.shape
    of_data = False
    if one.unit == CHANNEL:
        chosen = table[_inside(one, one.index[0], channels, "channel")]
    elif one.unit == HEAD:
        head, count = head_of(one, model, layer, channels)
        if channels % count:
            raise ValueError(f"{layer.name} has {channels} channels, which make no {count} heads")
        width = channels // count
        chosen = table[head * width : (head + 1) * width]
    elif of_values := layer.field.rep.parts(one.unit, channels):
        chosen = table[list(of_values[_inside(one, one.index[0], len(of_values), one.unit)])]
    elif of_places := layer.field.domain.parts(one.unit, places):
        of_data = True
        chosen = table[:, list(of_places[_inside(one, one.index[0], len(of_places), one.unit)])]
    else:
        of_data = True
        chosen = table[:, _place(one, layer.field, shape, places)]
    found = torch.zeros(entries.numel(), dtype=torch.bool, device="cpu")
    found[chosen.flatten()] = True
    return Unit(found.reshape(shape), of_data)


def head_of(one: Intervention, model: nn.Module, layer: Layer, channels: int) -> tuple[int, int]:
    """Return (head, how many there are): as told, as a module on the way to the layer says, or a channel of pairs.

    Raises:
        ValueError: nothing says how many heads there are, or there are fewer.
    """
    head, *told = one.index
    if told:
        return head, told[0]
    axes = layer.field.domain.axes if layer.field is not None else ()
    # of pairs of places, as (head, node, node), each channel is one
    count = channels if len(set(axes)) < len(axes) else heads_of(model, layer)
    if count is None:
        raise ValueError(f"nothing says how many heads {layer.name} has: write [head {head}/8] for the first of 8")
    return _inside(one, head, count, "head"), count


def heads_of(model: nn.Module, layer: Layer) -> int | None:
    """Return how many heads the layer's module, or the nearest one above that says it, has."""
    path = layer.owner.split(".") if layer.owner else []
    for cut in range(len(path), -1, -1):
        module = model.get_submodule(".".join(path[:cut]))
        told = [
            value for name, value in vars(module).items()
            if "head" in name and type(value) is int and value > 1 and not {"dim", "size"} & set(name.split("_"))
        ]  # fmt: skip
        if told:
            return told[0]
    return None


def _inside(one: Intervention, index: int, count: int, word: str) -> int:
    if index >= count:
        last = f"0 to {count - 1}" if count > 1 else "only 0"
        raise ValueError(f"{one.layer} has no {word} {index}; there are {last}")
    return index


def _place(one: Intervention, field: FieldType, shape: tuple[int, ...], places: int) -> int:
    domain = field.domain
    if not domain.placed:
        raise ValueError(f"{one.layer} has no places: it gives one value for the whole input")
    if one.unit == PIXEL:
        if len(shape) < 2 or shape[-1] * shape[-2] != places:
            raise ValueError(f"{one.layer} has no rows and columns; write [place {one.index[0]}]")
        row, column = one.index
        if row >= shape[-2] or column >= shape[-1]:
            raise ValueError(f"{one.layer} has no pixel {row},{column}; it has {shape[-2]} rows, {shape[-1]} columns")
        return row * int(shape[-1]) + column
    if one.unit not in (PLACE, domain.name):
        raise ValueError(f"{one.layer} has no {one.unit}; its parts are channel, head, {domain.name} or place")
    return _inside(one, one.index[0], places, one.unit)
