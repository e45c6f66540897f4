"""Moving one node to another number: what dragging a row of a matrix does."""

from __future__ import annotations

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.graph.elements.relabelling import NUMBERED, Word, words


def element(i: float, j: float) -> Element:
    return words([Word("move", (i, j))])


TRANSFORM = Transform(
    name="move",
    title="Move a node",
    summary="Node i becomes number j and those between step aside; drag a row of the matrix.",
    domains=NUMBERED,
    symbol="cycle ∈ Sₙ",
    params=(
        Param("i", "Node", 0.0, 0.0, 1e9, whole=True),
        Param("j", "To", 0.0, 0.0, 1e9, whole=True),
    ),
    element=element,
    inverse=lambda i, j: (j, i),
)
