"""Make the arguments of networks on points; where they are moves along, whatever the network is called with."""

from __future__ import annotations

import torch

from explorer.data.samples import Sample
from explorer.network.input.inputs import Inputs, from_signals
from explorer.spaces.points.network.form import PointsInput


def points_inputs(sample: Sample, form: PointsInput, device: torch.device, dtype: torch.dtype) -> Inputs:
    """Return the signals that the form asks for, and the places beside them where it does not."""
    beside = tuple(name for name in ("position",) if name not in form.signals)
    return from_signals(sample, form.signals + beside, device, dtype, aside=len(beside))
