"""Scaling of the attributes of the nodes: does the answer depend on the unit they are measured in?"""

from __future__ import annotations

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.graph.elements.relabelling import DOMAINS, Word, words


def element(factor: float) -> Element:
    return words([Word("scale", (factor,))])


TRANSFORM = Transform(
    name="scale",
    title="Feature scale",
    summary="Multiply the attributes of all nodes; what comes after the input is expected to stay as it is.",
    domains=DOMAINS,
    symbol="ℝ₊",
    params=(Param("factor", "Factor", 1.0, 0.1, 10.0, 0.05, "×"),),
    element=element,
    inverse=lambda factor: (1.0 / factor,),
    orbit=0,
)
