"""Wrap a function on the sphere as a sample."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from explorer.declare.samples import Array, Sample, Signal
from explorer.spaces.sphere.fields import signal


def sphere_sample(
    values: Array,
    name: str,
    *,
    title: str = "",
    label: int | None = None,
    source: str = "",
    notes: tuple[str, ...] = (),
) -> Sample:
    """Wrap coefficients, (channels, (degree + 1)²) float32, as a sample."""
    array = np.ascontiguousarray(values, dtype=np.float32)
    degree = round(array.shape[-1] ** 0.5) - 1 if array.ndim == 2 else -1
    if array.ndim != 2 or (degree + 1) ** 2 != array.shape[1]:
        raise ValueError(f"a function on the sphere needs (channels, (degree + 1)²) numbers, got shape {array.shape}")
    return Sample(
        name, "sphere", MappingProxyType({"x": Signal(array, signal(degree))}), title or name, label, source, notes
    )
