"""Another pose of the same shape, vertex by vertex."""

from __future__ import annotations

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.mesh.elements.surface_map import DOMAINS
from explorer.spaces.mesh.elements.word import Motion, word


def element(number: float, share: float = 1.0) -> Element:
    return word(Motion("pose", (number, share)))


TRANSFORM = Transform(
    name="pose",
    title="Pose",
    summary="Move each vertex towards where it is in another pose that comes with the mesh.",
    domains=DOMAINS,
    symbol="near isometry",
    params=(
        Param("number", "Pose", 0.0, 0.0, 9.0, whole=True),
        Param("share", "How far", 1.0, 0.0, 1.0, step=0.05),
    ),
    element=element,
    inverse=None,
    orbit=1,
)
