"""Another scale of space: no symmetry of physics, and few networks claim it."""

from __future__ import annotations

import numpy as np

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.points.elements.isometry import DOMAINS, isometry


def element(factor: float) -> Element:
    return isometry(np.eye(3), scale=factor)


TRANSFORM = Transform(
    name="dilation",
    title="Change of scale",
    summary="Multiply all places by a factor about the origin; velocities and charges stay as they are.",
    domains=DOMAINS,
    symbol="R₊",
    params=(Param("factor", "Factor", 1.0, 0.1, 10.0, step=0.05),),
    element=element,
    inverse=lambda factor: (1.0 / factor,),
    orbit=0,
)
