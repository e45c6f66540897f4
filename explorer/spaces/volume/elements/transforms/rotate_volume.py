"""Rotations of a volume by any angle about its centre."""

from __future__ import annotations

import numpy as np

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.points.elements.isometry import rotation
from explorer.spaces.volume.elements.volume_turn import volume_turn


def element(x: float, y: float = 0.0, z: float = 0.0) -> Element:
    return volume_turn(rotation(np.array([x, y, z])))


TRANSFORM = Transform(
    name="rotate-volume",
    title="Rotation of a volume",
    summary="Turn the volume about an axis through its centre, given by its three shares of the angle. Resampled.",
    domains=("volume",),
    symbol="SO(3)",
    params=tuple(Param(axis, f"About {axis}", 0.0, -360.0, 360.0, step=1.0, unit="°") for axis in "xyz"),
    element=element,
    inverse=lambda x, y, z: (-x, -y, -z),
    orbit=2,
)
