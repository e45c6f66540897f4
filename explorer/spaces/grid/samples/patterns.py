"""Patterns whose own symmetry is known, and two photographs.

The patterns are computed at 29x29 and, with the suffix "-65", at 65x65: odd, so that there is a centre
pixel. Each declares the group that leaves it unchanged to the last bit, which is what makes it useful: what a
network says of a D4-symmetric cross must not change under D4.

`python -m explorer.spaces.grid.samples.patterns` makes the two shipped photographs again, from scikit-learn's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.grid.sample import image_sample
from explorer.work.files.places import RESOURCES

FOLDER = RESOURCES / "samples"
SIDES = (29, 65)
PHOTO_SIDE = 224

Plane = NDArray[np.float64]
_FINE = 8  # sub-pixels per pixel side; a power of two keeps coordinates and coverage exact, and so the symmetry


def _coordinates(size: int, fine: int) -> tuple[Plane, Plane]:
    """Return (y, x) in pixels, y upwards, at the centres of `fine` sub-pixels a pixel side.

    Exact fractions with a power of two below, so every number occurs with both signs.
    """
    line = (np.arange(size * fine) * 2 + 1 - size * fine) / (2.0 * fine)
    x, y = np.meshgrid(line, -line)
    return y, x


def _covered(inside: NDArray[np.bool_], size: int) -> Plane:
    """Return how much of each pixel is inside: soft edges without losing any symmetry."""
    return np.asarray(inside.reshape(size, _FINE, size, _FINE).mean((1, 3)))


def _unit(size: int, fine: int = _FINE) -> tuple[Plane, Plane]:
    """Return (y, x) where the image's borders lie at -1 and 1."""
    y, x = _coordinates(size, fine)
    return y / (size / 2), x / (size / 2)


def _letter_f(size: int) -> Plane:
    y, x = _unit(size)
    stem = (np.abs(x + 0.3) < 0.12) & (np.abs(y) < 0.65)
    top = (np.abs(y - 0.53) < 0.12) & (x > -0.42) & (x < 0.45)
    middle = (np.abs(y - 0.05) < 0.12) & (x > -0.42) & (x < 0.25)
    return _covered(stem | top | middle, size)


def _cross(size: int) -> Plane:
    y, x = _unit(size)
    near, far = np.minimum(np.abs(x), np.abs(y)), np.maximum(np.abs(x), np.abs(y))
    return _covered((near < 0.16) & (far < 0.66), size)


def _pinwheel(size: int) -> Plane:
    y, x = _unit(size)
    blade = (x > 0) & (x < 0.66) & (y >= 0) & (y < 0.5 * x)
    return _covered(blade | np.rot90(blade) | np.rot90(blade, 2) | np.rot90(blade, 3), size)


def _rings(size: int) -> Plane:
    y, x = _unit(size, 1)
    r = np.hypot(x, y)
    # two periods from the centre to the border at any size: a third of what the smaller grid can carry
    return np.asarray((0.5 + 0.5 * np.cos(4 * np.pi * r)) * _fade(r))


def _grating(size: int) -> Plane:
    y, x = _unit(size, 1)
    angle = np.pi / 6
    wave = 0.5 + 0.5 * np.cos(4 * np.pi * (x * np.cos(angle) + y * np.sin(angle)))
    return np.asarray(wave * _fade(np.hypot(x, y)))


def _fade(r: Plane) -> Plane:
    """Return 1 inside, 0 from the inscribed circle on: what is turned has no corners to lose."""
    return np.asarray(0.5 + 0.5 * np.cos(np.pi * np.clip((r - 0.4) / 0.55, 0, 1)))


def _checkerboard(size: int) -> Plane:
    y, x = _coordinates(size, _FINE)
    # an odd number of squares puts one in the centre; 7 divides neither size, so no sub-pixel lies on the
    # border of two squares and rounding to a square's number keeps the mirrors
    column, row = np.round(7 * x / size), np.round(7 * y / size)
    return _covered((np.abs(column) + np.abs(row)) % 2 == 0, size)


def _blobs(size: int) -> Plane:
    y, x = _unit(size, 1)
    large = np.exp(-((x + 0.22) ** 2 + (y - 0.18) ** 2) / (2 * 0.2**2))
    small = 0.7 * np.exp(-((x - 0.35) ** 2 + (y + 0.3) ** 2) / (2 * 0.13**2))
    return np.asarray((large + small) * _fade(np.hypot(x, y)))


def _edge(size: int) -> Plane:
    y, x = _unit(size)
    return _covered((x > 0) & (x**2 + y**2 < 0.9**2), size)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A computed image; `symmetry` is the largest subgroup of D4 that leaves it unchanged."""

    name: str
    title: str
    symmetry: str
    draw: Callable[[int], Plane]
    summary: str


PATTERNS = (
    Pattern("letter-f", "Letter F", "C1", _letter_f, "No symmetry at all: any turn or mirror shows."),
    Pattern("cross", "Cross", "D4", _cross, "Unchanged by quarter turns and mirrors."),
    Pattern("pinwheel", "Pinwheel", "C4", _pinwheel, "Unchanged by quarter turns, changed by every mirror."),
    Pattern("rings", "Rings", "D4", _rings, "Unchanged by any rotation, up to the grid."),
    Pattern("grating", "Grating", "C2", _grating, "One orientation, 30 degrees, and one frequency."),
    Pattern("checkerboard", "Checkerboard", "D4", _checkerboard, "Seven by seven squares with corners all over."),
    Pattern("blobs", "Two blobs", "C1", _blobs, "Smooth: resampling costs next to nothing here."),
    Pattern("edge", "Edge", "mirror", _edge, "A half disc, one mirror and one straight edge."),
)


def _make_pattern(pattern: Pattern, size: int, name: str) -> Sample:
    values = pattern.draw(size).astype(np.float32)[None]
    return image_sample(values, name, title=pattern.title, source="computed")


def _make_photo(name: str, file: str, title: str, source: str) -> Sample:
    from PIL import Image

    with Image.open(FOLDER / file) as image:
        values = np.asarray(image.convert("RGB"), np.float32).transpose(2, 0, 1) / 255
    return image_sample(values, name, title=title, source=source, notes=("centre crop, shrunk to 224x224",))


_PHOTOS = (
    (
        "photo-china",
        "china.jpg",
        "Photo of a pagoda",
        "danielbuechele, flickr.com/photos/danielbuechele/6061409035, CC BY 2.0",
    ),
    (
        "photo-flower",
        "flower.jpg",
        "Photo of a flower",
        "vultilion, flickr.com/photos/vultilion/6056698931, CC BY 2.0",
    ),
)


def write_photos(folder: Path = FOLDER) -> None:
    """Write scikit-learn's two photographs as 224x224 JPEG: the centre square, antialiased."""
    from PIL import Image
    from sklearn.datasets import load_sample_image

    for _, file, _, _ in _PHOTOS:
        image = Image.fromarray(load_sample_image(file))
        side = min(image.size)
        left, top = (image.width - side) / 2, (image.height - side) / 2
        square = (left, top, left + side, top + side)
        small = image.resize((PHOTO_SIDE, PHOTO_SIDE), Image.Resampling.LANCZOS, square)
        small.save(folder / file, "JPEG", quality=90, subsampling=0, optimize=True)


SAMPLES = tuple(
    SampleSpec(
        name=(name := pattern.name + ("" if size == SIDES[0] else f"-{size}")),
        title=f"{pattern.title}, {size}x{size}",
        domain="grid",
        make=partial(_make_pattern, pattern, size, name),
        summary=pattern.summary,
        tags=("pattern", "grey", pattern.symmetry),
    )
    for size in SIDES
    for pattern in PATTERNS
) + tuple(
    SampleSpec(
        name=photo[0],
        title=photo[2],
        domain="grid",
        make=partial(_make_photo, *photo),
        summary="A photograph, 224x224 in colour.",
        tags=("photo", "colour"),
    )
    for photo in _PHOTOS
)


if __name__ == "__main__":
    write_photos()
    for photo in _PHOTOS:
        print(f"{FOLDER / photo[1]}: {(FOLDER / photo[1]).stat().st_size} bytes")
