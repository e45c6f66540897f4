"""Shift a volume by voxels; circular or with zeros entering."""

from __future__ import annotations

import math

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.volume.elements.cube_map import CubeMap

BOUNDARIES = ("circular", "zero")


def element(right: float, up: float = 0.0, along: float = 0.0, boundary: float = 0.0) -> Element:
    return CubeMap(shift=(float(right), float(up), float(along)), boundary=BOUNDARIES[int(boundary)])


def _both_ways(size: int, count: int) -> list[float]:
    half = size // 2
    step = math.ceil(max(1.0, 2 * half / max(1, count - 1)))
    return [float(by) for by in range(-half, half + 1, step)]


TRANSFORM = Transform(
    name="shift3d",
    title="Shift of a volume",
    summary="Shift to the right, upwards and along the slices; whole voxels are exact.",
    domains=("volume",),
    symbol="Z³",
    params=(
        Param("right", "Right", 0.0, -1024.0, 1024.0, 1.0, "voxels", whole=True),
        Param("up", "Up", 0.0, -1024.0, 1024.0, 1.0, "voxels", whole=True),
        Param("along", "Along the slices", 0.0, -1024.0, 1024.0, 1.0, "voxels", whole=True),
        Param("boundary", "Boundary", 0.0, 0.0, 1.0, choices=BOUNDARIES),
    ),
    element=element,
    inverse=lambda right, up, along, boundary: (-right, -up, -along, boundary),
    orbit=0,
    along=_both_ways,
)
