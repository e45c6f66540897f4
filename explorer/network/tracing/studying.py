"""Let a space study a network that it has traced: what shapes leave open, a trial on all of it may tell."""

from __future__ import annotations

import math
from collections.abc import Sequence

from torch import Tensor, nn

from explorer.declare.inputs import Inputs
from explorer.network.opening.global_state import reseed
from explorer.network.space import Inference
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
