"""Encoders and decoders of images of 29 x 29, and the step between them.

The grids are 29, 15 and 8 wide on both ways: a window of 3 with stride 2 is centred on odd sizes, and enlarging by
interpolation between the outermost pixels undoes it.
"""

from __future__ import annotations

from collections import OrderedDict

import torch
from torch import Tensor, nn

SIDES = (29, 15, 8)
WIDE = 16  # channels of the coarsest grid


def encoder(hidden: int) -> nn.Sequential:
    """Return layers from images to `hidden` features; (N, 1, 29, 29) -> (N, hidden)."""
    return nn.Sequential(
        OrderedDict(
            conv1=nn.Conv2d(1, 8, 3, stride=2, padding=1),  # (N, 8, 15, 15)
            relu1=nn.ReLU(),
            conv2=nn.Conv2d(8, WIDE, 3, stride=2, padding=1),  # (N, 16, 8, 8)
            relu2=nn.ReLU(),
            flatten=nn.Flatten(),
            hidden=nn.Linear(WIDE * SIDES[2] ** 2, hidden),
            relu3=nn.ReLU(),
        )
    )


class Decoder(nn.Module):
    """The way back: a code becomes maps of 8 x 8, which are enlarged twice; the last layer gives grey values.

    Args:
        deep: another layer of `hidden` features lies between the code and the maps. A plane is folded further by it.

    Shapes:
        (N, given) -> (N, 1, 29, 29) in (0, 1).
    """

    def __init__(self, given: int, hidden: int, deep: bool = False) -> None:
        super().__init__()
        self.widen = nn.Linear(given, hidden)
        self.relu1 = nn.ReLU()
        self.fold = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU()) if deep else None
        self.maps = nn.Linear(hidden, WIDE * SIDES[2] ** 2)
        self.relu2 = nn.ReLU()
        self.unflatten = nn.Unflatten(1, (WIDE, SIDES[2], SIDES[2]))
        self.enlarge1 = nn.Upsample(size=(SIDES[1], SIDES[1]), mode="bilinear", align_corners=True)
        self.conv1 = nn.Conv2d(WIDE, 8, 3, padding=1)
        self.relu3 = nn.ReLU()
        self.enlarge2 = nn.Upsample(size=(SIDES[0], SIDES[0]), mode="bilinear", align_corners=True)
        self.conv2 = nn.Conv2d(8, 1, 3, padding=1)
        self.grey = nn.Sigmoid()

    def logits(self, z: Tensor) -> Tensor:
        """Return what the grey values are the logistic function of, (N, 1, 29, 29)."""
        h = self.relu1(self.widen(z))
        h = h if self.fold is None else self.fold(h)
        maps = self.unflatten(self.relu2(self.maps(h)))  # (N, 16, 8, 8)
        maps = self.relu3(self.conv1(self.enlarge1(maps)))  # (N, 8, 15, 15)
        return self.conv2(self.enlarge2(maps))

    def forward(self, z: Tensor) -> Tensor:
        return self.grey(self.logits(z))


SAMPLING = ("mean", "reparametrised", "stopped")


class Sampling(nn.Module):
    """Draw z from N(μ, σ²), as z = μ + σ ε with ε from N(0, 1): the reparametrisation.

    In training ε is drawn anew. A network that is looked at has one ε for good, or none: "mean" hands on μ. "stopped"
    draws the same z as a bare number, as sampling without the reparametrisation would: no gradient reaches μ or σ.

    Shapes:
        mean, log_variance (N, d) -> (N, d).
    """

    noise: Tensor

    def __init__(self, dims: int, mode: str = "mean") -> None:
        super().__init__()
        if mode not in SAMPLING:
            raise ValueError(f"codes are {', '.join(SAMPLING)}, not {mode!r}")
        self.mode = mode
        noise = torch.randn(dims, generator=torch.Generator().manual_seed(29))
        self.register_buffer("noise", noise, persistent=False)

    def forward(self, mean: Tensor, log_variance: Tensor) -> Tensor:
        if self.mode == "mean" and not self.training:
            return mean + 0.0  # a value of its own: the code is not the mean's tensor
        noise = torch.randn_like(mean) if self.training else self.noise.to(mean)
        z = mean + torch.exp(log_variance / 2) * noise
        return z.detach() if self.mode == "stopped" else z
