"""Scales of axes: relative errors on a logarithmic one, round numbers on a linear one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

ABOVE = 0.5  # decades of room for a mark at the upper end
DIGITS = ((1, 2, 3, 5), (1, 2, 5), (1,))  # of each decade, that are labelled: the more, the more room there is
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class LogScale:
    """Relative errors on a logarithmic axis; what lies outside, zero included, is drawn at the edge.

    Charts draw in decades: the coordinate of 1e-3 is -3.
    """

    low: float = 1e-9
    high: float = 10.0

    def fraction(self, value: float) -> float:
        """Return the height of `value`, 0 at the bottom and 1 at the top."""
        if not value > self.low:
            return 0.0
        span = math.log10(self.high / self.low)
        return min(1.0, math.log10(value / self.low) / span) if math.isfinite(value) else 1.0

    def outside(self, value: float) -> int:
        """Return -1 below the axis (zero included), 1 above it, else 0."""
        return -1 if value < self.low else 1 if value > self.high else 0

    @property
    def decades(self) -> tuple[float, float]:
        """Return the ends of the axis as coordinates."""
        return math.log10(self.low), math.log10(self.high)

    @property
    def roomy(self) -> tuple[float, float]:
        """Return the ends of the axis as coordinates, with room for marks at its upper end."""
        low, high = self.decades
        return low, high + ABOVE

    def decade(self, values: Any) -> NDArray[np.float64]:
        """Return the coordinates of values: inside the axis, NaN where there is no number."""
        found = np.asarray(values, dtype=float)
        with np.errstate(invalid="ignore"):
            return np.log10(np.clip(found, self.low, self.high))

    def ticks(self, height: float, line: float) -> list[float]:
        """Return what to label when a label takes `line` pixels of `height`: decades, or numbers between two of them.

        An axis may be shorter than a decade: a loss that hardly falls.
        """
        low, high = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        if high - low < 2:  # fewer than three decades are in sight
            return self._between(height, line)
        every = next((k for k in (1, 2, 3, 5, 9) if height * k / (high - low) >= 1.15 * line), 18)
        return [10.0**k for k in range(low, high + 1) if k % every == 0]

    def _between(self, height: float, line: float) -> list[float]:
        """Return numbers of a short axis: as many digits of each decade as there is room for, or evenly spaced ones."""
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        for digits in DIGITS:
            every = [digit * 10.0**k for k in range(first, last + 1) for digit in digits]
            within = [v for v in every if self.low * (1 - 1e-9) <= v <= self.high * (1 + 1e-9)]
            apart = min((math.log10(b / a) for a, b in pairwise(within)), default=0.0)
            if len(within) >= 3 and apart * height >= 1.15 * line * math.log10(self.high / self.low):
                return within
        if self.high > 10 * self.low:
            return within
        return linear_ticks(self.low, self.high, min(max(1, int(height / (1.6 * line))), 4))


def scale_for(dtype: str) -> LogScale:
    """Return the axis for errors in that precision: rounding in float64 lies far below 1e-9."""
    return LogScale(1e-17) if dtype == "float64" else LogScale()


def decade(value: float) -> bool:
    """Say whether a number is a power of ten."""
    return abs(value / 10.0 ** round(math.log10(value)) - 1) <= 1e-6


def power(value: float, written_out: bool = False) -> str:
    """Return a decade as "10⁻³", with 1 and 10 written out; another number as it is, or as "2·10⁻⁵"."""
    exponent = round(math.log10(value))
    if written_out or not decade(value):
        below = math.floor(math.log10(value) + 1e-9)
        if -4 < below < 4:
            return f"{float(f'{value:.3g}'):g}"
        return f"{value / 10.0**below:.3g}·10{str(below).translate(_SUPERSCRIPTS)}"
    return f"{value:g}" if exponent in (0, 1) else "10" + str(exponent).translate(_SUPERSCRIPTS)


def linear_ticks(low: float, high: float, most: int, steps: Sequence[float] = (1, 2, 2.5, 5, 10)) -> list[float]:
    """Return at most `most` round numbers in [low, high]."""
    if not high > low or most < 1:
        return []
    rough = (high - low) / most
    scale = 10.0 ** math.floor(math.log10(rough))
    step = next((s * scale for s in steps if s * scale >= rough * (1 - 1e-9)), 10 * scale)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)][: most + 1]
