"""Rotations of space about the origin."""

from __future__ import annotations

import numpy as np

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.points.elements.isometry import DOMAINS, isometry, rotation


def element(x: float, y: float = 0.0, z: float = 0.0) -> Element:
    return isometry(rotation(np.array([x, y, z])))


TRANSFORM = Transform(
    name="rotation",
    title="Rotation of points",
    summary="Turn the points about an axis through the origin, given by its three shares of the angle.",
    domains=DOMAINS,
    symbol="SO(3)",
    params=tuple(Param(axis, f"About {axis}", 0.0, -360.0, 360.0, step=1.0, unit="°") for axis in "xyz"),
    element=element,
    inverse=lambda x, y, z: (-x, -y, -z),
    gesture="drag",
    orbit=2,
)
