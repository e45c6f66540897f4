"""Quarter turns about an axis of the volume."""

from __future__ import annotations

import numpy as np

from explorer.declare.elements import Element, Transform
from explorer.declare.groups import rotation_matrix
from explorer.declare.params import Param
from explorer.spaces.volume.elements.cube_map import CubeMap, linear

AXES = ("x", "y", "z")
TURNED = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}  # in the plane that turns, from the first axis to the second


def element(turns: float, axis: float = 2.0) -> Element:
    matrix = np.eye(3)
    matrix[np.ix_(TURNED[AXES[int(axis)]], TURNED[AXES[int(axis)]])] = rotation_matrix(90.0 * turns)
    return CubeMap(linear(matrix))


TRANSFORM = Transform(
    name="quarter-turn",
    title="Quarter turns",
    summary="Turn by quarters about an axis, counter-clockwise where it points to the eye.",
    domains=("volume",),
    symbol="C₄",
    params=(
        Param("turns", "Quarters", 0.0, -2.0, 2.0, 1.0, periodic=True, whole=True),
        Param("axis", "Axis", 2.0, 0.0, 2.0, choices=AXES),
    ),
    element=element,
    inverse=lambda turns, axis: (-turns, axis),
    orbit=0,
    along=lambda size, count: [-1.0, 0.0, 1.0, 2.0],
)
