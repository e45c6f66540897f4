"""Samples: a domain with signals on it, as plain read-only numpy arrays.

A provider is ONE file in this package that exports ONE constant, SAMPLES, a tuple of `SampleSpec`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from explorer.fields import FieldType, Scalar, grid

Array = NDArray[np.floating]


@dataclass(frozen=True, eq=False, slots=True)
class Signal:
    """Values with their field type. Grid: (channels, height, width), no batch axis."""

    values: Array
    field: FieldType

    def __post_init__(self) -> None:
        self.values.flags.writeable = False


@dataclass(frozen=True, eq=False, slots=True)
class Sample:
    """A domain with its signals; the first signal is the one shown as x.

    Grid images are float32 in [0, 1] where the file's type has a known range (8 and 16 bit), and as stored
    where it has none (float). `notes` are sentences worth telling ("16-bit, scaled by 1/65535").
    """

    name: str
    domain: str
    signals: Mapping[str, Signal]
    title: str = ""
    label: int | None = None
    source: str = ""
    notes: tuple[str, ...] = ()

    @property
    def x(self) -> Signal:
        return next(iter(self.signals.values()))


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


@dataclass(frozen=True, slots=True)
class SampleSpec:
    """A sample that can be made by name; `make` runs only when it is asked for."""

    name: str
    title: str
    domain: str
    make: Callable[[], Sample]
    summary: str = ""
    tags: tuple[str, ...] = field(default=())
