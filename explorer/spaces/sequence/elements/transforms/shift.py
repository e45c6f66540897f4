"""Delay of a sequence by whole steps, with padding in front (Bronstein et al. 2021, section 5.7)."""

from __future__ import annotations

import numpy as np

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.sequence.elements.time_map import DOMAINS, TimeMap

BOUNDARIES = ("zero", "circular", "edge")


def element(steps: float, boundary: float) -> Element:
    return TimeMap(shift=steps, boundary=BOUNDARIES[int(boundary)])


TRANSFORM = Transform(
    name="shift",
    title="Shift in time",
    summary="Delay the sequence; what enters in front is padding, and what leaves at the end is lost.",
    domains=DOMAINS,
    symbol="ℤ",
    params=(
        Param("steps", "Delay", 0.0, -100_000.0, 100_000.0, 1.0, "steps"),
        Param("boundary", "Padding", 0.0, 0.0, 2.0, choices=BOUNDARIES),
    ),
    element=element,
    inverse=lambda steps, boundary: (-steps, boundary),
    gesture="drag",
    orbit=0,
    along=lambda steps, count: np.unique(np.linspace(0, steps // 2, min(count, steps // 2 + 1)).round()).tolist(),
)
