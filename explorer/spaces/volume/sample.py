"""Wrap a volume as a sample."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from explorer.declare.samples import Array, Sample, Signal
from explorer.spaces.volume.fields import VOLUME


def volume_sample(
    values: Array,
    name: str,
    *,
    title: str = "",
    label: int | None = None,
    source: str = "",
    notes: tuple[str, ...] = (),
) -> Sample:
    """Wrap a volume, (channels, slices, rows, columns) float32, as a sample."""
    array = np.ascontiguousarray(values, dtype=np.float32)
    if array.ndim != 4:
        raise ValueError(f"a volume sample needs (channels, slices, rows, columns), got shape {array.shape}")
    return Sample(name, "volume", MappingProxyType({"x": Signal(array, VOLUME)}), title or name, label, source, notes)
