"""Frames at points, drawn once for a sample: a motion of the points turns them along."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.declare.types.fields import FieldType
from explorer.spaces.points.fields import particle

LIFTS = 8  # frames at each point; a network takes as many of them as it uses
FRAMES: FieldType = particle(f"{3 * LIFTS}x1o")  # three arrows each


def drawn_frames(points: int, seed: int = 0) -> NDArray[np.float64]:
    """Return (points, 9 · LIFTS) arrows of rotations spread evenly: the columns of each matrix one after the other."""
    q = np.random.default_rng(seed).normal(size=(points * LIFTS, 4))
    w, x, y, z = (q / np.linalg.norm(q, axis=1, keepdims=True)).T
    matrix = np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip
    return np.ascontiguousarray(matrix.transpose(2, 1, 0)).reshape(points, 9 * LIFTS)
