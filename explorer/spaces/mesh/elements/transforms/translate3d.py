"""Shifts of space."""

from __future__ import annotations

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.mesh.elements.surface_map import DOMAINS
from explorer.spaces.mesh.elements.word import Motion, word


def element(x: float, y: float = 0.0, z: float = 0.0) -> Element:
    return word(Motion("translate3d", (x, y, z)))


TRANSFORM = Transform(
    name="translate3d",
    title="Shift in space",
    summary="Move the shape elsewhere, in the units of its file.",
    domains=DOMAINS,
    symbol="R³",
    params=tuple(Param(axis, f"Along {axis}", 0.0, -1000.0, 1000.0, step=0.1) for axis in "xyz"),
    element=element,
    inverse=lambda x, y, z: (-x, -y, -z),
)
