"""Clebsch-Gordan paths of a product of irreps and what each of them carries: frozen values, of any space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Route:
    """A path of a product: values of one kind and harmonics couple to values of a kind, "1o" and "2e" to "1o".

    Where mirrors are no matter, a kind is a degree alone: "1". `coupled_with` says what the second kind is of.

    `energy` is the mean square of what the path gives, all channels of a place together. `layer` gives it: a layer of
    the path's own, or one that adds paths up, of which `channels`, the first and how many, are what this path adds to.
    """

    value: str
    harmonic: str
    out: str
    energy: float
    layer: str
    channels: tuple[int, int] = (0, 0)
    coupled_with: str = "harmonic of the way"

    def gives(self, layer: str, channel: int) -> bool:
        """Return whether a channel of a layer is made by this path, alone or with others."""
        first, count = self.channels
        return layer == self.layer and (not count or first <= channel < first + count)


class Routed:
    """Base of the parts of a frame that tell of paths: {product: its paths, with what they carry of x}."""

    __slots__ = ()
    routes: Mapping[str, tuple[Route, ...]]
