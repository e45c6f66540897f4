"""Trouble that keeps a network from having a verdict: a layer gives NaN, or answers vary from call to call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from explorer.declare.inputs import Inputs
from explorer.equivariance import measure
from explorer.network.changing.conduct import varies
from explorer.network.input.inputs import called
from explorer.network.tracing.layers import LayerError, Trace
from explorer.network.tracing.running import first_tensor, measured, no_tensor
from explorer.network.tracing.walking import named_tensors


@dataclass(frozen=True, slots=True)
class Trouble:
    """The reason why nothing can be said of the whole network.

    Attributes:
        verdict: on the network: "undefined" of NaN, "no law" of one that does not repeat itself, "" without trouble.
        sentence: for a person.
        layer: that has no measures; "" where every layer has.
    """

    verdict: str = ""
    sentence: str = ""
    layer: str = ""

    def __bool__(self) -> bool:
        return bool(self.verdict)


NO_TROUBLE = Trouble()


def first_not_finite(values: Mapping[str, Tensor], names: Iterable[str], outputs: Iterable[str] = ()) -> str:
    """Return the first of these layers that has NaN or infinite values, "" where none has.

    −∞ among finite numbers is a mask, as of scores before a softmax, where the `outputs` have finite numbers alone.
    """
    masks = None
    for name in names:
        if measure.finite(values[name]):
            continue
        if masks is None:
            masks = all(measure.finite(values[output]) for output in outputs)
        if not (masks and outputs and _masked(values[name])):
            return name
    return ""


def _masked(value: Tensor) -> bool:
    finite = torch.isfinite(value)
    return bool(finite.any()) and bool((finite | (value == -torch.inf)).all())


def cut_behind(trace: Trace, name: str, clause: str) -> tuple[Trace, Trouble]:
    """Return the trace up to a layer that gives NaN, with the last one before it as its output.

    Args:
        clause: what is not finite there.

    Raises:
        LayerError: no layer is before it.
    """
    sentence = f"layer {name} gave NaN or infinite values on this input: {clause}"
    count = next(k for k, layer in enumerate(trace.layers) if layer.name == name)
    before = [layer for layer in trace.layers[:count] if layer.field is not None]
    if not before:
        raise LayerError(name, sentence)
    layers = trace.layers[: count + 1]
    by_name = {key: layer for key, layer in trace.by_name.items() if layer in layers}
    end = before[-1].name
    return replace(trace, layers=layers, by_name=by_name, output=end, outputs=(end,)), Trouble(
        "undefined", sentence, name
    )


def varying(answer: object, again: object, dtype: torch.dtype) -> Trouble:
    """Return the trouble of a network that gave two answers to one input, with the same random numbers of torch."""
    one, other = measured(answer), measured(again)
    kind = dtype if dtype.is_floating_point else torch.float32
    found = (one, other) if one is not None and other is not None else ()
    told, _ = varies([[value] for _, value in found], measure.tolerance(kind, 1)) if found else ("", False)
    return Trouble("no law", f"the network {told}, also with the same random numbers of torch") if told else NO_TROUBLE


def first_changed(values: Mapping[str, Tensor], others: Mapping[str, Tensor], names: Iterable[str]) -> str:
    """Return the first of these layers that differs in two runs, "" where none does."""
    return next((n for n in names if n in others and not torch.equal(values[n], others[n])), "")


def runs_as_made(
    model: nn.Module, x: Inputs, made_in: Mapping[str, torch.dtype], dtype: torch.dtype
) -> tuple[str, ...]:
    """Return in a clause that a network that has failed runs in the precision that it was made in; it keeps that.

    Args:
        made_in: the precision of each parameter and buffer before it was converted to `dtype`.
    """
    own = {kind for kind in made_in.values() if kind.is_floating_point and kind != dtype}
    if not own:
        return ()
    for name, value in named_tensors(model):
        value.data = value.data.to(made_in.get(name, value.dtype))
    try:
        answer = called(model, x, clone=True)
    except Exception:  # of anybody's code: then the precision is not what is wrong, or not all
        return ()
    if first_tensor(answer) is None:
        no_tensor(answer)  # which ends a coroutine that nobody waits for
        return ()
    made, now = (", ".join(sorted(str(k).removeprefix("torch.") for k in kinds)) for kinds in (own, {dtype}))
    return (
        f"it runs in {made}, as it was made, and is measured in {now}: let its forward cast to the precision of its "
        "parameters, as in x.to(self.conv.weight.dtype)",
    )
