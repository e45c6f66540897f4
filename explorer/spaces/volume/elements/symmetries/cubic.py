"""Symmetries of volumes: the rotations of the cube, all its symmetries, and whole shifts."""

from __future__ import annotations

import numpy as np

from explorer.declare.elements import Element
from explorer.declare.symmetries import Situation, Symmetry
from explorer.spaces.points.elements.isometry import rotation
from explorer.spaces.volume.cube import cube_group
from explorer.spaces.volume.elements.cube_map import CubeMap, linear
from explorer.spaces.volume.elements.volume_turn import volume_turn

INSIDE = "Z3-inside"


def _point(name: str, situation: Situation) -> list[tuple[str, Element]]:
    group = cube_group(name)
    return [(group.labels[g], CubeMap(linear(group.matrices[g]))) for g in range(1, group.order)]


def _shifts(name: str, situation: Situation) -> list[tuple[str, Element]]:
    s = situation.spacing
    # on a circle of n places a shift is exact at every layer only when each coarser grid divides it
    limit = max(1, min(situation.size) // (2 * s))
    drawn = situation.rng.integers(-limit, limit + 1, (8 * situation.count, 3)) * s
    candidates = [(s, 0, 0), (0, s, 0), (0, 0, s), *((int(x), int(y), int(z)) for x, y, z in drawn)]
    shifts = [by for by in dict.fromkeys(candidates) if any(by)]
    boundary = "zero" if name == INSIDE else situation.boundary
    return [
        (f"{x:+d},{y:+d},{z:+d} voxels", CubeMap(shift=(float(x), float(y), float(z)), boundary=boundary))
        for x, y, z in shifts[: max(3, situation.count)]
    ]


def _angles(name: str, situation: Situation) -> list[tuple[str, Element]]:
    made: list[tuple[str, Element]] = []
    for _ in range(situation.count):
        axis = situation.rng.normal(size=3)
        turn = axis / np.linalg.norm(axis) * situation.rng.uniform(10.0, 180.0)
        made.append((",".join(f"{v:.0f}°" for v in turn), volume_turn(rotation(turn))))
    return made


SYMMETRY = (
    Symmetry("O", "the 24 rotations of the cube", ("volume",), r"O", _point, True,
             trials=(("O", "The rotations of the cube"),)),
    Symmetry("Oh", "the 48 symmetries of the cube", ("volume",), r"Oh", _point, True,
             trials=(("Oh", "All symmetries of the cube"),), within=("O",)),
    Symmetry("Z3", "whole shifts of a volume", ("volume",), r"Z3", _shifts,
             trials=(("Z3", "Whole shifts"),), nearby=(INSIDE,)),
    Symmetry(INSIDE, "whole shifts of a volume compared where no border is heard", ("volume",), INSIDE, _shifts,
             trials=((INSIDE, "Whole shifts, away from borders"),)),
    Symmetry("volume-SO3", "rotations of a volume by any angle (resampled: a curve, no verdict)", ("volume",),
             r"volume-SO3", _angles, trials=(("volume-SO3", "Rotations by any angle"),)),
)  # fmt: skip
