"""Tell what the attributes of a strided layer say: numbers for both axes, and how far off its samples are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import nn


def pair(value: Any) -> tuple[float, ...]:
    """Return one number, or one for each axis, as numbers."""
    return tuple(map(float, value)) if isinstance(value, Sequence) else (float(value),)


def off_centre(module: nn.Module, shape_in: tuple[int, ...], shape: tuple[int, ...]) -> float:
    """Return how many steps of the input lie between a strided layer's samples and the places they stand for."""
    stride, padding = getattr(module, "stride", None), getattr(module, "padding", 0)
    if stride is None or isinstance(stride, str) or isinstance(padding, str) or max(pair(stride)) == 1:
        return 0.0
    if isinstance(module, nn.ConvTranspose2d):
        return 0.0
    kernel, dilation = pair(getattr(module, "kernel_size", 1)), pair(getattr(module, "dilation", 1))
    off = 0.0
    for axis in range(2):
        s, p, k, d = (v[axis % len(v)] for v in (pair(stride), pair(padding), kernel, dilation))
        covered = (shape[axis - 2] - 1) * s + (k - 1) * d + 1
        off = max(off, abs(shape_in[axis - 2] + 2 * p - covered) / 2)
    return off
