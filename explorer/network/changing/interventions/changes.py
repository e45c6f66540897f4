"""Make of an intervention the change of a layer's tensor: zero, times a factor, or the values of another run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from explorer.declare.elements import NoAction
from explorer.declare.states.interventions import HEAD, Intervention
from explorer.network.changing.interventions.hooks import Change, without_hooks
from explorer.network.changing.interventions.moving import Word, places_after, values_after, words_here
from explorer.network.changing.interventions.units import head_of, unit_of
from explorer.network.tracing.layers import Layer, LayerError
from explorer.network.tracing.running import tensors_in

Values = Callable[[], Tensor | None]  # what the layer gave in another run; None while that is not known


def change_of(one: Intervention, model: nn.Module, layer: Layer, values: Values | None = None) -> Change:
    """Return what the intervention does to the layer's tensor.

    Args:
        values: of another run, for what is frozen or replaced.

    Raises:
        ValueError: the layer has no such part, in one sentence.
    """
    module = model.get_submodule(layer.module) if layer.within is None else None
    if one.unit == HEAD and isinstance(module, nn.MultiheadAttention):
        # its heads are summed up by what it calls no module for
        head, count = head_of(one, model, layer, module.embed_dim)
        return _of_head(one, head, count, values)
    unit = unit_of(one, model, layer, layer.shape)
    masks: dict[tuple[int, ...], Tensor] = {layer.shape: unit.entries} if unit is not None else {}

    def change(given: Tensor, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
        words = words_here() if unit is not None and unit.of_data and layer.field is not None else ()
        if words:
            return _at_moved_place(one, layer, masks[layer.shape], given, words, values)
        instead = _instead(one, given, values)
        if instead is None or unit is None:
            # what is given on is never what is kept: the network may go on in place
            return given if instead is None else instead.clone() if values is not None else instead
        shape = tuple(given.shape)
        if shape not in masks:  # of inputs of another size
            with torch.inference_mode(False):  # it is kept, for runs that are differentiated as well
                masks[shape] = unit_of(one, model, layer, shape).entries  # type: ignore[union-attr]
        return torch.where(masks[shape].to(given.device), instead, given)

    return change


def _at_moved_place(
    one: Intervention, layer: Layer, mask: Tensor, given: Tensor, words: Sequence[Word], values: Values | None
) -> Tensor:
    """Return what a layer gives moved data, changed where its place has gone, by what was moved along."""
    field = layer.field
    assert field is not None
    try:
        share = places_after(words, mask.to(given.device), field)
        kept = values() if values is not None else None
        along = None if kept is None else values_after(words, kept, field)
    except NoAction:
        told = "and nothing tells where that is after this element: its field has no such action"
        raise LayerError(one.layer, f"{one.told}, {told}") from None
    if share.shape[1:] != given.shape[1:] or len(share) not in (1, len(given)):
        here, there = ("×".join(map(str, t.shape)) for t in (given, share))
        told = f"it gives {here} on the moved data, and what it gave before is {there} after the element"
        raise LayerError(one.layer, f"{one.layer} cannot be changed at one place here: {told}")
    instead = _instead(one, given, None if values is None else lambda: along)
    if instead is None:
        return given
    between = given + (instead - given) * share.to(given)
    return torch.where(share == 0, given, torch.where(share == 1, instead, between))


KEPT = {"freeze": "frozen", "replace": "replaced"}


def _instead(one: Intervention, given: Tensor, values: Values | None) -> Tensor | None:
    """Return what takes the layer's place, as large as what it gives."""
    if one.kind == "zero":
        return torch.zeros_like(given)
    if one.kind == "scale":
        return given * one.factor
    kept = values() if values is not None else None
    if kept is None:
        return None
    if kept.shape[1:] == given.shape[1:] and len(kept) == 1:
        kept = kept.expand_as(given)  # the same for each of a batch
    if kept.shape != given.shape:
        here, there = ("×".join(map(str, t.shape)) for t in (given, kept))
        raise LayerError(
            one.layer,
            f"{one.layer} cannot be {KEPT[one.kind]} here: it gives {here} on this input, and the values to be put in "
            f"its place are {there}; take an element or an input that leaves its size as it is",
        )
    return kept.to(given)


def _of_head(one: Intervention, head: int, count: int, values: Values | None) -> Change:
    """Return the change of one head of an attention whose heads are only seen summed up.

    The part of a head is what is missing when the columns of the last map that belong to it are zero.
    """
    kept: dict[str, Tensor] = {}

    def change(given: Tensor, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
        projection: Any = module.out_proj
        width = projection.weight.shape[1] // count
        columns = torch.ones_like(projection.weight[0])
        columns[head * width : (head + 1) * width] = 0
        whole = projection._parameters["weight"]
        with without_hooks(module):
            try:
                projection._parameters["weight"] = whole * columns
                others = next(iter(tensors_in(module.forward(*args, **kwargs))))
            finally:
                projection._parameters["weight"] = whole
        own = given - others
        if one.kind == "zero":
            return others
        if one.kind == "scale":
            return others + own * one.factor
        if values is None or values() is None:
            kept["own"] = own.detach()  # of the run whose values are frozen
            return given
        return others + kept["own"].to(own).expand_as(own)

    return change
