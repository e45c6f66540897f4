"""A monotone warp of time, bent by three to seven handles (Bronstein et al. 2021, section 5.8, eq. 49).

Three handles stand at a quarter, a half and three quarters. Each further one has a place of its own; at place 0, the
end of the curve that nothing bends, it is not there.
"""

from __future__ import annotations

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.sequence.elements.time_map import DOMAINS, TimeMap

PLACES = (0.25, 0.5, 0.75)
MORE = 4  # further handles
LIMIT = 0.25


def handles(*values: float) -> tuple[tuple[float, float, int], ...]:
    """Return (place, offset, index of the offset among the values) of every handle there is, from left to right.

    Of two at one place the one that was added later counts.
    """
    found = {place: (values[k], k) for k, place in enumerate(PLACES)}
    for k in range(len(PLACES), len(values), 2):
        if 0.0 < values[k] < 1.0:
            found[values[k]] = (values[k + 1], k + 1)
    return tuple((place, *found[place]) for place in sorted(found))


def element(*values: float) -> Element:
    found = handles(*values)
    return TimeMap(bend=tuple(h[1] for h in found), places=tuple(h[0] for h in found), boundary="edge")


TRANSFORM = Transform(
    name="warp",
    title="Warp time",
    summary="Bend time by handles at ¼, ½ and ¾ of the sequence, and by up to four more; it never runs backwards.",
    domains=DOMAINS,
    symbol="Diff₊",
    params=(
        *(Param(n, t, 0.0, -LIMIT, LIMIT, 0.01) for n, t in (("early", "At ¼"), ("middle", "At ½"), ("late", "At ¾"))),
        *(
            param
            for k in range(1, MORE + 1)
            for param in (
                Param(f"place{k}", f"Place {k}", 0.0, 0.0, 1.0, 0.01, quiet=True),
                Param(f"offset{k}", f"Offset {k}", 0.0, -LIMIT, LIMIT, 0.01, quiet=True),
            )
        ),
    ),
    element=element,
    inverse=None,
    orbit=1,
)
