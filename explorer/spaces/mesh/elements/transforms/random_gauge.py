"""A frame drawn at random for every vertex."""

from __future__ import annotations

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.mesh.elements.surface_map import DOMAINS
from explorer.spaces.mesh.elements.word import Motion, word


def element(seed: float, steps: float = 0.0, back: float = 0.0) -> Element:
    return word(Motion("random-gauge", (seed, steps), bool(back)))


TRANSFORM = Transform(
    name="random-gauge",
    title="Random gauge",
    summary="Turn every frame by its own angle; every seed is another gauge, 0 is none, n > 0 multiples of 360°/n.",
    domains=DOMAINS,
    symbol="SO(2)ᵛ",
    params=(
        Param("seed", "Gauge", 0.0, 0.0, 9999.0, whole=True),
        Param("steps", "Steps n", 0.0, 0.0, 64.0, whole=True, least="any"),
        Param("direction", "Direction", 0.0, 0.0, 1.0, choices=("forth", "back")),
    ),
    element=element,
    inverse=lambda seed, steps, back: (seed, steps, 1.0 - back),
    orbit=0,
)
