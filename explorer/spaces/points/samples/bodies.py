"""Charged bodies that attract and repel each other: where they are, how they move, and where they will be.

The data of Satorras, Hoogeboom, Welling, "E(n) Equivariant Graph Neural Networks", 2021, section 5.1, after Kipf
et al., "Neural Relational Inference for Interacting Systems", 2018: Coulomb's force between charges of 1 and -1,
from one moment to another one time unit later.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.points.sample import points_sample

Floats = NDArray[np.float64]
STEP = 0.001  # of time, as in the authors' simulation
BEFORE, BETWEEN = 3000, 1000  # steps until the first moment, and from there to the second
SPEED = 0.5  # of each body at the beginning
MOST_FORCE = 0.1 / STEP


def simulated(count: int, seed: int, bodies: int = 5) -> tuple[Floats, Floats, Floats, Floats]:
    """Return places, velocities, charges and later places of `count` systems: (count, bodies, 3 or 1) each."""
    rng = np.random.default_rng(seed)
    charge = rng.choice((-1.0, 1.0), (count, bodies, 1))
    place = rng.normal(size=(count, bodies, 3))
    velocity = rng.normal(size=(count, bodies, 3))
    velocity *= SPEED / np.linalg.norm(velocity, axis=(1, 2), keepdims=True)
    product = charge * charge.transpose(0, 2, 1)
    product[:, range(bodies), range(bodies)] = 0.0
    velocity = velocity + STEP * _force(place, product)
    for step in range(1, BEFORE + BETWEEN):
        place = place + STEP * velocity
        velocity = velocity + STEP * _force(place, product)
        if step == BEFORE:
            first, moving = place, velocity
    return first, moving, charge, place + STEP * velocity


def _force(place: Floats, product: Floats) -> Floats:
    """Return what acts on each body: sum_j q_i q_j (x_i - x_j) / |x_i - x_j|^3, each part at most as in the source."""
    apart = place[:, :, None] - place[:, None]
    square = np.einsum("nijk,nijk->nij", apart, apart) + np.eye(place.shape[1])
    found: Floats = np.einsum("nij,nijk->nik", product / square**1.5, apart)
    return np.clip(found, -MOST_FORCE, MOST_FORCE)


def _bodies(name: str, title: str, seed: int) -> Sample:
    place, velocity, charge, later = (part[0] for part in simulated(1, seed))
    return points_sample(
        name, place, velocity=velocity, charge=charge[:, 0], target=later, title=title, source="computed",
        notes=("five charges of +1 or -1; target: where they are one unit of time later",),
    )  # fmt: skip


SAMPLES = tuple(
    SampleSpec(name, title, "points", partial(_bodies, name, title, seed),
               "Five charged bodies with their velocities; EGNN says where they will be.", ("bodies",))
    for name, title, seed in (
        ("bodies", "Charged bodies", 90_001), ("bodies-b", "Charged bodies, others", 90_002),
        ("bodies-c", "Charged bodies, a third time", 90_003),
    )
)  # fmt: skip
