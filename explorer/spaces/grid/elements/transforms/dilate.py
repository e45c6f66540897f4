"""Enlarge or shrink about the centre. A semigroup on a finite grid: shrinking below the pixel loses detail."""

from __future__ import annotations

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.grid.elements.affine import Affine


def element(factor: float) -> Element:
    return Affine((factor, 0.0, 0.0, factor), boundary="zero" if factor != 1.0 else "circular")


TRANSFORM = Transform(
    name="dilate",
    title="Dilation",
    summary="Scale about the centre; above 1 enlarges.",
    domains=("grid",),
    symbol="R₊",
    params=(Param("factor", "Factor", 1.0, 0.25, 4.0, 0.05, "×"),),
    element=element,
    inverse=lambda factor: (1.0 / factor,),
    orbit=0,
)
