"""Run a network in which layers give something else than they do, call by call: what their laws ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_unflatten

from explorer.declare.elements import Element, NoAction
from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import FieldType
from explorer.equivariance.trial.calling import in_slices
from explorer.network.input.typed_tensors import enrol
from explorer.network.tracing.capture import Fed
from explorer.network.tracing.layers import Layer

Mend = Callable[[Any, tuple[Any, ...], dict[str, Any], Any, Callable[..., Any]], Any]
Values = Mapping[str, Tensor]
Given = Mapping[str, tuple[Tensor, ...]]


@dataclass(frozen=True, slots=True)
class Square:
    """An element of which a network breaks the law, and what is known of both ways round.

    Attributes:
        element: bound to x.
        x, gx: the input, and rho(g) of it.
        values, fed: of all layers on x.
        given: what they are given on rho(g) x.
        whole: the element cuts nothing off.
        most: {layer that constants rule: size of values from which on they are constants}.
    """

    element: Element
    x: Inputs
    gx: Inputs
    values: Values
    fed: Given
    given: Given
    whole: bool = True
    most: Mapping[str, float] = field(default_factory=dict)


def conjugated(
    g: Element, back: Element, inputs: Sequence[FieldType | None], fields: Mapping[int, FieldType | None]
) -> Mend:
    """Return rho(g) f(rho(g)^-1 .) of a module f."""

    def mend(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], _: Any, again: Callable[..., Any]) -> Any:
        fed = Fed.of(args, kwargs, True)
        if len(fed) != len(inputs) or None in inputs:
            raise NoAction(f"{type(module).__name__} is given what has no field")
        there = tuple(f.rep.acted(back, t, f) for t, f in zip(fed, inputs, strict=True) if f is not None)
        args, kwargs = fed.filled(there)
        acting = {k: partial(_acted, g, f) for k, f in fields.items() if f is not None}
        return changed(again(*args, **kwargs), acting)

    return mend


def _acted(g: Element, field: FieldType, leaf: Tensor) -> Tensor:
    return field.rep.acted(g, leaf, field)


def changed(result: Any, parts: Mapping[int, Callable[[Tensor], Tensor]]) -> Any:
    """Return what a module gives with these of its tensors changed."""
    enrol([result])
    leaves, spec = tree_flatten(result)
    k = 0
    for at, leaf in enumerate(leaves):
        if isinstance(leaf, Tensor):
            if k in parts:
                leaves[at] = parts[k](leaf)
            k += 1
    return tree_unflatten(leaves, spec)


@contextmanager
def mended(mends: Mapping[nn.Module, Sequence[Mend]]) -> Iterator[None]:
    """Run these modules mended, call by call."""
    calls = dict.fromkeys(mends, 0)
    busy: set[nn.Module] = set()

    def hook(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Any:
        if module in busy:
            return None
        call = calls[module]
        calls[module] += 1
        if call >= len(mends[module]):
            return None
        busy.add(module)
        try:
            return mends[module][call](module, args, kwargs, result, again[module])
        finally:
            busy.discard(module)

    # a layer is what it gives to others: after the hooks that the network came with, and before those that only look
    again = {m: _hooked(m) for m in mends}
    handles = [m.register_forward_hook(hook, with_kwargs=True) for m in mends]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _hooked(module: nn.Module) -> Callable[..., Any]:
    """Return the forward of a module with the hooks that it has now."""
    hooks, given_names = list(module._forward_hooks.items()), set(module._forward_hooks_with_kwargs)

    def run(*args: Any, **kwargs: Any) -> Any:
        result = module.forward(*args, **kwargs)
        for key, hook in hooks:
            changed = hook(module, args, kwargs, result) if key in given_names else hook(module, args, result)
            result = result if changed is None else changed
        return result

    return run


def by_exchange(square: Square, layer: Layer) -> dict[str, list[Mend]]:
    """Return how a layer of unknown field is mended: what it is given tells how the slices of its answer are exchanged.

    Raises:
        NoAction: it is given something else than before with slices exchanged, or gives several tensors.
    """
    before, after = square.fed.get(layer.called, ()), square.given.get(layer.called, ())
    if len(before) != 1 or len(after) != 1:
        raise NoAction(f"{layer.name} is given several tensors")
    axis, order = in_slices(before[0], after[0])
    value = square.values[layer.name]
    if order is not None and value.ndim == before[0].ndim and value.shape[axis] == len(order):
        value = value.index_select(axis, order)  # of another size it has no such slices, and stays as it is

    def mend(_: Any, __: tuple[Any, ...], ___: dict[str, Any], result: Any, ____: Callable[..., Any]) -> Any:
        if not isinstance(result, Tensor):
            raise NoAction(f"{layer.name} gives several tensors")
        return value.clone()

    return {layer.module: [mend]}
