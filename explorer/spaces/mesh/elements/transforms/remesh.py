"""Other triangles on the same vertices."""

from __future__ import annotations

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.mesh.elements.surface_map import DOMAINS
from explorer.spaces.mesh.elements.word import Motion, word


def element(share: float, seed: float = 1.0) -> Element:
    return word(Motion("remesh", (share, seed)))


TRANSFORM = Transform(
    name="remesh",
    title="Remesh",
    summary="Replace a share of the edges by the other diagonal of their two triangles; the vertices stay.",
    domains=DOMAINS,
    symbol="remeshing",
    params=(
        Param("share", "Share of edges", 0.0, 0.0, 0.3, step=0.01),
        Param("seed", "Seed", 1.0, 1.0, 9999.0, whole=True),
    ),
    element=element,
    inverse=None,
    orbit=0,
)
