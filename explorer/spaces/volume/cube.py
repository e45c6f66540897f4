"""The 48 symmetries of the cube, O_h, and its 24 rotations, O, as finite groups of signed permutation matrices.

Convention: x points right, y up, z along the slices of a volume, counted from the first one; angles are
counter-clockwise where the axis points to the eye. O_h is O and then O after the inversion: index 24 i + r is rotation
number r, and after it the inversion where i = 1.
"""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np

from explorer.declare.groups import FiniteGroup, Matrix

ROTATIONS = 24
NAMES = ("O", "Oh")


class CubeGroup(FiniteGroup):
    """O or O_h, which is stored by its name."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return cube_group, (self.name,)


@cache
def cube_group(name: str) -> CubeGroup:
    """Return the group called "O" or "Oh".

    Raises:
        ValueError: it is called otherwise.
    """
    if name not in NAMES:
        raise ValueError(f"unknown group {name!r} of the cube; known are {' and '.join(NAMES)}")
    turns = _rotations()
    labels = [_name(m) for m in turns]
    if name == "O":
        return CubeGroup("O", np.stack(turns), tuple(labels))
    others = [_improper(label) for label in labels]
    return CubeGroup("Oh", np.stack([*turns, *(-m for m in turns)]), tuple(labels + others))


def _rotations() -> list[Matrix]:
    """Return the 24 rotations, the identity first, then by their angle and axis."""
    found = []
    for order in itertools.permutations(range(3)):
        for signs in itertools.product((1.0, -1.0), repeat=3):
            matrix = np.zeros((3, 3))
            matrix[order, range(3)] = signs
            if np.linalg.det(matrix) > 0:
                found.append(matrix)
    # quarter turns, half turns and turns about the faces come before those about edges and corners
    return sorted(
        found, key=lambda m: (_angle(m) != 0, np.abs(_axis(m)).sum(), *-np.abs(_axis(m)), *_axis(m), _angle(m))
    )


def _axis(rotation: Matrix) -> np.ndarray:
    """Return the axis as numbers -1, 0 and 1, the first of which that is not 0 is positive."""
    # of rotations of the cube the mean of all powers projects onto the axis
    powers = list(itertools.accumulate([rotation] * 11, np.matmul, initial=np.eye(3)))
    column = max((np.mean(powers, 0)).T, key=lambda v: float(np.abs(v).max()))
    axis = np.round(column / np.abs(column).max())
    if np.array_equal(rotation, np.eye(3)):
        return np.zeros(3)
    return np.asarray(axis * axis[np.flatnonzero(axis)[0]] + 0.0)


def _angle(rotation: Matrix) -> int:
    """Return the angle in degrees about `_axis`, from 0 to 359."""
    axis = _axis(rotation)
    curl = np.array([rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]])
    length = math.sqrt(float(axis @ axis)) or 1.0
    return round(math.degrees(math.atan2(float(curl @ axis) / length, float(np.trace(rotation)) - 1))) % 360


def _name(rotation: Matrix) -> str:
    if not (angle := _angle(rotation)):
        return "identity"
    axis = _axis(rotation)
    return "".join(("-" if a < 0 else "") + n for a, n in zip(axis, "xyz", strict=True) if a) + str(angle)


def _improper(label: str) -> str:
    """Return the name of a rotation after which everything is carried through the centre."""
    if label == "identity":
        return "inversion"
    return f"mirror-{label.removesuffix('180')}" if label.endswith("180") else f"inverted-{label}"
