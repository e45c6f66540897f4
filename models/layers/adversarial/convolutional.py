"""Generators and discriminators of images of 29 x 29: windows of 5 with stride 2 between grids of 29, 15 and 8.

Radford, Metz, Chintala, "Unsupervised Representation Learning with Deep Convolutional Generative Adversarial Networks",
2016: strides in place of pooling, batch normalisation but for the last layer of G and the first of D, ReLU in G and
LeakyReLU in D. Grey values lie between 0 and 1, so G ends in a sigmoid and not in tanh.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor, nn

from explorer.declare.examples import Examples

SIDES = (29, 15, 8)
CHANNELS = (16, 32)
FLAT = CHANNELS[1] * SIDES[2] ** 2
LATENT = 8
SLOPE = 0.2
Padding = Literal["zeros", "circular"]
Parts = dict[str, Tensor]  # of a loss, by name; their sum is what is made small


def first_maps(given: int) -> OrderedDict[str, nn.Module]:
    """Return the layers from a code to the smallest maps, by name; (N, given) -> (N, 32, 8, 8)."""
    far = CHANNELS[1]
    return OrderedDict(
        widen=nn.Linear(given, FLAT, bias=False),
        unflatten=nn.Unflatten(1, (far, SIDES[2], SIDES[2])),
        norm1=nn.BatchNorm2d(far),
        relu1=nn.ReLU(),
    )


def generator(given: int) -> nn.Sequential:
    """Return layers from a code to an image; (N, given) -> (N, 1, 29, 29)."""
    near, far = CHANNELS
    return nn.Sequential(
        first_maps(given)
        | OrderedDict(
            up1=nn.ConvTranspose2d(far, near, 5, stride=2, padding=2, bias=False),  # (N, near, 15, 15)
            norm2=nn.BatchNorm2d(near),
            relu2=nn.ReLU(),
            up2=nn.ConvTranspose2d(near, 1, 5, stride=2, padding=2),  # (N, 1, 29, 29)
            grey=nn.Sigmoid(),
        )
    )


def features() -> nn.Sequential:
    """Return the layers of a discriminator before its answers; (N, 1, 29, 29) -> (N, FLAT)."""
    near, far = CHANNELS
    return nn.Sequential(
        OrderedDict(
            conv1=nn.Conv2d(1, near, 5, stride=2, padding=2),  # (N, near, 15, 15)
            leaky1=nn.LeakyReLU(SLOPE),
            conv2=nn.Conv2d(near, far, 5, stride=2, padding=2, bias=False),  # (N, far, 8, 8)
            norm2=nn.BatchNorm2d(far),
            leaky2=nn.LeakyReLU(SLOPE),
            flatten=nn.Flatten(),
        )
    )


class Residual(nn.Module):
    """Add what two convolutions of 3 x 3 make of maps to the maps themselves; (N, channels, height, width).

    Johnson, Alahi, Fei-Fei, "Perceptual Losses for Real-Time Style Transfer and Super-Resolution", 2016: no
    nonlinearity after the sum.

    Args:
        norm: makes the layer that normalises so many channels.
        padding: what lies outside the image, as torch names it.
    """

    def __init__(self, channels: int, norm: Callable[[int], nn.Module], padding: Padding = "zeros") -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False, padding_mode=padding)
        self.norm1 = norm(channels)
        self.relu1 = nn.ReLU()
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False, padding_mode=padding)
        self.norm2 = norm(channels)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.norm2(self.conv2(self.relu1(self.norm1(self.conv1(x)))))


class Truncate(nn.Module):
    """Shorten a code, so that what is made of it is more usual and less varied; 1 leaves it alone.

    Brock, Donahue, Simonyan, "Large Scale GAN Training", 2019, section 3.1, draw again what is too large; here every
    number is scaled, as Karras, Laine, Aila, "A Style-Based Generator Architecture", 2019, appendix B, do.
    """

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, z: Tensor) -> Tensor:
        return self.share * z


class Adversarial(nn.Module):
    """Networks of images of this kind: D looks at an image, its features give a code, and G makes an image of that.

    The code is a linear map of D's features that has learned, after the game, to find the z that G has made an image
    of (the latent regressor of Donahue, Krähenbühl, Darrell, "Adversarial Feature Learning", 2017, section 4.1). So any
    image has a place among the codes, and one sees what D takes it for.
    """

    def __init__(self, shown: Callable[[], Examples], given: int = LATENT, truncation: float = 1.0) -> None:
        super().__init__()
        self.examples = shown
        self.features = features()
        self.code = nn.Linear(FLAT, LATENT)
        self.truncate = Truncate(truncation)
        self.generator = generator(given)

    def encode(self, x: Tensor) -> Tensor:
        """Return the codes of images."""
        return self.code(self.features(x))

    def decode(self, z: Tensor) -> Tensor:
        """Return the images that G makes of codes."""
        return self.generator(self.truncate(z))

    def prior(self, count: int, chance: torch.Generator) -> Tensor:
        """Draw codes as G has learned them."""
        return torch.randn(count, LATENT, generator=chance)

    def draw_codes(self, count: int, seed: int) -> tuple[Tensor, str]:
        """Draw codes to look at, and say how."""
        return self.prior(count, torch.Generator().manual_seed(seed)), "z from N(0, 1)"

    def made(self, count: int, chance: torch.Generator) -> Tensor:
        """Make images of codes that are drawn."""
        return self.generator(self.prior(count, chance))

    def code_error(self, count: int, chance: torch.Generator) -> Tensor:
        """Return the mean square of how far the codes of made images are from those that they were made of."""
        z = torch.randn(count, LATENT, generator=chance)
        with torch.no_grad():
            h = self.features(self.generator(self.given(z, chance)))
        return (self.code(h) - z).square().mean()

    def given(self, z: Tensor, chance: torch.Generator) -> Tensor:
        """Return what G is given beside z, joined to it."""
        return z
