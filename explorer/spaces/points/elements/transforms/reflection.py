"""Mirrors of space, and its inversion in the origin."""

from __future__ import annotations

import numpy as np

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.points.elements.isometry import DOMAINS, isometry

_MATRICES = (np.eye(3), *(np.diag(1 - 2 * row) for row in np.eye(3)), -np.eye(3))


def element(axis: float) -> Element:
    return isometry(_MATRICES[int(axis)])


TRANSFORM = Transform(
    name="reflection",
    title="Reflection of points",
    summary="Reflect across x, y or z, or in the origin: a left hand becomes a right one, pseudo-scalars change sign.",
    domains=DOMAINS,
    symbol="O(3)",
    params=(Param("axis", "Across", 0.0, 0.0, 4.0, choices=("none", "x", "y", "z", "origin")),),
    element=element,
    inverse=lambda axis: (axis,),
)
