"""Study a network that was traced: what shapes leave open, a trial on all of it may tell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from torch import Tensor, nn

from explorer.declare.inputs import Inputs
from explorer.network.opening.global_state import reseed
from explorer.network.space import Inference, space_of
from explorer.network.tracing.capture import capture
from explorer.network.tracing.layers import Layer
from explorer.network.tracing.running import tried
from explorer.work.progress import step


def studied(model: nn.Module, inputs: Inputs, inference: Inference, layers: Sequence[Layer]) -> Inference | None:
    """Return what knows more of the layers after a trial, with which they are traced again; None where nothing does."""
    if not inputs.x.is_floating_point() or not inputs.x.numel():
        return None

    def run(x: Tensor, names: Sequence[str]) -> dict[str, Tensor]:
        step("Trying which places layers keep apart", math.nan)
        reseed(0)
        return capture(model, inputs.with_x(x), names, clone=True)[0]

    return tried(model, lambda: inference.studied(run, inputs, layers))


def sharing(model: nn.Module, inputs: Inputs, layers: list[Layer]) -> list[Layer]:
    """Return the layers, those marked that give as many places whatever the size of the data: shares of it, no steps.

    Layers are asked that say no stride, on data of twice the size, and what has as many places as one of them.
    """
    coarse = [(n, n.field.sides(n.shape)) for n in layers if n.field is not None and 1 < n.field.spacing < math.inf]
    strided = {places for n, places in coarse if _stride(model, n)}
    asked = {n.name: places for n, places in coarse if places not in strided}
    if not asked or not inputs.field.batched or not inputs.x.is_floating_point():
        return layers
    space, shapes = space_of(inputs), {n.name: n.shape for n in layers}
    sides = space.inference(inputs).size(inputs)

    def larger() -> dict[str, Tensor] | None:
        step("Trying which places layers keep apart", math.nan)
        given = space.in_steps(inputs, 2 * max(sides))
        if space.inference(given).size(given) == sides:
            return None
        reseed(0)
        return capture(model, given, list(asked), clone=True)[0]

    if (found := tried(model, larger)) is None:  # it takes data of this size and no other
        return layers
    shares = {places for name, places in asked.items() if tuple(found[name].shape) == shapes[name]}
    return [replace(n, shares=True) if asked.get(n.name) in shares else n for n in layers]


def _stride(model: nn.Module, layer: Layer) -> bool:
    """Say whether a layer goes over its places in steps: a stride that it says, and fewer places than it is given."""
    if layer.within is not None or getattr(model.get_submodule(layer.module), "stride", None) is None:
        return False
    given = layer.inputs[0] if layer.inputs else None
    return given is not None and layer.field is not None and given.spacing < layer.field.spacing
