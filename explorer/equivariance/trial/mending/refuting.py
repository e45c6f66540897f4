"""Refute guessed field types by trial: given what they ask for, a network would err far more than it does.

A fault that first shows in a layer of the right field type is gone from the output as soon as that layer gives
rho(g) f(x) in place of what it gives for rho(g) x, and where other layers have faults too, about as much is left as
there was. Where a field type is wrong, the output of such a network is far from what it should be. So it is as well
where later layers undo what an earlier one breaks: neither makes the fault of the output by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor

from explorer.declare.elements import NoAction
from explorer.equivariance.trial.mending.mends import Mend, Square, changed
from explorer.equivariance.trial.mending.sufficing import HARM, Sufficing
from explorer.equivariance.verdict.guilt import Finding, first_seen, guilty_layers
from explorer.network.tracing.layers import Layer, Trace

MOST = 48  # tensors that are tried
SURE = 3  # of those that are accused, whose fields may be right: the others are not tried

Row = TypeVar("Row", bound=Finding)


class Sampled(Protocol):
    """The values of all layers on one sample, and what they are given."""

    @property
    def values(self) -> Mapping[str, Tensor]: ...
    @property
    def fed(self) -> Mapping[str, tuple[Tensor, ...]]: ...


class Measured(Protocol):
    """The measurement of a network on some samples."""

    trace: Trace

    @property
    def cases(self) -> Sequence[Sampled]: ...


def refuted(
    trials: Callable[[Sequence[Row]], Sufficing], trace: Trace, rows: Sequence[Row]
) -> dict[str, tuple[float, float]]:
    """Return the tensors whose guessed fields are wrong, each with the error of the output before and after.

    Tried are those that would be accused, and from the first one on in which a fault shows those up to the first whose
    field may be right.
    """
    if not any(row.seen for row in rows if row.name in trace.outputs):
        return {}
    shows = [
        row.name
        for layer, row in zip(trace.layers, rows, strict=True)
        if row.seen and layer.name not in trace.outputs and _may_be_given(layer)
    ]
    trial = trials(rows) if shows else None
    if trial is None or not (squares := [square for square in trial.squares[:1] if square.whole]):
        return {}
    square = squares[0]
    if (before := trial.error(square, {}) or 0.0) <= max(trial.limits.values()):
        return {}
    accused = {*guilty_layers(trace, rows), first_seen(trace, rows)}
    found, right = dict[str, tuple[float, float]](), 0
    more: list[tuple[Square, float]] | None = None  # unrelated inputs: by chance mending may do harm on one alone
    for name in shows[:MOST]:
        if right > SURE or (right and name not in accused):
            continue
        after = _with(trial, square, trace[name])
        if after is not None and after > HARM * before:
            if more is None:
                more = [(s, trial.error(s, {}) or 0.0) for s in trial.others([layer.name for layer in trace.layers])]
            others = [(was, _with(trial, s, trace[name])) for s, was in more]
            if others and all(was and here is not None and here > HARM * was for was, here in others):
                found[name] = before, after
                continue
        right += 1
    return found


def unguessed(audit: Measured, names: Collection[str], given: Collection[tuple[str, int]] = ()) -> Trace:
    """Return the trace of an audit in which nothing is known of these tensors, nor of what layers are given of them.

    Args:
        given: (call, number) of what else calls are given.
    """
    trace, values, fed = audit.trace, audit.cases[0].values, audit.cases[0].fed
    lost = [values[layer.name] for layer in trace.layers if layer.name in names]

    def lacks(layer: Layer, k: int, tensor: Tensor) -> bool:
        return (layer.called, k) in given or any(v.shape == tensor.shape and torch.equal(v, tensor) for v in lost)

    def known(layer: Layer) -> Layer:
        pairs = list(zip(layer.inputs, fed.get(layer.called, ()), strict=False))
        inputs = tuple(None if lacks(layer, k, tensor) else f for k, (f, tensor) in enumerate(pairs))
        if layer.name in names:
            layer = replace(layer, field=None)
        return replace(layer, inputs=inputs, alone=False) if inputs != layer.inputs else layer

    layers = {layer.name: known(layer) for layer in trace.layers}
    return replace(trace, layers=tuple(layers.values()), by_name=layers)


def _may_be_given(layer: Layer) -> bool:
    """Say whether a layer can be made to give something else: a module, whose field is a guess."""
    return bool(layer.module) and layer.within is None and layer.field is not None and layer.field.guessed


def _with(trial: Sufficing, square: Square, layer: Layer) -> float | None:
    """Return the error of the output with a layer giving what its field asks for, None where that is not known."""
    try:
        return trial.error(square, {layer.module: [*[_as_it_is] * layer.call, _given(square, layer)]})
    except NoAction:
        return None


def _as_it_is(_: Any, __: tuple[Any, ...], ___: dict[str, Any], result: Any, ____: Callable[..., Any]) -> Any:
    return result


def _given(square: Square, layer: Layer) -> Mend:
    """Return what makes a layer give its values on x, moved.

    Raises:
        NoAction: the element has none on its field.
    """
    assert layer.field is not None
    value = layer.field.rep.acted(square.element, square.values[layer.name], layer.field)

    def mend(_: Any, __: tuple[Any, ...], ___: dict[str, Any], result: Any, ____: Callable[..., Any]) -> Any:
        return changed(result, {layer.part: lambda _: value.clone()})

    return mend
