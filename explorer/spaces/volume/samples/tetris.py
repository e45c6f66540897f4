"""Eight bodies of four cubes each, as volumes: all that there are up to rotations, two of them mirror images.

Used as a first task by Thomas et al., "Tensor Field Networks", 2018, and Weiler et al., "3D Steerable CNNs", 2018.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.volume.sample import volume_sample
from explorer.spaces.volume.samples.volumes import soft

Floats = NDArray[np.float64]
SIDE = 13
EDGE = 0.36  # of a cube, where half the volume is 1
BODIES = {  # the name here: the corners of its cubes (x, y, z)
    "hand": ((0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1)),
    "other hand": ((0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, -1)),
    "square": ((0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)),
    "line": ((0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0)),
    "corner": ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "L": ((0, 0, 0), (0, 1, 0), (0, 2, 0), (1, 0, 0)),
    "T": ((0, 0, 0), (1, 0, 0), (2, 0, 0), (1, 1, 0)),
    "zigzag": ((0, 0, 0), (1, 0, 0), (1, 1, 0), (2, 1, 0)),
}
NAMES = tuple(BODIES)


def tetris(
    kind: int, rotation: Floats | None = None, shift: Floats | None = None, size: float = 1.0, side: int = SIDE
) -> Floats:
    """Return a body about the middle of a volume, (side, side, side), turned, then shifted (in half sides)."""
    cubes = np.array(BODIES[NAMES[kind]], float)
    cubes = (cubes - cubes.mean(0)) * EDGE * size
    axis = (np.arange(side) - (side - 1) / 2) / (side / 2)
    z, y, x = np.meshgrid(axis, -axis, axis, indexing="ij")
    at = np.stack([x, y, z], -1) - (np.zeros(3) if shift is None else shift)
    at = at if rotation is None else at @ rotation  # R⁻¹ u
    away = np.abs(at[..., None, :] - cubes).max(-1).min(-1) - EDGE * size / 2
    return soft(away, side)


def _sample(name: str, title: str, kind: int) -> Sample:
    return volume_sample(tetris(kind)[None], name, title=title, label=kind)


def _title(kind: str) -> str:
    return f"Four cubes: {kind}"


SAMPLES = tuple(
    SampleSpec(
        name := "tetris-" + kind.lower().replace(" ", "-"), _title(kind), "volume",
        partial(_sample, name, _title(kind), k),
        "Its mirror image is another one of the eight." if "hand" in kind else "Its mirror image is itself, turned.",
    )
    for k, kind in enumerate(BODIES)
)  # fmt: skip
