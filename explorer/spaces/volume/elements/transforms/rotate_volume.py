"""Rotations of a volume by any angle about its centre."""

from __future__ import annotations

import numpy as np

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.points.elements.isometry import rotation, turn_of
from explorer.spaces.volume.cube import cube_group
from explorer.spaces.volume.elements.volume_turn import volume_turn


def element(x: float, y: float = 0.0, z: float = 0.0) -> Element:
    return volume_turn(rotation(np.array([x, y, z])))


def near(x: float, y: float, z: float) -> list[tuple[float, float, float]]:
    """Return the 23 turns of the cube, which permute voxels, the nearest first."""
    here = rotation(np.array([x, y, z]))
    turns = cube_group("O").matrices[1:]
    order = sorted(range(len(turns)), key=lambda k: -round(float(np.trace(here.T @ turns[k])), 9))
    found = (turn_of(turns[k]).round(9) for k in order)
    return [(float(a), float(b), float(c)) for a, b, c in found]


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
    near=near,
)
