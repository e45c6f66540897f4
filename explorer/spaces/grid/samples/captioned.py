"""Captioned sprites: two coloured shapes, one above, below, left or right of the other, and the words that say so."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.grid.sample import image_sample

SIDE = 24
SHAPES = ("square", "circle", "triangle", "cross")
COLOURS = ("red", "green", "blue", "yellow")
RELATIONS = ("above", "below", "left of", "right of")
VOCABULARY = ("a", *COLOURS, *SHAPES, *RELATIONS)
WORDS = 7  # of a caption; "left of" is one of them
_PAINT = {"red": (1.0, 0.1, 0.1), "green": (0.1, 0.9, 0.2), "blue": (0.2, 0.3, 1.0), "yellow": (1.0, 0.95, 0.3)}
_FINE = 4  # sub-pixels per pixel side
_RADIUS = 4.0  # pixels
_FROM_CENTRE = 6.0  # pixels from the middle of the picture to that of a shape
_JITTER = 1  # pixels, whole ones: a code has to stand for every way that an edge may cross it


@dataclass(frozen=True, slots=True)
class Caption:
    """The content of a picture, as numbers into COLOURS, SHAPES and RELATIONS."""

    colour: int
    shape: int
    relation: int
    other_colour: int
    other_shape: int

    @property
    def words(self) -> tuple[str, ...]:
        """Return the caption word by word."""
        return (
            "a", COLOURS[self.colour], SHAPES[self.shape], RELATIONS[self.relation],
            "a", COLOURS[self.other_colour], SHAPES[self.other_shape],
        )  # fmt: skip

    @property
    def numbers(self) -> tuple[int, ...]:
        """Return the place of each word in VOCABULARY."""
        return tuple(VOCABULARY.index(word) for word in self.words)

    def __str__(self) -> str:
        return " ".join(self.words)


def drawn(chance: np.random.Generator) -> Caption:
    """Draw a caption; the two shapes differ in colour or in form."""
    while True:
        numbers = [int(chance.integers(4)) for _ in range(5)]
        if (numbers[0], numbers[1]) != (numbers[3], numbers[4]):
            return Caption(*numbers)


def paint(caption: Caption, chance: np.random.Generator | None = None) -> NDArray[np.float32]:
    """Return a picture of the caption, (3, SIDE, SIDE) in [0, 1]; without `chance` nothing is moved about."""
    right, up = {0: (0, 1), 1: (0, -1), 2: (-1, 0), 3: (1, 0)}[caption.relation]
    image = np.zeros((3, SIDE, SIDE), np.float64)
    both = ((1, caption.colour, caption.shape), (-1, caption.other_colour, caption.other_shape))
    for sign, colour, shape in both:
        x, y = (np.array([right, up]) * sign * _FROM_CENTRE) + (
            chance.integers(-_JITTER, _JITTER + 1, 2) if chance is not None else 0.0
        )
        covered = _covered(SHAPES[shape], float(x), float(y))
        image = image * (1 - covered) + covered * np.array(_PAINT[COLOURS[colour]])[:, None, None]
    return image.astype(np.float32)


def _covered(shape: str, x: float, y: float) -> NDArray[np.float64]:
    """Return how much of each pixel a shape covers whose middle lies at (x, y), right and up of the centre."""
    line = (np.arange(SIDE * _FINE) + 0.5) / _FINE - SIDE / 2
    across, along = np.meshgrid(line - x, -line - y)
    match shape:
        case "square":
            inside = np.maximum(np.abs(across), np.abs(along)) < 0.85 * _RADIUS
        case "circle":
            inside = np.hypot(across, along) < _RADIUS
        case "triangle":
            inside = (along > -0.8 * _RADIUS) & (along < 0.9 * _RADIUS - 1.7 * np.abs(across))
        case _:
            near, far = np.minimum(np.abs(across), np.abs(along)), np.maximum(np.abs(across), np.abs(along))
            inside = (near < 0.32 * _RADIUS) & (far < _RADIUS)
    covered: NDArray[np.float64] = inside.reshape(SIDE, _FINE, SIDE, _FINE).mean((1, 3))
    return covered


def read(image: NDArray[np.floating]) -> Caption:
    """Return the caption whose picture is nearest, wherever chance has moved its shapes."""
    picture = np.asarray(image, np.float32)
    half = SIDE // 2
    # each shape stays in its half of the picture, so both are looked for alone
    sides = {
        0: (picture[:, :half], picture[:, half:]),
        2: (picture[:, :, :half], picture[:, :, half:]),
    }
    best, found = np.inf, Caption(0, 0, 0, 0, 1)
    for relation, parts in sides.items():
        costs, kinds = [], []
        for part, templates in zip(parts, _templates()[relation], strict=True):
            cost = ((templates - part) ** 2).sum((2, 3, 4)).min(1)  # of each kind, where it fits best
            costs.append(float(cost.min()))
            kinds.append(divmod(int(cost.argmin()), len(SHAPES)))
        if sum(costs) < best:
            best, found = sum(costs), Caption(*kinds[0], relation, *kinds[1])
    return found


def same(one: Caption, other: Caption) -> bool:
    """Return whether two captions say the same: "A above B" is "B below A"."""
    turned = Caption(other.other_colour, other.other_shape, (1, 0, 3, 2)[other.relation], other.colour, other.shape)
    return one in (other, turned)


@cache
def _templates() -> dict[int, tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """Return every shape in either half, {relation: (kinds, shifts, 3, height, width) twice}."""
    half, steps = SIDE // 2, range(-_JITTER, _JITTER + 1)
    found = {}
    for relation in (0, 2):
        both: list[list[list[NDArray[np.float32]]]] = [[], []]
        for colour in range(len(COLOURS)):
            for shape in range(len(SHAPES)):
                whole = paint(Caption(colour, shape, relation, colour, shape))
                halves = (whole[:, :half], whole[:, half:]) if not relation else (whole[..., :half], whole[..., half:])
                for kept, part in zip(both, halves, strict=True):
                    kept.append([np.roll(part, (row, column), (1, 2)) for row in steps for column in steps])
        found[relation] = (np.array(both[0], np.float32), np.array(both[1], np.float32))
    return found


SHOWN = (
    Caption(0, 0, 0, 2, 1), Caption(1, 2, 2, 3, 3), Caption(3, 1, 1, 0, 2), Caption(2, 3, 3, 1, 0),
)  # fmt: skip


def _sample(caption: Caption, name: str) -> Sample:
    return image_sample(paint(caption), name, title=str(caption), source="computed")


SAMPLES = tuple(
    SampleSpec(
        name=(name := f"captioned-{k + 1}"),
        title=str(caption),
        domain="grid",
        make=partial(_sample, caption, name),
        summary="Two shapes and the words that say where they are, 24x24 in colour.",
        tags=("caption", "colour"),
    )
    for k, caption in enumerate(SHOWN)
)
