"""Clouds of points in space, made when they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.graph.samples.point_clouds import chair_points, sphere_points, torus_points
from explorer.spaces.points.sample import points_sample

Floats = NDArray[np.float64]
COUNT = 256


def helix_points(count: int = 96) -> Floats:
    """Return (count, 3) points on a right-handed helix of three turns with a foot: no mirror leaves it as it is."""
    t = np.linspace(0, 6 * np.pi, count)
    return np.stack([np.cos(t), t / (3 * np.pi) - 1, -np.sin(t)], 1)


def cube_points(count: int = COUNT, seed: int = 4) -> Floats:
    """Return (count, 3) points on the faces of a cube."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1, 1, (count, 3))
    points[np.arange(count), rng.integers(3, size=count)] = rng.choice((-1.0, 1.0), count)
    return points


def tetrahedra(turned: bool) -> Floats:
    """Return two tetrahedra above one another, the upper one turned by 36 degrees to one side or the other.

    They are mirror images of each other: whoever knows distances alone cannot tell them apart.
    """
    base = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / np.sqrt(3)
    angle = np.radians(36.0 if turned else -36.0)
    c, s = np.cos(angle), np.sin(angle)
    upper = base @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]]) + np.array([0, 2.2, 0])
    return np.asarray(np.concatenate([base, upper]) - np.array([0, 1.1, 0]))


def cloud(name: str, title: str, make: Callable[[], Floats]) -> Sample:
    """Make a cloud that is centred and fills the unit ball."""
    points = make()
    points = points - points.mean(0)
    return points_sample(name, points / np.linalg.norm(points, axis=1).max(), title=title, source="computed")


def _large() -> Floats:
    return torus_points(100_000, 7)


_CLOUDS: tuple[tuple[str, str, Callable[[], Floats], str, tuple[str, ...]], ...] = (
    ("helix-cloud", "Helix", helix_points, "A screw: turned, it is itself again; mirrored, it winds the other way.",
     ("cloud", "chiral")),
    ("torus-3d", "Torus, as points in space", torus_points, "256 points spread over a torus.", ("cloud",)),
    ("sphere-3d", "Sphere, as points in space", sphere_points, "256 points spread over a sphere.", ("cloud",)),
    ("chair-3d", "Chair, as points in space", lambda: chair_points()[0], "256 points on a chair, with one mirror.",
     ("cloud",)),
    ("cube-3d", "Cube, as points in space", cube_points, "256 points on the faces of a cube.", ("cloud",)),
    ("twisted-right", "Two tetrahedra, twisted right", partial(tetrahedra, True),
     "Eight points that distances alone cannot tell from their mirror image.", ("cloud", "chiral")),
    ("twisted-left", "Two tetrahedra, twisted left", partial(tetrahedra, False), "The mirror image of the other one.",
     ("cloud", "chiral")),
    ("torus-large", "Torus of 100,000 points", _large, "As many points as a scanner gives in one look.", ("large",)),
)  # fmt: skip

SAMPLES = tuple(
    SampleSpec(name, title, "points", partial(cloud, name, title, make), summary, tags)
    for name, title, make, summary, tags in _CLOUDS
)
