"""Shift by whole or fractional pixels; circular or with zeros entering."""

from __future__ import annotations

import math

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.grid.elements.affine import Affine

BOUNDARIES = ("circular", "zero")


def element(right: float, down: float = 0.0, boundary: float = 0.0) -> Element:
    return Affine(shift=(float(right), -float(down) + 0.0), boundary=BOUNDARIES[int(boundary)])


def _both_ways(size: int, count: int) -> list[float]:
    half = size // 2
    step = math.ceil(max(1.0, 2 * half / (count - 1)))
    return [float(shift) for shift in range(-half, half + 1, step)]


TRANSFORM = Transform(
    name="translate",
    title="Translation",
    summary="Shift to the right and down; whole pixels are exact.",
    domains=("grid",),
    symbol="Z²",
    params=(
        Param("right", "Right", 0.0, -4096.0, 4096.0, 1.0, "px"),
        Param("down", "Down", 0.0, -4096.0, 4096.0, 1.0, "px"),
        Param("boundary", "Boundary", 0.0, 0.0, 1.0, choices=BOUNDARIES),
    ),
    element=element,
    inverse=lambda right, down, boundary: (-right, -down, boundary),
    gesture="drag",
    orbit=0,
    along=_both_ways,
)
