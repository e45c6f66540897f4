"""A shape rolled into an arc: isometric for a flat sheet, nearly so for what is thin."""

from __future__ import annotations

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.mesh.elements.surface_map import DOMAINS
from explorer.spaces.mesh.elements.word import Motion, word


def element(degrees: float) -> Element:
    return word(Motion("bend", (degrees,)))


TRANSFORM = Transform(
    name="bend",
    title="Bend",
    summary="Roll the longest side into an arc: a sheet keeps all its lengths, and what is intrinsic hardly notices.",
    domains=DOMAINS,
    symbol="isometry",
    params=(Param("angle", "Angle", 0.0, -300.0, 300.0, step=5.0, unit="°"),),
    element=element,
    inverse=None,
    orbit=0,
)
