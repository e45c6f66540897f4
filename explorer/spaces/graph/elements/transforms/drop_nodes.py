"""Leaving out a share of the nodes with all their edges: no symmetry, but a question."""

from __future__ import annotations

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.graph.elements.relabelling import DOMAINS, Word, words


def element(share: float, seed: float) -> Element:
    return words([Word("drop-nodes", (share, seed))])


TRANSFORM = Transform(
    name="drop-nodes",
    title="Drop nodes",
    summary="Leave out a share of the nodes with their edges. It has no inverse, so it gives a curve, no law.",
    domains=DOMAINS,
    symbol="restriction",
    params=(
        Param("share", "Share", 0.0, 0.0, 1.0, 0.01),
        Param("seed", "Seed", 0.0, 0.0, 9999.0, whole=True),
    ),
    element=element,
    inverse=None,
    orbit=0,
)
