"""Symmetries of meshes: any frames at the vertices, motions of space, mirrors."""

from __future__ import annotations

import numpy as np

from explorer.declare.elements import Element
from explorer.declare.symmetries import Situation, Symmetry
from explorer.spaces.mesh.elements.word import Motion, word


def _gauges(name: str, situation: Situation) -> list[tuple[str, Element]]:
    parts = float(name.partition("-C")[2] or 0)
    angle = 360.0 / parts if parts else 77.0
    one = float(situation.rng.integers(max(1, situation.size[0])))
    seeds = dict.fromkeys(int(s) for s in situation.rng.integers(1, 10_000, max(2, situation.count - 1)))
    return [
        (f"vertex {one:.0f} by {angle:g}°", word(Motion("gauge", (angle, one)))),
        (f"all by {2 * angle:g}°", word(Motion("gauge", (2 * angle, -1.0)))),
        *((f"random {seed}", word(Motion("random-gauge", (float(seed), parts)))) for seed in seeds),
    ]


_AXES = np.array([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.48, 0.6, 0.64]])


def _motions(name: str, situation: Situation) -> list[tuple[str, Element]]:
    found: list[tuple[str, Element]] = []
    for k in range(max(3, situation.count)):
        angle, shift = situation.rng.uniform(-180, 180), situation.rng.uniform(-1, 1, 3)
        motions = [
            Motion("rotate3d", tuple(float(v) for v in angle * _AXES[k % 3])),
            Motion("translate3d", tuple(float(s) for s in shift)),
        ]
        if name == "E3" and k % 3 != 1:  # most of them, so that medians tell of mirrors
            motions.append(Motion("mirror3d", (float(k % 3),)))
        mirrored = " mirrored" if len(motions) > 2 else ""
        found.append((f"{angle:.0f}° about axis {k % 3 + 1}, shifted{mirrored}", word(*motions)))
    return found


def _isometries(name: str, situation: Situation) -> list[tuple[str, Element]]:
    return [(f"bent by {angle:g}°", word(Motion("bend", (angle,)))) for angle in (30.0, 60.0, 90.0)]


SYMMETRY = (
    Symmetry(
        "gauge",
        "frames turned at each vertex; gauge-C8: by multiples of 45°",
        ("mesh",),
        r"gauge(-C[1-9][0-9]?)?",
        _gauges,
        trials=(("gauge", "Frames turned at each vertex"),),
    ),
    Symmetry("SE3", "rotations and shifts of space", ("mesh",), r"SE3", _motions, mixes=True,
             trials=(("SE3", "Rotations and shifts of space"),)),
    Symmetry("E3", "rotations, shifts and mirrors of space", ("mesh",), r"E3", _motions, mixes=True,
             trials=(("E3", "Rotations, shifts and mirrors of space"),)),
    Symmetry("isometry", "bends (nearly isometric: a curve, no verdict)", ("mesh",), r"isometry", _isometries,
             trials=(("isometry", "Bends"),)),
)  # fmt: skip
