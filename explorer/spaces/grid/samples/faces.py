"""Faces drawn with a few lines, whose factors are known: glasses, smile and the form of the head, place and size.

They can be read off any picture by comparison with templates, so that arithmetic with codes can be counted as right or
wrong.
"""

from __future__ import annotations

from functools import cache, partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from explorer.declare.examples import Examples
from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.grid.sample import image_sample

SIDE = 29
TRAITS = ("glasses", "smile", "square head")
KINDS = tuple(product((0, 1), repeat=len(TRAITS)))  # in the order of their numbers
PLACE, SIZE = 1.5, (10.0, 12.0)  # pixels: the farthest from the middle, and from the least radius to the largest
SHOWN = 1000
SEED = 1  # of faces that no network was trained on

Floats = NDArray[np.float64]


def drawn(traits: NDArray[np.int64], x: Floats, y: Floats, radius: Floats) -> NDArray[np.float32]:
    """Return images (n, 1, 29, 29) in [0, 1] of traits (n, 3), places (right, up) and radii (n,)."""
    line = np.arange(SIDE) - (SIDE - 1) / 2
    x, y, radius = (v[:, None, None] for v in (x, y, radius))
    glasses, smile, square = (traits[:, k, None, None] for k in range(3))
    u, v = (line[None, None, :] - x) / radius, (-line[None, :, None] - y) / radius
    round_head, square_head = np.hypot(u, v) - 1.0, np.maximum(np.abs(u), np.abs(v)) - 0.92
    lines = [np.abs(np.where(square, square_head, round_head)) - 0.07]
    eye = np.hypot(np.abs(u) - 0.4, v - 0.28)
    lines.append(eye - 0.12)
    bridge = np.maximum(np.abs(v - 0.28) - 0.06, np.abs(u) - 0.12)
    lines.append(np.where(glasses, np.minimum(np.abs(eye - 0.3) - 0.06, bridge), 1.0))
    arc = np.where(smile, v + 0.58 - 0.9 * u**2, v + 0.36 + 0.9 * u**2)
    lines.append(np.maximum(np.abs(arc) - 0.08, np.abs(u) - 0.48))
    found: NDArray[np.float32] = np.clip(0.5 - np.minimum.reduce(lines) * radius, 0.0, 1.0).astype(np.float32)[:, None]
    return found


@cache
def faces(count: int, seed: int = 0) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return (images, traits), always the same for one seed; read-only and cached."""
    chance = np.random.default_rng([seed, 31])
    traits = chance.integers(0, 2, (count, len(TRAITS)))
    x, y = chance.uniform(-PLACE, PLACE, (2, count))
    images = drawn(traits, x, y, chance.uniform(*SIZE, count))
    images.flags.writeable = traits.flags.writeable = False
    return images, traits


@cache
def _templates() -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return faces of every kind at places and sizes between which others lie, (m, pixels), and their traits."""
    steps = (-PLACE, -PLACE / 2, 0.0, PLACE / 2, PLACE)
    every = list(product(KINDS, steps, steps, (SIZE[0], 10.7, 11.3, SIZE[1])))
    traits = np.array([kind for kind, *_ in every])
    x, y, radius = np.array([rest for _, *rest in every]).T
    return drawn(traits, x, y, radius).reshape(len(every), -1), traits


def read(images: NDArray[np.floating]) -> NDArray[np.int64]:
    """Return the traits of the nearest template of each image, (n, 1, 29, 29) -> (n, 3)."""
    templates, traits = _templates()
    flat = np.asarray(images, np.float32).reshape(len(images), -1)
    away = (templates**2).sum(1)[None] - 2 * flat @ templates.T
    found: NDArray[np.int64] = traits[away.argmin(1)]
    return found


def number(traits: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of each kind in KINDS, (n, 3) -> (n,)."""
    return np.asarray(traits @ (2 ** np.arange(len(TRAITS))[::-1]))


def told(kind: tuple[int, ...]) -> str:
    """Return a kind in words."""
    head = "square" if kind[2] else "round"
    return f"{head}, {'smiling' if kind[1] else 'sad'}, {'with' if kind[0] else 'without'} glasses"


@cache
def all_faces() -> Examples:
    """Return faces of every kind as examples."""
    images, traits = faces(SHOWN, SEED)
    factors = {name: traits[:, k].astype(float) for k, name in enumerate(TRAITS)}
    return Examples(images, number(traits), tuple(map(told, KINDS)), f"{SHOWN:,} faces of every kind", factors)


def _make(kind: tuple[int, ...], name: str) -> Sample:
    image = drawn(np.array([kind]), np.zeros(1), np.zeros(1), np.full(1, 11.0))[0]
    return image_sample(image, name, title=f"Face, {told(kind)}", label=KINDS.index(kind), source="computed")


SAMPLES = tuple(
    SampleSpec(
        name=(name := f"face-{k + 1}"),
        title=f"Face, {told(kind)}",
        domain="grid",
        make=partial(_make, kind, name),
        summary="A face drawn with a few lines, 29x29.",
        tags=("face", "grey"),
    )
    for k, kind in enumerate(((0, 1, 0), (1, 1, 0), (0, 0, 1), (1, 0, 1)))
)
