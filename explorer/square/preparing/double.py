"""A network in double precision, where a weak fault is no rounding: what trials of a square run."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from explorer.declare.inputs import Inputs
from explorer.equivariance.trial.mending.mends import Given
from explorer.network.changing.precision import converted, copied
from explorer.network.opening.global_state import reseed
from explorer.network.tracing.capture import capture
from explorer.network.tracing.running import evaluating
from explorer.square.preparing.kept import kept
from explorer.square.preparing.prepare import Prepared
from explorer.work.progress import waited


@kept()
def double_run(p: Prepared) -> tuple[nn.Module, Inputs, Mapping[str, Tensor], Given]:
    """Return the network and the input in double precision, and what its layers give and are fed there."""
    model, x = converted(copied(p.model), torch.float64), p.inputs.to(dtype=torch.float64)
    with p.unrecorded(), evaluating(model):
        reseed(p.seed)
        return model, x, *capture(model, x, list(p.trace.by_name), clone=True, inputs=True, cancelled=waited)
