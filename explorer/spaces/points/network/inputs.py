"""Make the arguments of networks on points; where they are moves along, whatever the network is called with."""

from __future__ import annotations

from dataclasses import replace

import torch

from explorer.data.samples import Sample
from explorer.network.input.inputs import Inputs, from_signals
from explorer.spaces.points.fields import Particles
from explorer.spaces.points.network.form import AXES, PointsInput


def points_inputs(sample: Sample, form: PointsInput, device: torch.device, dtype: torch.dtype) -> Inputs:
    """Return the signals that the form asks for, and the places beside them where it does not."""
    held = form.held
    beside = tuple(name for name in ("position",) if name not in held)
    made = replace(from_signals(sample, held + beside, device, dtype, aside=len(beside)), call=form.way.call(held))
    if form.axes == AXES[0]:
        return made
    values = tuple(v[None] for v in made.values)
    return replace(made, values=values, fields=tuple(replace(f, domain=Particles(1)) for f in made.fields))
