"""Handwritten digits in several styles, and words for them: filled, outlined, striped.

A style is computed from the picture of a digit, so that any picture can be read as a style and a digit, by comparison
with the training digits in every style, and it can be counted how many pictures are what they should be.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.declare.examples import Examples
from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.grid.sample import image_sample
from explorer.spaces.grid.samples import digit_images, digits

STYLES = ("filled", "outlined", "striped")
FILLED, OUTLINED, STRIPED = range(len(STYLES))
NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_PERIOD = 4  # pixels from stripe to stripe along a row
_BATCH = 500

Images = NDArray[np.float32]
Whole = NDArray[np.int64]


def styled(images: NDArray[Any], style: int) -> Images:
    """Return digits (..., height, width) in [0, 1], white on black, in one of STYLES.

    An outline is what lies within a pixel of the ink and not in its midst; stripes are cut out of the ink, always at
    the same places.
    """
    x = np.asarray(images, np.float32)
    if style == OUTLINED:
        x = _between(_widest(x), 0.3, 0.7) - _between(x, 0.35, 0.65)
    elif style == STRIPED:
        rows, columns = np.indices(x.shape[-2:])
        x = _between(x, 0.3, 0.6) * ((rows + columns) % _PERIOD < _PERIOD // 2)
    return np.clip(x, 0.0, 1.0).astype(np.float32)


def _between(x: Images, low: float, high: float) -> Images:
    """Return 0 below `low`, 1 above `high`, and a straight line between them."""
    found: Images = np.clip((x - low) / (high - low), 0.0, 1.0).astype(np.float32)
    return found


def _widest(x: Images) -> Images:
    """Return the largest of the nine values around every place."""
    for axis in (-2, -1):
        x = np.maximum.reduce([x, np.roll(x, 1, axis), np.roll(x, -1, axis)])
    return x


def halved(images: NDArray[np.floating]) -> Images:
    """Return every other pixel of images that are blurred with (1, 2, 1) / 4 both ways; sides 29 -> 15."""
    x = np.asarray(images, np.float32)
    for axis in (-2, -1):
        x = 0.5 * x + 0.25 * (np.roll(x, 1, axis) + np.roll(x, -1, axis))
    return np.ascontiguousarray(x[..., ::2, ::2])


@cache
def all_styles(split: digit_images.Split) -> tuple[Images, Whole]:
    """Return the digits of a split in every style, (n, 1, 29, 29), and what each is, (n, 2): style and digit."""
    images, labels = digit_images.load(split)
    every = np.concatenate([styled(images, style) for style in range(len(STYLES))])
    named = np.concatenate([np.stack([np.full_like(labels, s), labels], 1) for s in range(len(STYLES))])
    every.flags.writeable = named.flags.writeable = False
    return every, named


@cache
def _templates(side: int) -> tuple[Images, Whole]:
    images, named = all_styles("train")
    while images.shape[-1] > side:
        images = halved(images)
    return images.reshape(len(images), -1), named


def read(images: NDArray[np.floating]) -> Whole:
    """Return style and digit of the nearest training picture, (n, 1, side, side) -> (n, 2).

    The pictures may be 29 pixels wide, or halved.
    """
    templates, named = _templates(images.shape[-1])
    flat = np.asarray(images, np.float32).reshape(len(images), -1)
    squares = (templates**2).sum(1)
    nearest = [
        (squares - 2 * part @ templates.T).argmin(1) for part in np.split(flat, range(_BATCH, len(flat), _BATCH))
    ]
    found: Whole = named[np.concatenate(nearest)]
    return found


def caption(style: int, digit: int) -> str:
    """Return what a picture shows in words."""
    return f"{'an' if STYLES[style][0] in 'aeiou' else 'a'} {STYLES[style]} {NUMBERS[digit]}"


@cache
def styled_digits() -> Examples:
    """Return the digits to test on in every style."""
    images, named = all_styles("test")
    factors = {"style": named[:, 0].astype(float), "digit": named[:, 1].astype(float)}
    return Examples(images, named[:, 0], STYLES, f"500 test digits in {len(STYLES)} styles", factors)


def _make(digit: int, style: int, name: str) -> Sample:
    image = styled(digits.SAMPLES[2 * digit].make().x.values, style)
    return image_sample(
        image, name, title=caption(style, digit).partition(" ")[2].capitalize(), label=digit,
        source="computed from Optical Recognition of Handwritten Digits, UCI Machine Learning Repository, CC BY 4.0",
    )  # fmt: skip


SAMPLES = tuple(
    SampleSpec(
        name=(name := f"{STYLES[style]}-{digit}"),
        title=f"{STYLES[style]} {NUMBERS[digit]}".capitalize(),
        domain="grid",
        make=partial(_make, digit, style, name),
        summary="A handwritten digit in another style, 29x29.",
        tags=("digit", "grey"),
    )
    for style, digit in ((OUTLINED, 3), (OUTLINED, 8), (STRIPED, 5))
)
