"""Symmetries of planar grids: point groups, shifts, all angles."""

from __future__ import annotations

from explorer.declare.elements import Element
from explorer.declare.groups import group, rotation_matrix
from explorer.declare.symmetries import Situation, Symmetry
from explorer.spaces.grid.elements.affine import Affine, as_linear

INSIDE = "translation-inside"


def _point(name: str, situation: Situation) -> list[tuple[str, Element]]:
    point = group(name)
    result: list[tuple[str, Element]] = []
    for g in list(point.elements())[1:]:
        element = Affine(as_linear(point.matrices[g]))
        result.append((point.labels[g], element if element.lattice else Affine(element.linear, boundary="zero")))
    return result


def _shifts(name: str, situation: Situation) -> list[tuple[str, Element]]:
    s = situation.spacing
    # on a circle of n places a shift is exact at every layer only when each coarser grid divides it
    limit = max(1, min(situation.size) // (2 * s))
    drawn = situation.rng.integers(-limit, limit + 1, (8 * situation.count, 2)) * s
    candidates = [(s, 0), (0, s), (-s, s), *((int(right), int(down)) for right, down in drawn)]
    boundary = "zero" if name == INSIDE else situation.boundary
    # none twice, and once round the circle is no shift at all
    shifts = [(r, d) for r, d in dict.fromkeys(candidates) if r % situation.size[1] or d % situation.size[0]]
    return [
        (f"{right:+d},{down:+d} px", Affine(shift=(float(right), float(-down) + 0.0), boundary=boundary))
        for right, down in shifts[: max(3, situation.count)]
    ]


def _angles(name: str, situation: Situation) -> list[tuple[str, Element]]:
    result: list[tuple[str, Element]] = []
    for k in range(situation.count):
        angle = float(situation.rng.uniform(-180, 180))
        matrix = rotation_matrix(angle)
        mirrored = name == "O2" and k % 2 == 1
        if mirrored:
            matrix = matrix @ group("D1").matrices[1]
        result.append((("m " if mirrored else "") + f"{angle:.1f}°", Affine(as_linear(matrix), boundary="zero")))
    return result


SYMMETRY = (
    Symmetry(
        "C4", "rotations by 360/n degrees: C4, C8, ...", ("grid",), r"C[1-9][0-9]?", _point, True,
        trials=(("C4", "Quarter turns"),),
    ),
    Symmetry(
        "D4", "rotations and mirrors: D4, D8, ...", ("grid",), r"D[1-9][0-9]?", _point, True,
        trials=(("D1", "The left-right mirror"), ("D4", "Quarter turns and mirrors")),
        within=("C4", "D2", "C2", "D1"),
    ),
    Symmetry(
        "translation", "whole shifts", ("grid",), r"translation", _shifts, trials=(("translation", "Whole shifts"),),
        nearby=(INSIDE,),
    ),
    Symmetry(
        INSIDE, "whole shifts compared where no border is heard", ("grid",), INSIDE, _shifts,
        trials=((INSIDE, "Whole shifts, away from borders"),),
    ),
    Symmetry(
        "SO2", "rotations by any angle (resampled: a curve, no verdict)", ("grid",), r"SO2", _angles, True,
        trials=(("SO2", "Rotations by any angle"),),
    ),
    Symmetry("O2", "rotations by any angle and mirrors", ("grid",), r"O2", _angles, True,
             trials=(("O2", "Any angles and mirrors"),)),
)  # fmt: skip
