"""Normalisation: what is averaged over decides what a layer forgets, and whether it commutes with shifts.

Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.1 (Normalisation):

    x~ = (x - mu) / sigma,   y = gain * x~ + bias

mu and sigma are the mean and the standard deviation over some of the axes of x, (sample, channel, row,
column):

    batch      sample, row, column       Ioffe and Szegedy, 2015; when judging, averages kept from training
    layer      channel, row, column      Ba, Kiros, Hinton, 2016
    instance   row, column               Ulyanov, Vedaldi, Lempitsky, 2016
    group      some channels, row, col.  Wu and He, 2018

All four average over every place, so they commute with shifts as long as gain and bias do not depend on the
place. Layer normalisation is often written with a gain for every place and channel: that breaks the law.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from explorer.card import Card, InputSpec
from explorer.fields import Scalar
from explorer.params import Param
from models import training
from models.cnn_blocks import SIZE, Framed, GlobalMean

NORMS = ("batch", "layer", "instance", "group", "none", "layer (per-pixel affine)")
GROUPS = 4
EPSILON = 1e-5
MOMENTUM = 0.1
RECIPE = training.Recipe()


def standardise(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """Return x~ = (x - mu) / sigma with the moments taken over `axes`."""
    mu = x.mean(axes, keepdim=True)
    variance = ((x - mu) ** 2).mean(axes, keepdim=True)
    return (x - mu) / (variance + EPSILON).sqrt()


class Normalise(nn.Module):
    """x~ over the axes of one sample; (N, C, h, w) -> the same."""

    out_rep = Scalar()

    def __init__(self, norm: str) -> None:
        super().__init__()
        self.norm = norm

    def forward(self, x: Tensor) -> Tensor:
        match self.norm:
            case "instance":
                return standardise(x, (2, 3))
            case "group":
                groups = x.unflatten(1, (GROUPS, -1))  # (N, G, C/G, h, w)
                return standardise(groups, (2, 3, 4)).flatten(1, 2)
            case _:
                return standardise(x, (1, 2, 3))


class NormaliseBatch(nn.Module):
    """x~ over the batch while training, and with the running moments afterwards; (N, C, h, w) -> the same."""

    out_rep = Scalar()
    mean: Tensor
    variance: Tensor

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(channels))
        self.register_buffer("variance", torch.ones(channels))

    def forward(self, x: Tensor) -> Tensor:
        if self.training:
            with torch.no_grad():
                self.mean.lerp_(x.mean((0, 2, 3)), MOMENTUM)
                self.variance.lerp_(x.var((0, 2, 3)), MOMENTUM)  # unbiased, as nn.BatchNorm2d keeps it
            return standardise(x, (0, 2, 3))
        mu, variance = self.mean[:, None, None], self.variance[:, None, None]
        return (x - mu) / (variance + EPSILON).sqrt()


class Affine(nn.Module):
    """gain * x~ + bias; the gain has `shape` (C, 1, 1), one for all places, or (C, h, w), one for each."""

    out_rep = Scalar()

    def __init__(self, shape: tuple[int, int, int]) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(shape))
        self.bias = nn.Parameter(torch.zeros(shape))
        if shape[1:] != (1, 1):
            # What training would make of it; the usual start at 1 and 0 commutes with shifts by accident.
            nn.init.uniform_(self.gain, 0.5, 1.5)
            nn.init.uniform_(self.bias, -0.2, 0.2)

    def forward(self, x: Tensor) -> Tensor:
        return self.gain * x + self.bias


class NormalisedCNN(nn.Module):
    """Three blocks: convolution, x~, gain and bias, ReLU, coarsening; (N, 1, 32, 32) -> (N, 10)."""

    def __init__(self, norm: str, channels: tuple[int, int, int] = (12, 24, 32)) -> None:
        super().__init__()
        inputs, size = 1, SIZE
        for k, outputs in enumerate(channels, start=1):
            places = (size, size) if norm == "layer (per-pixel affine)" else (1, 1)
            conv = nn.Conv2d(inputs, outputs, 3, padding=1, padding_mode="circular")
            self.add_module(f"conv{k}", conv)
            match norm:
                case "none":
                    self.add_module(f"norm{k}", nn.Identity())
                case "batch":
                    self.add_module(f"norm{k}", NormaliseBatch(outputs))
                case _:
                    self.add_module(f"norm{k}", Normalise(norm))
            self.add_module(f"affine{k}", Affine((outputs, *places)))
            self.add_module(f"relu{k}", nn.ReLU())
            self.add_module(f"pool{k}", nn.MaxPool2d(2))
            inputs, size = outputs, size // 2
        self.global_mean = GlobalMean()
        self.classifier = nn.Linear(inputs, 10)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.children():  # in the order in which they were added
            x = layer(x)
        return x


def build(norm: float = 0) -> nn.Module:
    """Build the network with one kind of normalisation."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return NormalisedCNN(NORMS[int(norm)])


def train(
    epochs: int | None = None, seed: int = 0, progress: training.Progress | None = None
) -> tuple[nn.Module, dict[str, float]]:
    """Train the network with batch normalisation on upright digits."""
    framed, metrics = training.train(lambda: Framed(build()), RECIPE, epochs, seed, progress)
    assert isinstance(framed, Framed)
    return framed.network, metrics


CARD = Card(
    name="normalisation",
    title="Normalisation: batch, layer, instance, group",
    rows=("G5",),
    groups=("translation",),
    reference=(
        'Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.1 (Normalisation); '
        "Ioffe and Szegedy, 2015; Ba, Kiros, Hinton, 2016; Ulyanov, Vedaldi, Lempitsky, 2016; Wu and He, 2018"
    ),
    equation=(
        "x̃ = (x − μ) / σ,   y = γ x̃ + β\n"
        "batch: μ, σ over samples and places; layer: channels and places\n"
        "instance: places; group: some of the channels and places"
    ),
    summary=(
        "Compare conv1 (before) with norm1 (after) and change what is averaged over. Brightness and "
        "contrast of the image survive batch normalisation and vanish under instance normalisation. All "
        "four keep the law of translations; the layer norm with a gain for every pixel breaks it, at "
        "affine1."
    ),
    build=build,
    input=InputSpec(shape=(1, SIZE, SIZE)),
    weights="normalisation.safetensors",
    labels=training.DIGITS,
    params=(Param("norm", "Normalisation", 0, 0, len(NORMS) - 1, choices=NORMS),),
    train=train,
    source=(standardise, Normalise, NormaliseBatch, Affine),
)
