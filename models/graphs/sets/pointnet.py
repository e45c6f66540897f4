"""PointNet: one perceptron for every point, the maximum over the points, and the few points that it heard.

Qi, Su, Mo, Guibas, "PointNet: Deep Learning on Point Sets for 3D Classification and Segmentation", 2017, eq. (1):

    f({x_1, ..., x_n}) = gamma(max_i h(x_i))

Theorem 2 there: f depends on the critical points alone, those that attain the maximum in some channel. The two small
networks that align the input and the features (T-nets) are left out: each would have critical points of its own.
"""

from __future__ import annotations

from functools import partial

from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.spaces.graph.fields import NODE
from explorer.spaces.graph.network.form import GraphInput
from models.layers.graph.pooling import Readout
from models.layers.taps import Mark
from models.training.points.shapes import SHAPES, Recipe, measured, train


class WonChannels(nn.Module):
    """Count the channels in which each point attains the maximum of its set: (N, C), (G, C), (N,) -> (N, 1)."""

    def __init__(self) -> None:
        super().__init__()
        self.out_field = NODE

    def forward(self, h: Tensor, largest: Tensor, batch: Tensor) -> Tensor:
        return (h == largest[batch]).sum(dim=1, keepdim=True).to(h.dtype)


class PointNet(nn.Module):
    """gamma(max_i h(x_i)): (N, 3), (N,) -> (G, 4).

    The last ReLU of h stands after the maximum, with which it commutes: so a point wins a channel by its value, and
    not because all values are cut to 0.
    """

    def __init__(self, channels: int = 3, classes: int = 4) -> None:
        super().__init__()
        self.point1 = nn.Linear(channels, 32)
        self.relu1 = nn.ReLU()
        self.point2 = nn.Linear(32, 64)
        self.relu2 = nn.ReLU()
        self.point3 = nn.Linear(64, 128)
        self.max = Readout("max")
        self.won = WonChannels()
        self.critical = Mark(NODE)
        self.relu3 = nn.ReLU()
        self.whole1 = nn.Linear(128, 64)
        self.relu4 = nn.ReLU()
        self.whole2 = nn.Linear(64, classes)

    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        h = self.point3(self.relu2(self.point2(self.relu1(self.point1(x)))))
        largest = self.max(h, batch)
        self.critical((self.won(h, largest, batch) > 0).to(h.dtype))
        return self.whole2(self.relu4(self.whole1(self.relu3(largest))))


RECIPE = Recipe(steps=1500)
ACCURACY = 1.0000  # of the shipped weights

CARD = Card(
    name="pointnet",
    title="PointNet: the maximum over the points",
    rows=("S1",),
    groups=("permutation",),
    reference=(
        'Qi, Su, Mo, Guibas, "PointNet: Deep Learning on Point Sets for 3D Classification and Segmentation", '
        "CVPR 2017, eq. (1) and Theorem 2"
    ),
    equation="f({x₁, …, xₙ}) = γ(max_i h(x_i))\ncritical points = {i : h_c(x_i) = max_j h_c(x_j) for some channel c}",
    summary=(
        "`critical` marks the points that win at least one channel of the maximum, and `won` counts how many: drop "
        "any other point and the answer stays the same. Shuffled points keep their marks."
    ),
    build=PointNet,
    input=GraphInput(channels=3, signals=("x", "batch"), features="position"),
    domain="set",
    sample="chair",
    weights="pointnet.safetensors",
    labels=SHAPES,
    train=partial(train, PointNet, RECIPE),
    source=(WonChannels, PointNet, Readout),
    notes=(
        *measured(19076, RECIPE, ACCURACY),
        "points that coincide win together; there are no alignment networks (T-nets)",
    ),
)
