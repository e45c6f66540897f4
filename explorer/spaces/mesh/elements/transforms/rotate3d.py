"""Rotations of space about the origin."""

from __future__ import annotations

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.mesh.elements.surface_map import DOMAINS
from explorer.spaces.mesh.elements.word import Motion, word


def element(x: float, y: float = 0.0, z: float = 0.0) -> Element:
    return word(Motion("rotate3d", (x, y, z)))


TRANSFORM = Transform(
    name="rotate3d",
    title="Rotation in space",
    summary="Turn the shape about an axis through the origin, given by its three shares of the angle.",
    domains=DOMAINS,
    symbol="SO(3)",
    params=tuple(Param(axis, f"About {axis}", 0.0, -360.0, 360.0, step=1.0, unit="°") for axis in "xyz"),
    element=element,
    inverse=lambda x, y, z: (-x, -y, -z),
    gesture="drag",
    orbit=2,
)
