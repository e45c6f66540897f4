"""State what a network on images takes."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.declare.card import Form
from explorer.declare.types.fields import FieldType, Scalar
from explorer.spaces.grid.fields import grid

IMAGE = grid(Scalar(intensity=True))


@dataclass(frozen=True, slots=True)
class InputSpec(Form):
    """Take a grid signal of `shape` (channels, height, width); None means any size.

    Attributes:
        images: name and shape of each argument, the first one with `shape`, of a network that takes several images, or
            takes one by its name or in a dict; () for one image.
    """

    space = "grid"
    data = "grid"

    shape: tuple[int, int | None, int | None] = (1, None, None)
    field: FieldType = IMAGE
    images: tuple[tuple[str, tuple[int, int | None, int | None]], ...] = ()
