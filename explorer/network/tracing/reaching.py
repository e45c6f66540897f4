"""Find how far layers see that do not tell it by themselves, by trying the network as a whole."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from explorer.declare.space import Inference
from explorer.network.input.inputs import Inputs
from explorer.network.tracing.capture import capture
from explorer.network.tracing.layers import Layer
from explorer.network.tracing.running import evaluating


def reaching(model: nn.Module, inputs: Inputs, inference: Inference, layers: list[Layer]) -> list[Layer]:
    """Return the layers with the radii that no layer tells by itself: found by trying the network as a whole."""
    unknown = {n.name: n.field for n in layers if math.isnan(n.receptive) and n.field is not None}
    if not unknown or not inputs.x.is_floating_point() or not inputs.x.numel():
        return layers

    def run(x: Tensor) -> dict[str, Tensor]:
        torch.manual_seed(0)
        found, _ = capture(model, inputs.with_x(x), unknown, clone=True)
        return found

    try:
        with evaluating(model), torch.no_grad():
            found = inference.reaches(run, inputs, unknown)
    except torch.OutOfMemoryError:
        raise
    except Exception:  # on other values somebody else's network may raise anything
        return layers
    return [replace(n, receptive=found.get(n.name, n.receptive)) for n in layers]


def widest(radii: Sequence[float]) -> float:
    """Return the largest radius; what is endless is so whatever else is not known."""
    return math.inf if math.inf in radii else math.nan if any(map(math.isnan, radii)) else max(radii)
