"""Turn the sphere about an axis."""

from __future__ import annotations

from explorer.declare.elements import Transform
from explorer.declare.params import Param
from explorer.spaces.sphere.elements.turn import about

TRANSFORM = Transform(
    name="turn-sphere",
    title="Turn of the sphere",
    summary="Turn by any angle about an axis, which is given by its longitude and latitude.",
    domains=("sphere",),
    symbol="SO(3)",
    params=(
        Param("angle", "Angle", 0.0, -180.0, 180.0, 1.0, "°", periodic=True),
        Param("longitude", "Axis, longitude", 0.0, -180.0, 180.0, 1.0, "°", periodic=True),
        Param("latitude", "Axis, latitude", 90.0, -90.0, 90.0, 1.0, "°"),
    ),
    element=lambda angle, longitude=0.0, latitude=90.0: about(angle, longitude, latitude),
    inverse=lambda angle, longitude, latitude: (-angle, longitude, latitude),
    orbit=0,
)
