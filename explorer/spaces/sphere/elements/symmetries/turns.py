"""The symmetry of the sphere: rotations."""

from __future__ import annotations

from explorer.declare.elements import Element
from explorer.declare.symmetries import Situation, Symmetry
from explorer.spaces.sphere.elements.turn import about


def _turns(name: str, situation: Situation) -> list[tuple[str, Element]]:
    made: list[tuple[str, Element]] = [("90° about the poles", about(90.0, 0.0, 90.0))]
    for _ in range(situation.count):
        angle, longitude, height = (float(v) for v in situation.rng.uniform(-1, 1, 3))
        latitude = height * 90.0
        label = f"{180 * angle:.0f}° about {180 * longitude:.0f}°, {latitude:.0f}°"
        made.append((label, about(180 * angle, 180 * longitude, latitude)))
    return made


SYMMETRY = Symmetry(
    "sphere-SO3", "rotations of the sphere", ("sphere",), r"sphere-SO3", _turns,
    trials=(("sphere-SO3", "Rotations of the sphere"),),
)  # fmt: skip
