"""Leaving out a share of the edges: no symmetry, but a question (DropEdge, Rong et al. 2020)."""

from __future__ import annotations

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.graph.elements.relabelling import Word, words


def element(share: float, seed: float) -> Element:
    return words([Word("drop-edges", (share, seed))])


TRANSFORM = Transform(
    name="drop-edges",
    title="Drop edges",
    summary="Leave out a share of the edges, both directions together. It has no inverse, so it gives a curve, no law.",
    domains=("graph",),
    symbol="restriction",
    params=(
        Param("share", "Share", 0.0, 0.0, 1.0, 0.01),
        Param("seed", "Seed", 0.0, 0.0, 9999.0, whole=True),
    ),
    element=element,
    inverse=None,
    orbit=0,
)
