"""Random renumbering of all nodes, and of the order in which the edges are listed."""

from __future__ import annotations

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.graph.elements.relabelling import NUMBERED, Word, words


def element(seed: float, back: float = 0.0) -> Element:
    return words([Word("permute", (seed,), bool(back))])


TRANSFORM = Transform(
    name="permute",
    title="Permutation",
    summary="Shuffle the numbers of the nodes and the order of the listed edges; every seed is another one, 0 is none.",
    domains=NUMBERED,
    symbol="Sₙ",
    params=(
        Param("seed", "Shuffle", 0.0, 0.0, 9999.0, whole=True),
        Param("direction", "Direction", 0.0, 0.0, 1.0, choices=("forth", "back")),
    ),
    element=element,
    inverse=lambda seed, back: (seed, 1.0 - back),
    orbit=0,
)
