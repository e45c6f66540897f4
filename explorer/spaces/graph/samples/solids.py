"""A cylinder as a set of points: the fourth of the solids that the networks on point clouds tell apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.graph.samples.point_clouds import COUNT, cloud


def cylinder_points(count: int, height: float, chance: np.random.Generator) -> NDArray[np.float64]:
    """Return (count, 3) points spread evenly over an upright closed cylinder of radius 1."""
    mantle = chance.uniform(0, 1, count) < height / (height + 1)  # both lids have the area of a mantle of height 1
    radius = np.where(mantle, 1.0, np.sqrt(chance.uniform(0, 1, count)))
    lid = np.where(chance.uniform(0, 1, count) < 0.5, -0.5, 0.5)
    z = np.where(mantle, chance.uniform(-0.5, 0.5, count), lid)
    around = chance.uniform(0, 2 * np.pi, count)
    return np.stack([radius * np.cos(around), radius * np.sin(around), height * z], 1)


def _cylinder() -> Sample:
    points = cylinder_points(COUNT, 1.8, np.random.default_rng(4))
    return cloud("cylinder", "Cylinder", points, (f"{COUNT} points spread evenly, lids included",))


SAMPLES = (SampleSpec("cylinder", "Cylinder", "set", _cylinder, "256 points on a closed cylinder.", ("3D",)),)
