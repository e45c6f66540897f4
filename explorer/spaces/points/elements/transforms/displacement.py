"""Shifts of space."""

from __future__ import annotations

import numpy as np

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.points.elements.isometry import DOMAINS, isometry


def element(x: float, y: float = 0.0, z: float = 0.0) -> Element:
    return isometry(np.eye(3), (x, y, z))


TRANSFORM = Transform(
    name="displacement",
    title="Displacement of points",
    summary="Move all points by the same vector, in the units of their file: what is told by differences stands still.",
    domains=DOMAINS,
    symbol="R³",
    params=tuple(Param(axis, f"Along {axis}", 0.0, -1000.0, 1000.0, step=0.1) for axis in "xyz"),
    element=element,
    inverse=lambda x, y, z: (-x, -y, -z),
)
