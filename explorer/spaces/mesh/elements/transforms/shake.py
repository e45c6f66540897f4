"""Vertices moved at random by a little: what does not survive this is not determined by the shape."""

from __future__ import annotations

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.mesh.elements.surface_map import DOMAINS
from explorer.spaces.mesh.elements.word import Motion, word


def element(amount: float, seed: float = 1.0) -> Element:
    return word(Motion("shake", (amount, seed)))


TRANSFORM = Transform(
    name="shake",
    title="Noise on the surface",
    summary="Move every vertex at random by a share of the mean edge; a fixed gauge jumps where it is ambiguous.",
    domains=DOMAINS,
    symbol="noise",
    params=(
        Param("amount", "Amount", 0.0, 0.0, 0.5, step=0.01),
        Param("seed", "Seed", 1.0, 1.0, 9999.0, whole=True),
    ),
    element=element,
    inverse=None,
    orbit=0,
)
