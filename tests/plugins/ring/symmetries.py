"""The symmetry of rings: every site may be the first."""

from __future__ import annotations

from ring.transforms import Turn

from equiscope.transforms import Element, Situation, Symmetry


def _turns(name: str, situation: Situation) -> list[tuple[str, Element]]:
    return [(f"turn by {k}", Turn(k)) for k in range(1, min(situation.size[0], 1 + situation.count))]


SYMMETRY = Symmetry("cyclic", "cyclic shifts of a ring", ("ring",), r"cyclic", _turns)
