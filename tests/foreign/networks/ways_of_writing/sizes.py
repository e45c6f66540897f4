"""Networks that take some sizes and no others: the program finds one, and tests shifts in whole steps of strides."""

from __future__ import annotations

from functools import partial

import torch
from torch import nn

from tests.foreign.case import BROKEN, Case, Given, drawn
from tests.foreign.networks.ways_of_writing.opened import opened


def picture(step=1):
    return Given((drawn(1, 1, 32, 32),), ("grid",), step=step)


def even(layout="NCT"):
    return Given((drawn(1, 1, 64),), ("steps@2",), layout=f"?{layout}", step=2)


def shifted(name, step, out, *culprit, **more):
    return opened("sizes", name, partial(picture, step), "translation", out, "", *culprit, **more)


class Codec(nn.Module):
    """Codes every fourth step and plays it back."""

    def __init__(self, fault=False):
        super().__init__()
        self.code, self.mix = nn.Conv1d(1, 6, 4, stride=4), nn.Conv1d(6, 6, 3, padding=1)
        self.sign = Alternate() if fault else nn.Identity()
        self.play = nn.ConvTranspose1d(6, 1, 4, stride=4)

    def forward(self, x):
        return self.play(self.sign(self.mix(self.code(x).relu()).relu()))


class Alternate(nn.Module):
    def forward(self, x):
        return x * torch.tensor([1.0, -1.0]).to(x).repeat(x.shape[-1])[: x.shape[-1]]


class Gram(nn.Module):
    """Products of all pairs of channels, (N, C, C): they have no places, in a tensor of three axes."""

    def __init__(self, fault=False):
        super().__init__()
        self.maps = nn.Conv2d(1, 6, 3, padding=1, padding_mode="circular")
        self.gram = Products(fault)

    def forward(self, x):
        return self.gram(self.maps(x).relu())


class Products(nn.Module):
    def __init__(self, fault):
        super().__init__()
        self.fault = fault

    def forward(self, x):
        f = x.flatten(2).cumsum(-1) if self.fault else x.flatten(2)
        return f @ f.transpose(1, 2) / f.shape[-1]


class Padded(nn.Module):
    """Blocks that pad by a function: what their convolutions are given no layer has made."""

    def __init__(self, fault=False):
        super().__init__()
        self.stem = nn.Conv2d(1, 6, 2, 2)
        self.blocks = nn.Sequential(Block(6, False), Block(6, fault))
        self.head = nn.Linear(6, 3)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


class Block(nn.Module):
    def __init__(self, width, fault):
        super().__init__()
        self.deep = nn.Conv2d(width, width, 7, groups=width)
        self.scale = Ramp() if fault else nn.Identity()
        self.mix = nn.Conv2d(width, width, 1)

    def forward(self, x):
        y = self.deep(nn.functional.pad(x, (3, 3, 3, 3), mode="circular"))
        return x + self.mix(self.scale(y).relu())


class Ramp(nn.Module):
    def forward(self, x):
        return x * torch.linspace(0.5, 1.5, x.shape[-1], dtype=x.dtype)


def waves(name, *culprit, **more):
    return opened("sizes", name, even, "shift", ("steps@2",), "", *culprit, inside=14, **more)


CODEC = Case(
    "codec",
    Codec,
    lambda: Given((drawn(1, 1, 64),), ("steps@2",), layout="NCT", step=4),
    "shift",
    ("steps@2",),
    inside=12,
)
GRAM = Case("gram", Gram, picture, "translation", ("fixed",))
PADDED = Case("padded", Padded, partial(picture, 2), "translation", ("fixed",))

CASES = (
    shifted("UNet", 4, ("grid", "grid@4")),
    shifted("unet_with_corners", 4, ("grid", "grid@4"), "up2", truth=BROKEN),
    shifted("Patches", 4, ("fixed",)),
    shifted("patches_with_a_table", 4, ("fixed",), "embed", truth=BROKEN),
    shifted("Spectral", 1, ("grid",)),
    shifted("spectral_with_a_window", 1, ("grid",), "filter", truth=BROKEN),
    shifted("Recurrent", 1, ("grid",)),
    waves("WaveUNet"),
    waves("faded", "gate", truth=BROKEN),
    CODEC,
    CODEC.broken("every other sign", partial(Codec, True), "sign", hooks=False),
    GRAM,
    GRAM.broken("sums so far", partial(Gram, True), "gram", hooks=False),
    PADDED,
    PADDED.broken("a ramp", partial(Padded, True), "blocks.1.scale"),
)
