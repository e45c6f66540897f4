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

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.declare.types.fields import Scalar
from explorer.spaces.grid.network.form import InputSpec
from models.layers.global_pooling import GlobalMean
from models.layers.seeded import seeded
from models.training.images import digits as training
from models.training.images.shifted_digits import SIZE, Resized, shifted_error
from models.training.learning import Progress

NORMS = ("batch", "layer", "instance", "group", "none", "layer (per-pixel affine)")
GROUPS = 4
EPSILON = 1e-5
MOMENTUM = 0.1
RECIPE = training.Recipe(epochs=100)  # five normalisations at once take longer to learn than one


def standardise(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """Return x~ = (x - mu) / sigma with the moments taken over `axes`."""
    mu = x.mean(axes, keepdim=True)
    variance = ((x - mu) ** 2).mean(axes, keepdim=True)
    return (x - mu) / (variance + EPSILON).sqrt()


class Normalise(nn.Module):
    """x~ over the axes that `norm` names, one of NORMS; (N, C, h, w) -> the same."""

    out_rep = Scalar()
    mean: Tensor
    variance: Tensor

    def __init__(self, norm: str, channels: int) -> None:
        super().__init__()
        self.norm = norm
        # Batch normalisation alone reads these; all kinds have them, so that the same weights fit every kind.
        self.register_buffer("mean", torch.zeros(channels))
        self.register_buffer("variance", torch.ones(channels))

    def forward(self, x: Tensor) -> Tensor:
        match self.norm:
            case "none":
                return x
            case "batch":
                return self.over_the_batch(x)
            case "instance":
                return standardise(x, (2, 3))
            case "group":
                groups = x.unflatten(1, (GROUPS, -1))  # (N, G, C/G, h, w)
                return standardise(groups, (2, 3, 4)).flatten(1, 2)
            case _:
                return standardise(x, (1, 2, 3))

    def over_the_batch(self, x: Tensor) -> Tensor:
        """Use the moments of this batch while training, and afterwards the averages kept of them."""
        if self.training:
            with torch.no_grad():
                self.mean.lerp_(x.mean((0, 2, 3)), MOMENTUM)
                self.variance.lerp_(x.var((0, 2, 3)), MOMENTUM)  # unbiased, as nn.BatchNorm2d keeps it
            return standardise(x, (0, 2, 3))
        mu, variance = self.mean[:, None, None], self.variance[:, None, None]
        return (x - mu) / (variance + EPSILON).sqrt()


class Affine(nn.Module):
    """gain * x~ + bias, one gain and bias for all places of a channel; (N, C, h, w) -> the same.

    With `places` (h, w) the gain is multiplied by a fixed random factor between 0.5 and 1.5 for every channel
    and place: what training makes of a gain per pixel, whose usual start at 1 commutes with shifts by accident.
    """

    out_rep = Scalar()
    per_place: Tensor | None

    def __init__(self, channels: int, places: tuple[int, int] | None = None) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(channels, 1, 1))
        self.bias = nn.Parameter(torch.zeros(channels, 1, 1))
        per_place = None if places is None else 0.5 + torch.rand(channels, *places)
        self.register_buffer("per_place", per_place, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        gain = self.gain if self.per_place is None else self.gain * self.per_place
        return gain * x + self.bias


class NormalisedCNN(nn.Module):
    """Three blocks: convolution, x~, gain and bias, ReLU, coarsening; (N, 1, 32, 32) -> (N, 10)."""

    def __init__(self, norm: str, channels: tuple[int, int, int] = (12, 24, 32)) -> None:
        super().__init__()
        inputs, size = 1, SIZE
        for k, outputs in enumerate(channels, start=1):
            conv = nn.Conv2d(inputs, outputs, 3, padding=1, padding_mode="circular")
            nn.init.kaiming_normal_(conv.weight, nonlinearity="relu")  # signals keep their size without x~ too
            self.add_module(f"conv{k}", conv)
            self.add_module(f"norm{k}", Normalise(norm, outputs))
            self.add_module(f"affine{k}", Affine(outputs, (size, size) if norm == NORMS[-1] else None))
            self.add_module(f"relu{k}", nn.ReLU())
            self.add_module(f"pool{k}", nn.MaxPool2d(2))
            inputs, size = outputs, size // 2
        self.global_mean = GlobalMean()
        self.classifier = nn.Linear(inputs, 10)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.children():  # in the order in which they were added
            x = layer(x)
        return x


def build(norm: float = 0) -> NormalisedCNN:
    """Build the network with one kind of normalisation."""
    return seeded(lambda: NormalisedCNN(NORMS[int(norm)]))


class AnyNorm(Resized):
    """Training with x~ over axes drawn anew for each batch: one set of weights comes to serve all choices."""

    def __init__(self, network: NormalisedCNN, seed: int) -> None:
        super().__init__(network)
        self.chance = torch.Generator().manual_seed(seed)

    def forward(self, x: Tensor) -> Tensor:
        drawn = int(torch.randint(len(NORMS) - 1, (), generator=self.chance)) if self.training else 0
        for module in self.network.modules():
            if isinstance(module, Normalise):
                module.norm = NORMS[drawn]
        return super().forward(x)


def train(
    epochs: int | None = None, seed: int = 0, progress: Progress | None = None
) -> tuple[nn.Module, dict[str, float]]:
    """Train on upright digits; return the network with batch normalisation."""
    wrapped, metrics = training.train(lambda: AnyNorm(build(), seed), RECIPE, epochs, seed, progress)
    assert isinstance(wrapped, AnyNorm)
    return wrapped.network, {**metrics, "shifted_error": shifted_error(wrapped.network)}


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
        "four keep the law of translations; a layer norm with a gain for every pixel breaks it, at affine1, "
        "affine2 and affine3."
    ),
    build=build,
    input=InputSpec(shape=(1, SIZE, SIZE)),
    weights="normalisation.safetensors",
    labels=training.DIGITS,
    params=(Param("norm", "Normalisation", 0, 0, len(NORMS) - 1, choices=NORMS),),
    train=train,
    source=(standardise, Normalise, Affine),
    notes=(
        "test errors with batch: upright 0.8 %, rotated 70.3 %, quarter turn 77.7 %, mirrored 67.6 %",
        "upright, the same weights: batch 0.8 %, layer 0.6 %, instance 1.0 %, group 1.0 %, none 0.8 %",
    ),
)
