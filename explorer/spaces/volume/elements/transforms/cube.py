"""Any of the 48 symmetries of the cube, by its name."""

from __future__ import annotations

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.volume.cube import cube_group
from explorer.spaces.volume.elements.cube_map import CubeMap, linear

GROUP = cube_group("Oh")


def element(which: float) -> Element:
    return CubeMap(linear(GROUP.matrices[int(which)]))


TRANSFORM = Transform(
    name="cube",
    title="Symmetry of the cube",
    summary="One of the 48: about which axis, by how many degrees; then mirrored, or inverted through the centre.",
    domains=("volume",),
    symbol="Oₕ",
    params=(Param("which", "Element", 0.0, 0.0, GROUP.order - 1.0, choices=GROUP.labels),),
    element=element,
    inverse=lambda which: (float(GROUP.inverse(int(which))),),
    orbit=0,
    along=lambda size, count: [float(k) for k in range(min(GROUP.order, max(2, count)))],
)
