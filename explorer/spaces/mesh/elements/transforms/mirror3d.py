"""Mirrors of space."""

from __future__ import annotations

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.mesh.elements.surface_map import DOMAINS
from explorer.spaces.mesh.elements.word import Motion, word


def element(axis: float) -> Element:
    return word(Motion("mirror3d", (axis - 1.0,))) if axis else word()


TRANSFORM = Transform(
    name="mirror3d",
    title="Mirror in space",
    summary="Reflect the shape; left and right change places, and angles run the other way round.",
    domains=DOMAINS,
    symbol="O(3)",
    params=(Param("axis", "Across", 0.0, 0.0, 3.0, choices=("none", "x", "y", "z")),),
    element=element,
    inverse=lambda axis: (axis,),
)
