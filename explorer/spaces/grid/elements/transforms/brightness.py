"""Brightness and contrast: v -> gain v + offset on measured intensities; features are asked to stay as they are."""

from __future__ import annotations

from explorer.declare.elements import Element, Transform
from explorer.declare.params import Param
from explorer.spaces.grid.elements.affine import Affine


def element(gain: float, offset: float = 0.0) -> Element:
    return Affine(gain=gain, offset=offset)


TRANSFORM = Transform(
    name="brightness",
    title="Brightness",
    summary="Multiply by gain, add offset; invariance is the law asked of every feature.",
    domains=("grid",),
    symbol="R₊ ⋉ R",
    params=(
        Param("gain", "Gain", 1.0, 0.1, 10.0, 0.05, "×"),
        Param("offset", "Offset", 0.0, -10.0, 10.0, 0.05),
    ),
    element=element,
    inverse=lambda gain, offset: (1.0 / gain, -offset / gain),
    orbit=0,
)
