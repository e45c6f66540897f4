"""Frames turned about their normals: a gauge transformation."""

from __future__ import annotations

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.mesh.elements.surface_map import DOMAINS
from explorer.spaces.mesh.elements.word import Motion, word


def element(degrees: float, vertex: float = -1.0) -> Element:
    return word(Motion("gauge", (degrees, vertex)))


TRANSFORM = Transform(
    name="gauge",
    title="Gauge",
    summary="Turn the frame of one vertex, or of all (vertex -1), about the normal; the surface does not change.",
    domains=DOMAINS,
    symbol="SO(2)ᵛ",
    params=(
        Param("angle", "Angle", 0.0, 0.0, 360.0, step=1.0, unit="°", periodic=True),
        Param("vertex", "Vertex", -1.0, -1.0, 10_000_000.0, whole=True, least="all"),
    ),
    element=element,
    inverse=lambda degrees, vertex: (-degrees, vertex),
    orbit=0,
)
