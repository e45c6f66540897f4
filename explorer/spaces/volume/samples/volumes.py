"""Volumes to look at: a head as a scanner would see it, simple shapes, band-limited noise.

The phantom is a sum of ellipsoids after L. A. Shepp and B. F. Logan, "The Fourier reconstruction of a head section",
1974, in three dimensions; its parts are not symmetric, so that every one of the 48 symmetries of the cube changes it.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.volume.sample import volume_sample

SIDE = 25  # odd, so that strides of 2 stay centred: 25, 13, 7
Floats = NDArray[np.float64]
# value, half axes (x, y, z), centre (x, y, z), turn about z in degrees
HEAD = (
    (1.00, (0.70, 0.92, 0.81), (0.00, 0.00, 0.00), 0.0),
    (-0.72, (0.64, 0.85, 0.76), (0.00, -0.01, 0.00), 0.0),
    (-0.22, (0.13, 0.33, 0.22), (0.22, 0.00, 0.00), -18.0),
    (-0.22, (0.17, 0.42, 0.26), (-0.23, 0.02, -0.03), 18.0),
    (0.22, (0.22, 0.25, 0.37), (0.00, 0.37, -0.16), 0.0),
    (0.40, (0.08, 0.08, 0.12), (0.05, -0.14, 0.28), 0.0),
    (0.34, (0.10, 0.06, 0.08), (-0.16, -0.60, -0.18), 0.0),
    (0.30, (0.07, 0.10, 0.07), (0.27, -0.52, 0.10), 30.0),
)


def points(side: int = SIDE) -> tuple[Floats, Floats, Floats]:
    """Return x, y and z of each voxel, each (z, y, x), from -1 to 1: x right, y up."""
    axis = (np.arange(side) - (side - 1) / 2) / (side / 2)
    z, y, x = np.meshgrid(axis, -axis, axis, indexing="ij")
    return x, y, z


def soft(distance: Floats, side: int = SIDE) -> Floats:
    """Return 1 where a distance from a surface is negative and 0 where it is positive, over about a voxel."""
    return np.asarray(1 / (1 + np.exp(np.clip(2.0 * side * distance, -60, 60))))


def _ellipsoid(half: tuple[float, ...], centre: tuple[float, ...], degrees: float, side: int) -> Floats:
    x, y, z = (axis - c for axis, c in zip(points(side), centre, strict=True))
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    x, y = c * x + s * y, c * y - s * x
    radius = np.sqrt((x / half[0]) ** 2 + (y / half[1]) ** 2 + (z / half[2]) ** 2)
    return soft((radius - 1) * min(half), side)


def head(side: int = SIDE) -> Floats:
    """Return the phantom, (side, side, side), from 0 to about 1."""
    return np.clip(sum((v * _ellipsoid(half, at, turn, side) for v, half, at, turn in HEAD), np.zeros(())), 0.0, None)


def _phantom(side: int) -> Sample:
    name = "phantom-3d" if side == SIDE else f"phantom-3d-{side}"
    return volume_sample(head(side)[None], name, title=f"Phantom of a head, {side}³")


def _letter() -> Sample:
    """Three bars of three lengths along the axes: no symmetry of the cube but the identity leaves it alone."""
    x, y, z = points()
    bars = []
    for along, others, length in ((x, (y, z), 0.75), (y, (x, z), 0.55), (z, (x, y), 0.35)):
        across = np.maximum(*(np.abs(o + 0.35) for o in others)) - 0.14
        bars.append(soft(np.maximum(across, np.abs(along + 0.35 - length / 2) - length / 2 - 0.14)))
    return volume_sample(np.max(bars, 0)[None], "corner-3d", title="Corner of three bars")


def _ball() -> Sample:
    x, y, z = points()
    ball = soft(np.sqrt(x**2 + y**2 + z**2) - 0.6)
    hole = soft(np.sqrt((x - 0.25) ** 2 + (y - 0.3) ** 2 + z**2) - 0.25)
    return volume_sample((ball * (1 - hole))[None], "ball-3d", title="Ball with a bubble")


def _helix() -> Sample:
    """A right-handed helix: a turn by 180 degrees about x leaves it as it is, and no mirror does."""
    x, y, z = points()
    away = np.full(x.shape, np.inf)
    for t in np.linspace(-1.5, 1.5, 160) * np.pi:
        away = np.minimum(away, (x - 0.5 * np.cos(t)) ** 2 + (y - 0.5 * np.sin(t)) ** 2 + (z - t / 6) ** 2)
    return volume_sample(soft(np.sqrt(away) - 0.12)[None], "helix-volume", title="Right-handed helix")


def _noise() -> Sample:
    rng, freq = np.random.default_rng(0), np.fft.fftfreq(SIDE)
    radius = np.sqrt(freq[:, None, None] ** 2 + freq[:, None] ** 2 + freq**2)
    spectrum = np.fft.fftn(rng.standard_normal((SIDE,) * 3)) * (radius <= 0.2)
    values = np.fft.ifftn(spectrum).real
    return volume_sample((values / values.std())[None], "noise-3d", title="Band-limited noise, 25³")


SAMPLES = (
    SampleSpec("phantom-3d", "Phantom of a head, 25³", "volume", partial(_phantom, SIDE),
               "Ellipsoids as a scanner sees a head; no symmetry of the cube leaves it as it is."),
    SampleSpec("corner-3d", "Corner of three bars", "volume", _letter, "Three bars of three lengths along the axes."),
    SampleSpec("helix-volume", "Right-handed helix", "volume", _helix, "Its mirror image winds the other way."),
    SampleSpec("ball-3d", "Ball with a bubble", "volume", _ball, "Round but for a bubble off its centre."),
    SampleSpec("noise-3d", "Band-limited noise, 25³", "volume", _noise, "Random, without frequencies above 0.2."),
    SampleSpec("phantom-3d-64", "Phantom of a head, 64³", "volume", partial(_phantom, 64),
               "The same head on an even grid: a stride of 2 loses the centre."),
)  # fmt: skip
