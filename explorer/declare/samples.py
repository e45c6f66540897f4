"""Samples: a domain with signals on it, as plain read-only numpy arrays.

A provider is ONE file in this package that exports ONE constant, SAMPLES, a tuple of `SampleSpec`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from explorer.declare.types.fields import FieldType

Array = NDArray[np.floating] | NDArray[np.integer]


@dataclass(frozen=True, eq=False, slots=True)
class Signal:
    """Values with their field type. Grid: (channels, height, width), no batch axis; node field: (nodes, channels);
    edge field: (edges, channels); edge index: (2, edges) int64; step field: (steps, channels);
    vertex field: (vertices, ...); faces: (faces, 3) int64, counter-clockwise from outside."""

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
    names: tuple[str, ...] = ()  # of the nodes or steps, or empty
    directed: bool = False
    channels: tuple[str, ...] = ()  # of a sequence: what each column of x is (a quantity, a symbol), or empty
    rate: float = 0.0  # of a sequence: steps in a second, or 0 where that is not known
    # of a sequence whose times are dates: when time 0 was, in seconds since 1970, and the seconds of a unit; else empty
    calendar: tuple[float, ...] = ()
    parts: int = 1  # how many there are in the file or batch that it comes from: "name#k" is the k-th
    label_names: tuple[str, ...] = ()  # of a mesh: what each class of `label` is called, or empty
    voxel: tuple[float, ...] = ()  # of a volume: how long its voxels are along x, y and z, in mm, or empty
    # of a volume of a body: on which side of it x, y and z begin and end, ("L", "R", "P", "A", "I", "S"); else empty
    ends: tuple[str, ...] = ()
    asked: tuple[tuple[str, str], ...] = ()  # what a person chose of how it is fitted to a network

    def choice(self, name: str, default: str) -> str:
        """Return what a person chose, else the default."""
        return dict(self.asked).get(name, default)

    @property
    def x(self) -> Signal:
        return next(iter(self.signals.values()))


@dataclass(frozen=True, slots=True)
class SampleSpec:
    """A sample that can be made by name; `make` runs only when it is asked for."""

    name: str
    title: str
    domain: str
    make: Callable[[], Sample]
    summary: str = ""
    tags: tuple[str, ...] = field(default=())
