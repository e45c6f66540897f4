"""Rotation about the centre of the grid; quarter turns are exact, other angles are spline-resampled."""

from __future__ import annotations

from explorer.declare.elements import Element, Transform
from explorer.declare.groups import rotation_matrix
from explorer.declare.params import Param
from explorer.spaces.grid.elements.affine import Affine, as_linear


def element(angle: float) -> Element:
    turned = Affine(as_linear(rotation_matrix(angle)))
    # a rotation that is no quarter turn brings corners in from outside the grid: nothing is there
    return turned if turned.lattice else Affine(turned.linear, boundary="zero")


TRANSFORM = Transform(
    name="rotate",
    title="Rotation",
    summary="Turn about the centre, counter-clockwise.",
    domains=("grid",),
    symbol="SO(2)",
    params=(Param("angle", "Angle", 0.0, -180.0, 180.0, 1.0, "°", periodic=True),),
    element=element,
    inverse=lambda angle: (-angle,),
    gesture="ring",
    orbit=0,
)
