"""Rescaling of time: the same sequence faster or slower (Tallec and Ollivier 2018, uniform warps)."""

from __future__ import annotations

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.sequence.elements.time_map import DOMAINS, TimeMap


def element(rate: float) -> Element:
    return TimeMap(rate=rate, boundary="edge")


TRANSFORM = Transform(
    name="rescale",
    title="Rescale time",
    summary="Play the sequence faster or slower: x'(t) = x(α t), interpolated between steps.",
    domains=DOMAINS,
    symbol="ℝ₊",
    params=(Param("rate", "Rate α", 1.0, 0.1, 10.0, 0.05, "×"),),
    element=element,
    inverse=lambda rate: (1.0 / rate,),
    orbit=0,
)
