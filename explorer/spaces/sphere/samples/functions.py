"""Functions on the sphere: a map of land and sea, a single degree, spots, noise."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.sphere.sample import sphere_sample

DEGREE = 10
MEAN = 0.2  # of what is left of degree 0
# height, longitude, latitude in degrees, width: rough continents
LAND = (
    (1.0, -100.0, 48.0, 0.42), (0.9, -60.0, -15.0, 0.36), (1.0, 20.0, 5.0, 0.40), (1.0, 85.0, 52.0, 0.55),
    (0.6, 15.0, 50.0, 0.25), (0.8, 134.0, -25.0, 0.28), (0.9, 0.0, -88.0, 0.30),
)  # fmt: skip


def point(longitude: float, latitude: float) -> NDArray[np.float64]:
    """Return a point of the sphere: y at the north pole, z at longitude 0."""
    lon, lat = np.radians([longitude, latitude])
    return np.array([np.cos(lat) * np.sin(lon), np.sin(lat), np.cos(lat) * np.cos(lon)])


def _expanded(name: str, title: str, spots: tuple[tuple[float, float, float, float], ...]) -> Sample:
    from explorer.spaces.sphere.harmonics import on_sphere, sphere_grid

    points, weights = sphere_grid(4 * DEGREE)
    values = np.zeros(len(points))
    for height, longitude, latitude, width in spots:
        values += height * np.exp((points.numpy() @ point(longitude, latitude) - 1) / width**2)
    found = on_sphere(DEGREE, points).numpy().T @ (weights.numpy() * values)
    found[0] *= MEAN  # much of it would hide the other degrees
    return sphere_sample(found[None], name, title=title)


def _degree() -> Sample:
    values = np.zeros((1, (DEGREE + 1) ** 2))
    values[0, 9:16] = np.array([0.2, -0.5, 0.3, 1.0, 0.4, -0.1, 0.6])
    return sphere_sample(values, "degree-3", title="One degree, l = 3")


def _noise() -> Sample:
    rng = np.random.default_rng(0)
    values = rng.standard_normal((1, (DEGREE + 1) ** 2)) / np.repeat(
        1 + np.arange(DEGREE + 1), 2 * np.arange(DEGREE + 1) + 1
    )
    return sphere_sample(values, "sphere-noise", title="Noise up to degree 10")


SAMPLES = (
    SampleSpec("globe", "Land and sea", "sphere", partial(_expanded, "globe", "Land and sea", LAND),
               "Rough continents, expanded up to degree 10."),
    SampleSpec("spot", "One spot", "sphere", partial(_expanded, "spot", "One spot", ((1.0, 40.0, 20.0, 0.35),)),
               "A spot off the poles; turns about its own axis leave it alone."),
    SampleSpec("degree-3", "One degree, l = 3", "sphere", _degree, "Seven coefficients, which a turn mixes."),
    SampleSpec("sphere-noise", "Noise up to degree 10", "sphere", _noise, "Random, higher degrees smaller."),
)  # fmt: skip
