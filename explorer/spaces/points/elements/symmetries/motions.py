"""The groups of motions of space, drawn at random in double precision, and a change of scale."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.declare.elements import Element
from explorer.declare.symmetries import Situation, Symmetry
from explorer.spaces.points.elements.isometry import DOMAINS, isometry, turn_of

LEAST = 3  # elements, of which some are mirrors where the group has any


def _rotation(rng: np.random.Generator) -> NDArray[np.float64]:
    """Return a rotation drawn evenly from SO(3): a unit quaternion (Shoemake, "Uniform Random Rotations", 1992)."""
    drawn = rng.normal(size=4)
    w, x, y, z = drawn / np.linalg.norm(drawn)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def _motions(name: str, situation: Situation) -> list[tuple[str, Element]]:
    found: list[tuple[str, Element]] = []
    for k in range(max(LEAST, situation.count)):
        matrix = _rotation(situation.rng)
        shift = situation.rng.uniform(-1, 1, 3) if "E" in name else np.zeros(3)
        mirror = name in ("O3", "E3") and k % 3 != 1  # most of them, so that medians tell of mirrors
        angle = float(np.linalg.norm(turn_of(matrix)))
        words = [f"{angle:.0f}° about a random axis", "mirrored" if mirror else "", "shifted" if "E" in name else ""]
        found.append((", ".join(filter(None, words)), isometry(-matrix if mirror else matrix, shift)))
    return found


def _shifts(name: str, situation: Situation) -> list[tuple[str, Element]]:
    found: list[tuple[str, Element]] = []
    for _ in range(max(LEAST, situation.count)):
        shift = situation.rng.uniform(-1, 1, 3)
        found.append((f"shifted by {', '.join(f'{s:.2g}' for s in shift)}", isometry(np.eye(3), shift)))
    return found


def _scales(name: str, situation: Situation) -> list[tuple[str, Element]]:
    return [(f"{factor:g} times as large", isometry(np.eye(3), scale=factor)) for factor in (0.5, 1.5, 2.0)]


def _family(group: str, title: str) -> Symmetry:
    told = title[0].lower() + title[1:]
    return Symmetry(f"{group} on points", told, DOMAINS, group, _motions, constants=True, mixes=True,
                    trials=((group, title),))  # fmt: skip


SYMMETRY = (
    _family("SO3", "Rotations of space"),
    _family("O3", "Rotations and mirrors of space"),
    _family("SE3", "Rotations and shifts of space"),
    _family("E3", "Rotations, shifts and mirrors of space"),
    Symmetry("shifts of points", "shifts of space", DOMAINS, "R3", _shifts, mixes=True,
             trials=(("R3", "Shifts of space"),)),
    Symmetry("similarity", "changes of scale", DOMAINS, "similarity", _scales,
             trials=(("similarity", "Changes of scale"),)),
)  # fmt: skip
