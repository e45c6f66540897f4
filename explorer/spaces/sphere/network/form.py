"""State what a network on the sphere takes."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.declare.card import Form


@dataclass(frozen=True, slots=True)
class SphereInput(Form):
    """Take coefficients (channels, (degree + 1)²) of functions on the sphere."""

    space = "sphere"
    data = "sphere"

    channels: int = 1
    degree: int = 6
