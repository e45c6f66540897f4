"""Blur before a stride drops places, as R. Zhang does (Making Convolutional Networks Shift-Invariant Again, 2019).

The layer is computed at every place, smoothed with a binomial filter, and only then thinned out. Shifts by less than
the stride then change it less, as a rule. No law becomes exact by that.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from explorer.equivariance.symmetric.setting import Experiment, NotApplicable, Setting
from explorer.network.changing.interventions.hooks import Change


def stride_of(module: nn.Module) -> tuple[int, ...]:
    """Return the strides of a module along its places, () where it has none that drop places."""
    stride = getattr(module, "stride", None)
    dimensions = next((k for k in (1, 2, 3) if type(module).__name__.endswith(f"{k}d")), 0)
    if stride is None or not dimensions or getattr(module, "transposed", False):
        return ()
    found = tuple(stride) if isinstance(stride, tuple | list) else (stride,) * dimensions
    return found if len(found) == dimensions and max(found) > 1 else ()


def binomial(step: int) -> Tensor:
    """Return the filter for a stride: (1, 2, 1) / 4 for 2, (1, 4, 6, 4, 1) / 16 for 3."""
    order = 2 * (step - 1)
    return torch.tensor([math.comb(order, k) / 2.0**order for k in range(order + 1)], dtype=torch.float64, device="cpu")


def blurred(values: Tensor, strides: tuple[int, ...], mode: str) -> Tensor:
    """Return (batch, channels, *places) smoothed along each axis with a stride, then every so many-th place."""
    for axis, step in enumerate(strides, 2):
        if step == 1:
            continue
        weights = binomial(step).to(values)
        room = len(weights) // 2
        index = torch.arange(-room, values.shape[axis] + room, device=values.device)
        last = values.shape[axis] - 1
        index = index % (last + 1) if mode == "circular" else last - (last - index.abs()).abs()  # else mirrored
        padded = values.index_select(axis, index.clamp(0, last))
        windows = padded.unfold(axis, len(weights), 1)
        values = (windows * weights).sum(-1)
        kept = torch.arange(0, values.shape[axis], step, device=values.device)
        values = values.index_select(axis, kept)
    return values


def blur(setting: Setting) -> Change:
    """Return the change to the smoothed layer."""
    module = setting.module
    strides = stride_of(module)
    if not strides:
        raise NotApplicable("it has no stride that drops places")
    mode = "circular" if getattr(module, "padding_mode", "zeros") == "circular" else "reflect"

    def change(given: Tensor, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
        own = module.stride
        module.stride = (1,) * len(strides)  # type: ignore[assignment]
        try:
            dense = module.forward(*args, **kwargs)
        finally:
            module.stride = own
        found = blurred(dense, strides, mode)
        # a pool that rounds its size up has one more place than can be smoothed: it stays as it is
        return found if found.shape == given.shape else given

    return change


EXPERIMENT = Experiment("blur", "Blur before its stride", "smoothed before its stride", blur, 50, softens=True)
