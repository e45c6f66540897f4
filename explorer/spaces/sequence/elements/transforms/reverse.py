"""Reading a sequence backwards; of DNA, the other strand (reverse complement)."""

from __future__ import annotations

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.sequence.elements.time_map import DOMAINS, TimeMap

KINDS = ("backwards", "reverse complement")


def element(kind: float) -> Element:
    return TimeMap(backwards=True, complement=bool(kind))


TRANSFORM = Transform(
    name="reverse",
    title="Reversal",
    summary="Read the sequence backwards; the reverse complement also exchanges A with T and C with G.",
    domains=DOMAINS,
    symbol="ℤ₂",
    params=(Param("kind", "Kind", 0.0, 0.0, 1.0, choices=KINDS),),
    element=element,
    inverse=lambda kind: (kind,),
)
