"""Wrap an image as a sample."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from explorer.declare.samples import Array, Sample, Signal
from explorer.declare.types.fields import Scalar
from explorer.spaces.grid.fields import grid


def image_sample(
    values: Array,
    name: str,
    *,
    title: str = "",
    label: int | None = None,
    source: str = "",
    notes: tuple[str, ...] = (),
) -> Sample:
    """Wrap an image, (channels, height, width) float32, as a grid sample."""
    array = np.ascontiguousarray(values, dtype=np.float32)
    if array.ndim != 3:
        raise ValueError(f"an image sample needs (channels, height, width), got shape {array.shape}")
    signals = MappingProxyType({"x": Signal(array, grid(Scalar(intensity=True)))})
    return Sample(name, "grid", signals, title or name, label, source, notes)
