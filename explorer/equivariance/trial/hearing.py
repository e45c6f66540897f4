"""Find by trial how far a layer sees by itself: behind one that hears of everything, its border still is a border."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from torch import Tensor, nn

from explorer.declare.inputs import Inputs
from explorer.network.opening.global_state import reseed
from explorer.network.space import inference_of
from explorer.network.tracing.capture import feed
from explorer.network.tracing.layers import Layer, LayerError, Trace


def heard_alone(model: nn.Module, trace: Trace, layer: Layer, fed: Sequence[Tensor], seed: int) -> float:
    """Return the radius in input places that one value of a layer depends on of what it is fed; inf, where not known.

    Args:
        fed: what it was given.
    """
    given = layer.inputs[0] if len(layer.inputs) == len(fed) == 1 else None
    if given is None or layer.field is None or not fed[0].is_floating_point():
        return math.inf
    if not given.domain.space:  # pairs, or values of no place: no space tells distances between them
        return math.inf
    apart = given.spacing
    if not (math.isfinite(apart) and math.isfinite(layer.field.spacing)):
        return math.inf
    # places of what it is fed are counted as those of an input
    x = Inputs((fed[0],), (replace(given, domain=given.domain.at_spacing(1.0)),))
    field = replace(layer.field, domain=layer.field.domain.at_spacing(layer.field.spacing / apart))

    def run(values: Tensor, *_: Any) -> dict[str, Tensor]:
        reseed(seed)
        answer = feed(model, trace, layer.name, (values,), tuple(fed))
        if answer is None:
            raise LayerError(layer.name, "it cannot be fed alone")
        return {layer.name: answer}

    try:
        found = inference_of(x).reaches(run, x, {layer.name: field}).get(layer.name, math.nan)
    except (LayerError, ValueError):
        return math.inf
    return math.inf if math.isnan(found) else found * apart
