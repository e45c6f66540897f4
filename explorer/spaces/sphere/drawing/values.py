"""Values that views of the sphere draw: frozen, and read-only arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from explorer.spaces.points.drawing.routes import Route, Routed
from explorer.spaces.points.drawing.spectrum import Spectrum
from explorer.square.frame import BACK, Array

ROWS = 48  # of an equirectangular picture
PANELS = ("x", "ρ(g)x", "F(x)", "F(ρ(g)x)", "ρ′(g)F(x)", "difference", BACK)


@dataclass(frozen=True, slots=True, eq=False)
class SpherePart(Routed):
    """The part of a frame that lies on the sphere.

    Attributes:
        pictures: {panel: an equirectangular picture (rows, 2 rows) of one channel}; of functions on SO(3) their mean
            over rotations about the point.
        spectra: {panel: power of each degree, summed over channels}. mixed: {panel of x and of the layer before the
            element: how far components of each degree change, as a share of them}.
        powers: {panel: for each degree the power of each of its 2l + 1 coefficients}; a rotation mixes them, and their
            sum alone stands still.
        channel, channels: which of how many is drawn of the layer.
        wide: whether the layer has functions on SO(3).
        routes: {product: its paths, with what they carry of x}.
    """

    data: ClassVar[str] = "sphere"

    pictures: Mapping[str, Array]
    spectra: Mapping[str, Array]
    channel: int
    channels: int
    wide: bool
    routes: Mapping[str, tuple[Route, ...]] = field(default_factory=dict)
    mixed: Mapping[str, Array] = field(default_factory=dict)
    powers: Mapping[str, tuple[Array, ...]] = field(default_factory=dict)

    def spectrum_of(self, before: str, after: str) -> Spectrum | None:
        """Return the power by degree of two panels beside each other; None where there is none."""
        if before not in self.spectra:
            return None
        power = self.spectra[before]
        kinds = tuple(str(degree) for degree in range(len(power)))
        other = self.spectra.get(after, power)
        count = (1 if before == "x" else self.channels,) * len(power)
        one = self.powers.get(before, ())
        parts = (one, self.powers.get(after, one))
        return Spectrum(kinds, count, power, other, self.mixed.get(before, np.zeros(len(power))), parts)
