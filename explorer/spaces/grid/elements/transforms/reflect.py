"""Mirror in an axis through the centre."""

from __future__ import annotations

import math

from explorer.declare.elements import Element, Transform
from explorer.declare.groups import MIRROR, rotation_matrix
from explorer.declare.params import Param
from explorer.spaces.grid.elements.affine import Affine, as_linear

AXES = ("horizontal", "vertical", "diagonal", "antidiagonal")
_TURN = {"horizontal": 0.0, "vertical": 180.0, "diagonal": 90.0, "antidiagonal": 270.0}


def element(axis: float) -> Element:
    # a mirror in the axis at angle a is rotation by 2a after the left-right mirror, up to the half turn of MIRROR
    return Affine(as_linear(rotation_matrix(_TURN[AXES[math.floor(axis)]]) @ MIRROR))


TRANSFORM = Transform(
    name="reflect",
    title="Reflection",
    summary="Mirror: left-right (horizontal), top-bottom (vertical), or across a diagonal.",
    domains=("grid",),
    symbol="Z₂",
    params=(Param("axis", "Direction", 0.0, 0.0, 3.0, choices=AXES),),
    element=element,
    inverse=lambda axis: (axis,),
    gesture="key",
    key="F",
)
