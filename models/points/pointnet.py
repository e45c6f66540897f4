"""PointNet in space: one perceptron for every point, the maximum over the points, and the few points that decide it.

Qi, Su, Mo, Guibas, "PointNet: Deep Learning on Point Sets for 3D Classification and Segmentation", 2017, eq. (1):

    f({x_1, ..., x_n}) = γ(max_i h(x_i))

It reads coordinates, so it forgives any renumbering and no turn. The networks that align the input are left out.
"""

from __future__ import annotations

from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.spaces.graph.fields import GRAPH
from explorer.spaces.points.fields import PARTICLE
from explorer.spaces.points.network.form import PointsInput

MOST = 1_000_000  # points: each takes a kilobyte in all layers, and several runs are kept


class Largest(nn.Module):
    """The maximum over the points: (N, C) -> (1, C)."""

    out_field = GRAPH

    def forward(self, h: Tensor) -> Tensor:
        return h.amax(0, keepdim=True)


class Decided(nn.Module):
    """Count the channels in which each point attains the maximum: (N, C), (1, C) -> (N, 1)."""

    out_field = PARTICLE

    def forward(self, h: Tensor, largest: Tensor) -> Tensor:
        return (h == largest).to(h.dtype).sum(1, keepdim=True)  # adding truth values takes longer


class PointNet(nn.Module):
    """γ(max_i h(x_i)): position (N, 3) -> (1, 4)."""

    def __init__(self) -> None:
        super().__init__()
        self.point1, self.point2, self.point3 = nn.Linear(3, 32), nn.Linear(32, 64), nn.Linear(64, 64)
        self.relu1, self.relu2, self.relu3 = nn.ReLU(), nn.ReLU(), nn.ReLU()
        self.max = Largest()
        self.critical = Decided()
        self.head = nn.Linear(64, 4)

    def forward(self, position: Tensor) -> Tensor:
        h = self.point3(self.relu2(self.point2(self.relu1(self.point1(position)))))
        largest = self.max(h)
        self.critical(h, largest)
        return self.head(self.relu3(largest))


CARD = Card(
    name="pointnet-space",
    title="PointNet in space: the points that decide",
    rows=("S1",),
    groups=("permutation",),
    reference='Qi, Su, Mo, Guibas, "PointNet: Deep Learning on Point Sets", CVPR 2017, eq. (1) and theorem 2',
    equation="f({x₁, …, xₙ}) = γ(maxᵢ h(xᵢ))",
    summary=(
        "`critical` counts in how many channels a point attains the maximum: most of them in none, and only the others "
        "decide the answer. Turn the cloud and others decide. It takes up to a million points: try `torus-large`, with "
        "100,000. The parameters are not trained."
    ),
    build=PointNet,
    input=PointsInput(signals=("position",), most=MOST),
    domain="points",
    sample="chair-3d",
    source=(PointNet, Decided),
)
