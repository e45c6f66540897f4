"""Sets of images as examples: digits and sprites."""

from __future__ import annotations

from functools import cache

from explorer.declare.examples import Examples
from explorer.spaces.grid.samples import digit_images
from explorer.spaces.grid.samples.sprites import FACTORS, SHAPES, TWO, sprites

SHOWN = 1000  # sprites that are shown
SEED = 1  # of sprites that no network was trained on


@cache
def digits() -> Examples:
    """Return the digits to test on."""
    images, labels = digit_images.load("test")
    return Examples(images, labels, tuple(str(k) for k in range(10)), "500 test digits")


@cache
def all_sprites() -> Examples:
    """Return sprites of all factors, by their shape."""
    return _sprites(FACTORS, f"{SHOWN:,} sprites of other places, sizes and angles")


@cache
def two_sprites() -> Examples:
    """Return triangles that differ in size and place alone; their class is the third of the sizes."""
    return _sprites(TWO, f"{SHOWN:,} triangles of other sizes and places")


def _sprites(varied: tuple[str, ...], title: str) -> Examples:
    images, factors = sprites(SHOWN, SEED, varied)
    known = {name: factors[:, k] for k, name in enumerate(FACTORS) if name in varied}
    if "shape" in varied:
        return Examples(images, factors[:, 0].astype("int64"), SHAPES, title, known)
    size = factors[:, FACTORS.index("size")]
    thirds = (size > 5.2).astype("int64") + (size > 6.3)
    return Examples(images, thirds, ("small", "middling", "large"), title, known)
