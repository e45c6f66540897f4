"""Exchange of two node numbers: the generators of the symmetric group."""

from __future__ import annotations

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.graph.elements.relabelling import NUMBERED, Word, words


def element(i: float, j: float) -> Element:
    return words([Word("swap", (i, j))])


TRANSFORM = Transform(
    name="swap",
    title="Swap",
    summary="Two nodes exchange their numbers; drag one onto the other in the graph.",
    domains=NUMBERED,
    symbol="(i j) ∈ Sₙ",
    params=(
        Param("i", "Node", 0.0, 0.0, 1e9, whole=True),
        Param("j", "With", 0.0, 0.0, 1e9, whole=True),
    ),
    element=element,
    inverse=lambda i, j: (i, j),
    orbit=1,
    along=lambda nodes, count: range(min(count, nodes)),
)
