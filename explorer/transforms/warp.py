"""A monotone warp of time, bent by three handles (Bronstein et al. 2021, section 5.8, eq. 49)."""

from __future__ import annotations

from explorer.params import Param
from explorer.transforms import Element, Transform
from explorer.transforms.time_map import DOMAINS, TimeMap


def element(early: float, middle: float, late: float) -> Element:
    return TimeMap(bend=(early, middle, late), boundary="edge")


TRANSFORM = Transform(
    name="warp",
    title="Warp time",
    summary="Bend time by handles at a quarter, a half and three quarters of the sequence; it never runs backwards.",
    domains=DOMAINS,
    symbol="Diff₊",
    params=tuple(
        Param(n, t, 0.0, -0.25, 0.25, 0.01) for n, t in (("early", "At ¼"), ("middle", "At ½"), ("late", "At ¾"))
    ),
    element=element,
    inverse=None,
    orbit=1,
)
