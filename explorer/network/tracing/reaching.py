"""Find how far layers see that do not tell it by themselves, by trying the network as a whole."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

import torch
from torch import Tensor, nn

from explorer.declare.inputs import Inputs
from explorer.network.changing.precision import converted, copied, precision_of
from explorer.network.opening.global_state import reseed
from explorer.network.space import Inference
from explorer.network.tracing.capture import capture, reducing
from explorer.network.tracing.layers import Layer, LayerError
from explorer.network.tracing.running import tried
from explorer.network.tracing.walking import named_tensors
from explorer.work.progress import step

LARGE = 2**28  # bytes of a network that is not copied for this
MANY = 1000  # layers of a network that is left behind the last one that is looked at; a run to its end takes long


def reaching(model: nn.Module, inputs: Inputs, inference: Inference, layers: list[Layer]) -> list[Layer]:
    """Return the layers with a trial of the network as a whole for radii that no layer tells by itself.

    The trial is many runs and most elements need no radius: it is made when the first one is asked for.
    """
    unknown = {n.name: n.field for n in layers if math.isnan(n.told) and n.field is not None}
    if not unknown or not (inputs.x.is_floating_point() or inference.hears_codes) or not inputs.x.numel():
        return layers
    alike = [
        k for k, (v, f) in enumerate(zip(inputs.arguments, inputs.fields))
        if (k == 0 or v.is_floating_point()) and v.numel() and type(f.domain) is type(inputs.field.domain)
    ]  # fmt: skip
    many = len(layers) > MANY

    def reach(model: nn.Module, inputs: Inputs, at: int) -> Mapping[str, float]:
        """Return how far layers see of one of the inputs."""
        first = [at, *(k for k in range(len(inputs.values)) if k != at)]
        turned = replace(
            inputs, values=tuple(inputs.values[k] for k in first), fields=tuple(inputs.fields[k] for k in first)
        )

        def run(x: Tensor, names: Iterable[str] = unknown) -> dict[str, Tensor]:
            step("Trying how far layers see", math.nan)
            reseed(0)
            values = (*inputs.values[:at], x, *inputs.values[at + 1 :])
            return capture(model, replace(inputs, values=values), names, clone=True, no_further=many)[0]

        return inference.reaches(run, turned, unknown)

    @cache
    def found() -> Mapping[str, float]:
        if reducing():
            raise RuntimeError("a radius is asked for within a run of the network: call Trace.find_radii before it")
        # what a layer sees of one argument it need not see of another
        each = None
        if (double := _in_double(model, inputs)) is not None:
            precise = inputs.to(dtype=torch.float64)
            each = tried(double, lambda: [reach(double, precise, at) for at in alike])
        each = each or tried(model, lambda: [reach(model, inputs, at) for at in alike])
        return {name: widest([r.get(name, math.nan) for r in each]) for name in unknown} if each else {}

    def radius(name: str) -> float:
        return found().get(name, math.nan)

    return [replace(n, trial=partial(radius, n.name)) if n.name in unknown else n for n in layers]


def _in_double(model: nn.Module, inputs: Inputs) -> nn.Module | None:
    """Return a copy in double precision: in single one what is heard faintly from afar passes for rounding.

    None where that is no more precise, or costs much.
    """
    size = sum(value.nbytes for _, value in named_tensors(model))
    if precision_of(model) == torch.float64 or inputs.x.device.type != "cpu" or size > LARGE:
        return None
    try:
        return converted(copied(model), torch.float64)
    except (ValueError, LayerError):
        return None


def widest(radii: Sequence[float]) -> float:
    """Return the largest radius; what is endless is so whatever else is not known."""
    return math.inf if math.inf in radii else math.nan if any(map(math.isnan, radii)) else max(radii)
