"""Four solids as functions on the sphere: how far their surface is from a point within, in every direction.

T. Cohen et al., "Spherical CNNs", 2018, section 5.3, look at bodies so: a ray for every point of the sphere.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.sphere.sample import sphere_sample

Floats = NDArray[np.float64]
DEGREE, WHOLE = 6, 10  # of what networks learn, and of the samples
NAMES = ("cube", "tetrahedron", "cylinder", "half ball")
_TOP = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]) / np.sqrt(3)  # the normals of a tetrahedron


def radius(kind: int, directions: Floats, sizes: Floats) -> Floats:
    """Return how far a solid reaches in each direction (n, 3), unit vectors; `sizes` (3,) stretch it along its axes."""
    along = directions / sizes  # the stretched solid reaches r where the plain one reaches r u / sizes
    match NAMES[kind]:
        case "cube":
            return np.asarray(0.8 / np.abs(along).max(1))
        case "tetrahedron":
            return np.asarray(0.55 / (along @ _TOP.T).max(1))
        case "cylinder":
            around = np.maximum(np.hypot(along[:, 0], along[:, 2]) / 0.65, 1e-9)
            return np.asarray(1.0 / np.maximum(around, np.abs(along[:, 1])))
        case _:  # a ball of radius 1.2 about 0.4 below, of which the upper half is there
            lift, ball = 0.4, 1.2
            square, dot = (along**2).sum(1), along[:, 1] * lift
            far = (-dot + np.sqrt(dot**2 + square * (ball**2 - lift**2))) / square
            down = np.maximum(-along[:, 1], 1e-9)
            return np.asarray(np.minimum(far, lift / down))


def solid(
    kind: int, rotation: Floats | None = None, sizes: Floats | None = None, degree: int = DEGREE, finer: int = 4
) -> Floats:
    """Return the coefficients of a solid less its mean distance, ((degree + 1)²,), turned by R after it was stretched.

    Corners have no band limit: the expansion leaves out what is above `degree`, and sums over a grid of `finer` times
    as many rows see some of it: 0.020 of the whole with 4, 0.0042 with 8, 0.0007 with 16.
    """
    from explorer.spaces.sphere.harmonics import on_sphere, sphere_grid

    points, weights = sphere_grid(finer * degree)
    seen = points.numpy() if rotation is None else points.numpy() @ rotation  # R⁻¹ p
    values = radius(kind, seen, np.ones(3) if sizes is None else sizes)
    values = values - (values * weights.numpy()).sum() / weights.numpy().sum()
    return np.asarray(on_sphere(degree, points).numpy().T @ (weights.numpy() * values))


def _sample(name: str, title: str, kind: int) -> Sample:
    return sphere_sample(solid(kind, degree=WHOLE)[None], name, title=title, label=kind)


SAMPLES = tuple(
    SampleSpec(
        name := "solid-" + kind.replace(" ", "-"), title := f"Seen from within: {kind}", "sphere",
        partial(_sample, name, title, k), "How far the surface is, direction by direction, less its mean.",
    )
    for k, kind in enumerate(NAMES)
)  # fmt: skip
