"""The block of a convolutional network, and what becomes of translations at its end.

Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.1, eq. (29):

    h = P(sigma(F(x)))

F is a convolution, sigma acts point by point, and P coarsens the grid: the maximum of each 2 x 2 patch, a
local mean before every second place is kept (anti-aliased), or every second place and nothing else. All three
commute with shifts by whole patches, none with smaller ones. Then either the mean over all places, which no
shift can change, or flatten and an MLP, for which every place is another input.

The anti-aliasing filter is the binomial [1 2 1] / 4 of Zhang, "Making Convolutional Networks Shift-Invariant
Again", 2019.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.declare.types.fields import Scalar
from explorer.spaces.grid.network.form import InputSpec
from models.layers.global_pooling import GlobalMean
from models.training.images import digits as training
from models.training.images.shifted_digits import SIZE, Resized, shifted_error
from models.training.learning import Progress

POOLINGS = ("max", "average (anti-aliased)", "strided")
CHANNELS = (1, 12, 24, 32)
RECIPE = training.Recipe(epochs=100)  # three coarsenings at once take longer to learn than one


class Blur(nn.Module):
    """Smooth each channel with [1 2 1] x [1 2 1] / 16 on the torus; (N, C, h, w) -> the same."""

    out_rep = Scalar()
    kernel_size = 3

    def forward(self, x: Tensor) -> Tensor:
        x = (x.roll(1, -1) + 2 * x + x.roll(-1, -1)) / 4
        return (x.roll(1, -2) + 2 * x + x.roll(-1, -2)) / 4


class Subsample(nn.Module):
    """Keep every `stride`-th place of both axes, the first one included; (N, C, h, w) -> (N, C, h/s, w/s)."""

    out_rep = Scalar()

    def __init__(self, stride: int = 2) -> None:
        super().__init__()
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        return x[..., :: self.stride, :: self.stride]


def coarsening(pooling: str) -> nn.Module:
    """Return P, halving the grid in one of the three ways of POOLINGS."""
    match pooling:
        case "max":
            return nn.MaxPool2d(2)
        case "strided":
            return Subsample(2)
        case _:
            return nn.Sequential(OrderedDict(blur=Blur(), subsample=Subsample(2)))


class Block(nn.Module):
    """h = P(sigma(F(x))), eq. (29); (N, inputs, h, w) -> (N, outputs, h/2, w/2)."""

    def __init__(self, inputs: int, outputs: int, pooling: str) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 3, padding=1, padding_mode="circular")  # F
        self.relu = nn.ReLU()  # sigma
        self.pool = coarsening(pooling)  # P
        nn.init.kaiming_normal_(self.conv.weight, nonlinearity="relu")  # signals keep their size

    def forward(self, x: Tensor) -> Tensor:
        return self.pool(self.relu(self.conv(x)))


class BlockCNN(nn.Module):
    """Three blocks and a head; (N, 1, 32, 32) -> (N, 10).

    Args:
        head: turns the last maps, (N, 32, 4, 4), into class scores.
        pooling: one of POOLINGS; it has no parameters, so the same weights fit all three.
    """

    def __init__(self, head: nn.Module, pooling: str = "max") -> None:
        super().__init__()
        self.block1 = Block(CHANNELS[0], CHANNELS[1], pooling)
        self.block2 = Block(CHANNELS[1], CHANNELS[2], pooling)
        self.block3 = Block(CHANNELS[2], CHANNELS[3], pooling)
        self.head = head

    def coarsen(self, pooling: str) -> None:
        """Exchange P in all three blocks."""
        for block in (self.block1, self.block2, self.block3):
            block.pool = coarsening(pooling)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.block3(self.block2(self.block1(x))))


def build_global(pooling: float = 0) -> BlockCNN:
    """Build the network that ends in a mean over all places."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        head = nn.Sequential(OrderedDict(global_mean=GlobalMean(), classifier=nn.Linear(CHANNELS[3], 10)))
        return BlockCNN(head, POOLINGS[int(pooling)])


def build_flatten(pooling: float = 0) -> BlockCNN:
    """Build the network that ends in flatten and an MLP."""
    places = (SIZE // 8) ** 2
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        mlp = OrderedDict[str, nn.Module](
            flatten=nn.Flatten(),
            hidden=nn.Linear(CHANNELS[3] * places, 32),
            relu=nn.ReLU(),
            classifier=nn.Linear(32, 10),
        )
        return BlockCNN(nn.Sequential(mlp), POOLINGS[int(pooling)])


class AnyPooling(Resized):
    """The same with P drawn anew for each training batch: one set of weights comes to serve all three."""

    def __init__(self, network: BlockCNN, seed: int) -> None:
        super().__init__(network)
        self.chance = torch.Generator().manual_seed(seed)

    def forward(self, x: Tensor) -> Tensor:
        assert isinstance(self.network, BlockCNN)
        drawn = int(torch.randint(len(POOLINGS), (), generator=self.chance)) if self.training else 0
        self.network.coarsen(POOLINGS[drawn])
        return super().forward(x)


def trainer(build: Callable[[], BlockCNN]) -> Callable[..., tuple[nn.Module, dict[str, float]]]:
    """Return the training function of a card."""

    def train(
        epochs: int | None = None, seed: int = 0, progress: Progress | None = None
    ) -> tuple[nn.Module, dict[str, float]]:
        wrapped, metrics = training.train(lambda: AnyPooling(build(), seed), RECIPE, epochs, seed, progress)
        assert isinstance(wrapped, AnyPooling)
        return wrapped.network, {**metrics, "shifted_error": shifted_error(wrapped.network)}

    return train


REFERENCE = 'Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.1, eq. (29)'
POOLING = Param("pooling", "Coarsening P", 0, 0, 2, choices=POOLINGS)

CARD = (
    Card(
        name="cnn-global",
        title="CNN with global pooling",
        rows=("G3",),
        groups=("translation",),
        reference=REFERENCE,
        equation="h = P(σ(F(x)))   (29), three times\ny = W · mean_u h(u) + b",
        summary=(
            "Convolution, ReLU and coarsening, three times, then the mean over all places. Shift the digit "
            "by a multiple of 8 pixels: the maps shift along and the scores do not move. Shift it by 1: the "
            "error that subsampling makes appears at the first pooling layer, and it is smallest for the "
            "anti-aliased one."
        ),
        build=build_global,
        input=InputSpec(shape=(1, SIZE, SIZE)),
        weights="cnn-global.safetensors",
        labels=training.DIGITS,
        params=(POOLING,),
        train=trainer(build_global),
        source=(Block, coarsening, Blur, Subsample, GlobalMean),
        notes=(
            "test errors: upright 1.8 %, rotated 71.6 %, quarter turn 75.3 %, mirrored 68.0 %",
            "shifted by any number of pixels: max 5.9 %, average 3.0 %, strided 49.8 %",
            "one set of weights for all three coarsenings (upright 1.8 %, 2.6 %, 2.2 %)",
        ),
    ),
    Card(
        name="cnn-flatten",
        title="CNN with flatten and an MLP",
        rows=("G3",),
        reference=REFERENCE,
        equation="h = P(σ(F(x)))   (29), three times\ny = MLP(flatten(h))",
        summary=(
            "The same three blocks, but the last maps are flattened into an MLP, for which every place is "
            "another input. No law is claimed; check it against translation and the first dense layer is "
            "found guilty, with every layer before it still exact."
        ),
        build=build_flatten,
        input=InputSpec(shape=(1, SIZE, SIZE)),
        weights="cnn-flatten.safetensors",
        labels=training.DIGITS,
        params=(POOLING,),
        train=trainer(build_flatten),
        source=(Block, coarsening, build_flatten),
        notes=(
            "test errors: upright 1.4 %, rotated 73.6 %, quarter turn 81.5 %, mirrored 70.4 %",
            "shifted by any number of pixels: max 83.2 %, average 89.4 %, strided 91.2 %",
            "one set of weights for all three coarsenings (upright 1.4 %, 1.8 %, 2.2 %)",
        ),
    ),
)
