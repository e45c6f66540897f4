"""State what a network on images takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from explorer.declare.card import Form
from explorer.declare.telling.asking import Named
from explorer.declare.telling.choices import Choice
from explorer.declare.types.fields import FieldType, Scalar
from explorer.spaces.grid.fields import grid

if TYPE_CHECKING:
    from torch import Tensor

IMAGE = grid(Scalar(intensity=True))
FITS = (("crop", "crop to the centre"), ("pad", "the whole picture, padded"), ("stretch", "stretch"))
COLOURS = (("grey", "grey"), ("red", "red alone"), ("green", "green alone"), ("blue", "blue alone"))
AXES = ("NCHW", "NHWC")


@dataclass(frozen=True, slots=True)
class InputSpec(Form):
    """Take a grid signal of `shape` (channels, height, width); None means any size.

    Attributes:
        images: name and shape of each argument, the first image with `shape`, of a network that takes several images,
            or takes one by its name or in a dict, or beside numbers that lie at no place, ("vector", 5), ("number",)
            or ("below", 10); () for one image.
        frames: how many images, one after the other, a network of videos is given as (batch, frames, channels, height,
            width): its data are one image with the channels of all of them, and move together.
        axes: their order as the network is given them, "NCHW" or with the channels last, "NHWC".
        multiple: sides that are any are multiples of it, as a network takes them that halves and doubles them again.
    """

    space = "grid"
    data = "grid"
    fitted_as = True

    shape: tuple[int, int | None, int | None] = (1, None, None)
    field: FieldType = IMAGE
    images: Named = ()
    multiple: int = 1
    frames: int = 1
    axes: str = AXES[0]

    @property
    def otherwise(self) -> bool:
        """Say whether a network is given its images in another form than the data has."""
        return self.frames > 1 or self.axes != AXES[0]

    @property
    def drawn(self) -> tuple[int, int | None, int | None]:
        """Return the shape of its data: the channels of all frames in one image."""
        return (self.shape[0] * self.frames, *self.shape[1:])

    def given(self, network: Callable[..., Any], tensors: tuple[Tensor, ...]) -> Any:
        """Return what a network of videos, or on images with their channels last, answers."""
        return network(*map(self.laid, tensors))

    def laid(self, x: Tensor) -> Tensor:
        """Return images, (batch, channel, y, x), as the network is given them."""
        if self.frames > 1:
            x = x.unflatten(1, (self.frames, -1))
        return x if self.axes == AXES[0] else x.movedim(-3, -1)

    def choices(self, shape: tuple[int, ...], asked: Mapping[str, str]) -> tuple[Choice, ...]:
        fit = Choice("fit", "To the size of the network", FITS, asked.get("fit", FITS[0][0]))
        colour = Choice("colour", "Colour, where it takes one channel", COLOURS, asked.get("colour", COLOURS[0][0]))
        return (fit, colour) if shape[0] == len(COLOURS) - 1 else (fit,)
