"""Find how far layers see that do not tell it by themselves, by trying the network as a whole."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from explorer.declare.space import Inference
from explorer.network.input.inputs import Inputs
from explorer.network.tracing.capture import capture
from explorer.network.tracing.layers import Layer
from explorer.network.tracing.running import evaluating

MANY = 1000  # layers of a network that is left behind the last one that is looked at; a run to its end takes long


def reaching(model: nn.Module, inputs: Inputs, inference: Inference, layers: list[Layer]) -> list[Layer]:
    """Return the layers with the radii that no layer tells by itself: found by trying the network as a whole."""
    unknown = {n.name: n.field for n in layers if math.isnan(n.receptive) and n.field is not None}
    if not unknown or not inputs.x.is_floating_point() or not inputs.x.numel():
        return layers
    alike = [
        k for k, (v, f) in enumerate(zip(inputs.arguments, inputs.fields))
        if v.is_floating_point() and v.numel() and type(f.domain) is type(inputs.field.domain)
    ]  # fmt: skip
    found: dict[str, float] = {}
    many = len(layers) > MANY
    for at in alike:  # what a layer sees of one argument it need not see of another
        first = [at, *(k for k in range(len(inputs.values)) if k != at)]
        turned = replace(
            inputs, values=tuple(inputs.values[k] for k in first), fields=tuple(inputs.fields[k] for k in first)
        )

        def run(x: Tensor, names: Iterable[str] = unknown, at: int = at) -> dict[str, Tensor]:
            torch.manual_seed(0)
            values = (*inputs.values[:at], x, *inputs.values[at + 1 :])
            return capture(model, replace(inputs, values=values), names, clone=True, no_further=many)[0]

        try:
            with evaluating(model), torch.no_grad():
                reach = inference.reaches(run, turned, unknown)
        except torch.OutOfMemoryError:
            raise
        except Exception:  # on other values somebody else's network may raise anything
            return layers
        found = {name: widest([radius, found.get(name, 0.0)]) for name, radius in reach.items()}
    return [replace(n, receptive=found.get(n.name, n.receptive)) for n in layers]


def widest(radii: Sequence[float]) -> float:
    """Return the largest radius; what is endless is so whatever else is not known."""
    return math.inf if math.inf in radii else math.nan if any(map(math.isnan, radii)) else max(radii)
