"""Sprites: one bright shape on black whose factors are known, so that what a code says of them can be measured.

The factors are the shape, the size, the place (x right, y up) and the angle, each drawn by itself, as in the dSprites
data set (L. Matthey, I. Higgins, D. Hassabis, A. Lerchner, 2017), whose images are not used: these are computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.grid.sample import image_sample

SIDE = 29
SHAPES = ("ellipse", "triangle", "angle")
FACTORS = ("shape", "size", "x", "y", "angle")
RANGES = {"size": (4.0, 7.5), "x": (-5.0, 5.0), "y": (-5.0, 5.0), "angle": (0.0, 360.0)}  # pixels and degrees
MIDDLE = {"shape": 1.0, "size": 5.75, "x": 0.0, "y": 0.0, "angle": 0.0}  # of a factor that does not vary
TWO = ("size", "x")  # the factors of the smaller set

Floats = NDArray[np.float64]


def drawn(factors: Floats) -> NDArray[np.float32]:
    """Return images (n, 1, 29, 29) in [0, 1] of factors (n, 5) in the order of FACTORS; edges are one pixel soft."""
    line = np.arange(SIDE) - (SIDE - 1) / 2
    shape, size, x, y, angle = (factors[:, k, None, None] for k in range(5))
    right, up = line[None, None, :] - x, -line[None, :, None] - y
    c, s = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))
    # the sprite is turned counter-clockwise, so its own axes are looked up turned back
    u, v = (c * right + s * up) / size, (c * up - s * right) / size
    outside = np.where(shape == 0, _ellipse(u, v), np.where(shape == 1, _triangle(u, v), _angle(u, v)))
    return np.clip(0.5 - outside * size, 0.0, 1.0).astype(np.float32)[:, None]


def _ellipse(u: Floats, v: Floats) -> Floats:
    """Return about how far a point lies outside of an ellipse of half axes 1 and 0.5."""
    return np.asarray((np.sqrt(u**2 + (v / 0.5) ** 2) - 1) * 0.5)


def _triangle(u: Floats, v: Floats) -> Floats:
    """Return how far a point lies outside of a triangle whose tip points right: no turn but the whole leaves it."""
    slope = np.hypot(0.55, 1.5)
    side = (0.55 * (u - 1.0) + 1.5 * np.abs(v)) / slope
    return np.asarray(np.maximum(side, -0.5 - u))


def _angle(u: Floats, v: Floats) -> Floats:
    """Return how far a point lies outside of a letter L: no turn and no mirror leaves it."""
    stem = np.maximum(np.abs(u + 0.45) - 0.22, np.abs(v) - 0.9)
    foot = np.maximum(np.abs(u - 0.1) - 0.75, np.abs(v + 0.68) - 0.22)
    return np.asarray(np.minimum(stem, foot))


def factors_of(count: int, seed: int, varied: Sequence[str] = FACTORS) -> Floats:
    """Draw factors (count, 5); those that are not `varied` stand in the middle."""
    chance = np.random.default_rng([seed, 29])
    found = np.tile([MIDDLE[name] for name in FACTORS], (count, 1))
    for k, name in enumerate(FACTORS):
        # every factor is drawn in any case: the others do not depend on which of them vary
        values = chance.integers(0, len(SHAPES), count) if name == "shape" else chance.uniform(*RANGES[name], count)
        if name in varied:
            found[:, k] = values
    return found


@cache
def sprites(count: int, seed: int = 0, varied: tuple[str, ...] = FACTORS) -> tuple[NDArray[np.float32], Floats]:
    """Return (images, factors), always the same for one seed; read-only and cached."""
    factors = factors_of(count, seed, varied)
    images = drawn(factors)
    images.flags.writeable = factors.flags.writeable = False
    return images, factors


def _make(shape: int, aside: bool, name: str, title: str) -> Sample:
    factors = np.array([[float(shape), *((5.0, 2.5, -2.0, 30.0) if aside else (6.5, 0.0, 0.0, 0.0))]])
    told = ", ".join(f"{n} {v:g}" for n, v in zip(FACTORS[1:], factors[0, 1:]))
    return image_sample(drawn(factors)[0], name, title=title, label=shape, source="computed", notes=(told,))


def _spec(shape: int, aside: bool) -> SampleSpec:
    name = f"sprite-{SHAPES[shape]}{'-b' if aside else ''}"
    title = f"Sprite, {SHAPES[shape]}{' aside and turned' if aside else ''}"
    summary = "A shape of known size, place and angle, 29x29."
    return SampleSpec(
        name=name, title=title, domain="grid", make=partial(_make, shape, aside, name, title), summary=summary,
        tags=("sprite", "grey"),
    )  # fmt: skip


SAMPLES = tuple(_spec(shape, aside) for aside in (False, True) for shape in range(len(SHAPES)))
