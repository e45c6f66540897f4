"""Spectra of values by degree and parity, and functions of distances: what the Degrees view draws, of any space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.points.fields import Irreps

Array = NDArray[np.floating]


@dataclass(frozen=True, slots=True, eq=False)
class Spectrum:
    """The root mean square of the values of each kind, such as "1o", before and after an element.

    A motion of space mixes the 2 l + 1 components of a value with each other and nothing else: of an equivariant
    layer `before` and `after` are the same, however much `mixed`, the relative change of the components, is.
    """

    kinds: tuple[str, ...]
    counts: tuple[int, ...]  # how many values of that kind there are at a place
    before: Array
    after: Array
    mixed: Array
    parts: tuple[tuple[Array, ...], tuple[Array, ...]] = ((), ())


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Functions of a distance or an angle that a module shows of itself: (points,) and (functions, points)."""

    along: Array
    values: Array
    quantity: str  # "distance", "angle"
    unit: str = ""


class Degreed:
    """Base of the parts of a frame whose layers may have values of degrees: {layer: functions that it shows}."""

    __slots__ = ()
    apart: ClassVar[str] = "edges"  # what distances are marked of
    curves: Mapping[str, Curve]

    def spectrum_at(self, place: int | None) -> Spectrum | None:
        """Return the spectrum of the layer, of all places or of one; None where it has no degrees."""
        raise NotImplementedError

    def called(self, place: int | None) -> str:
        """Return what the place that `spectrum_at` tells of is called; "" for all places."""
        return ""

    def marks(self, curve: Curve) -> Array:
        """Return at which distances or angles of x a function is asked, each once."""
        raise NotImplementedError


def spectrum(rep: Irreps, values: Array, answer: Array) -> Spectrum:
    """Return the spectrum of F(x) and F(rho(g) x), (places, channels) each, place by place in one order."""
    columns: dict[tuple[int, str], list[int]] = {}
    for block in range(values.shape[1] // rep.size):
        for degree, parity, at in rep.slices:
            start = block * rep.size + at
            columns.setdefault((degree, parity), []).extend(range(start, start + 2 * degree + 1))
    kinds = sorted(columns)
    counts = tuple(len(columns[kind]) // (2 * kind[0] + 1) for kind in kinds)

    def size(table: Array, kind: tuple[int, str], count: int) -> float:
        found = table[:, columns[kind]].astype(np.float64)
        return float(np.sqrt((found**2).sum() / max(1, len(table) * count)))

    before, after, apart = (
        np.array([size(table, kind, count) for kind, count in zip(kinds, counts, strict=True)])
        for table in (values, answer, answer - values)
    )
    mixed = np.divide(apart, before, out=np.zeros_like(apart), where=before > 0)
    return Spectrum(tuple(f"{degree}{parity}" for degree, parity in kinds), counts, before, after, mixed)
