"""Resize data that nobody chose, so that its sides are whole numbers of a network's steps."""

from __future__ import annotations

import torch
from torch import Tensor


def rounded_up(values: Tensor, step: int, how: str) -> Tensor:
    """Return (batch, channel, ...) resized to the next sides that are multiples of `step`; `how` is torch's mode."""
    sides = tuple(-(-side // step) * step for side in values.shape[2:])
    if sides == tuple(values.shape[2:]):
        return values
    return torch.nn.functional.interpolate(values, sides, mode=how, align_corners=False)
