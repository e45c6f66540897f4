"""Dynamic graph CNN: before every layer, join each point to those that its features are nearest to.

Wang, Sun, Liu, Sarma, Bronstein, Solomon, "Dynamic Graph CNN for Learning on Point Clouds", 2019, eq. (1)-(8):

    G^l = the k nearest neighbours (itself included) in the features x^l
    x_i^{l+1} = max over j -> i in G^l of h([x_i, x_j - x_i])
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.declare.types.fields import PAIR
from explorer.spaces.graph.fields import NODE
from explorer.spaces.graph.network.form import GraphInput
from models.layers.graph.pooling import Readout
from models.layers.taps import Tap
from models.training.points.shapes import SHAPES, Recipe, measured, train

TIE = 1e-5  # relative; distances that are nearer than this are equal


class NearestNeighbours(nn.Module):
    """The inferred graph: A_ij = 1 where j is among the k points of the same cloud nearest to i, else 0.

    A point is its own nearest neighbour. Neighbours that tie for the last place are all taken, so that the graph does
    not depend on the order of the points; a point has then more than k. (N, C), (N,) -> (1, N, N).
    """

    def __init__(self, k: int) -> None:
        super().__init__()
        self.k = k
        self.out_field = PAIR

    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        if not len(x):
            return x.new_zeros(1, 0, 0)
        # without the shortcut by a matrix product, whose rounding depends on the order of the points
        apart = torch.cdist(x.detach(), x.detach(), compute_mode="donot_use_mm_for_euclid_dist")
        apart = apart.masked_fill(batch[:, None] != batch[None, :], torch.inf)
        last = apart.kthvalue(min(self.k, len(x)), dim=1, keepdim=True).values
        near = (apart <= last * (1 + TIE)) & apart.isfinite()
        return near.to(x.dtype)[None]

    def extra_repr(self) -> str:
        return f"k={self.k}"


class EdgeConv(nn.Module):
    """max over j -> i of LeakyReLU(W [x_i, x_j - x_i] + b), 0 where nothing arrives: (N, C), (1, N, N) -> (N, D).

    On the same edges equal to torch_geometric.nn.EdgeConv. The leaky ReLU rises, so the maximum is taken before it.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.nn = nn.Linear(2 * inputs, outputs)
        self.out_field = NODE

    def forward(self, x: Tensor, adjacency: Tensor) -> Tensor:
        receiver, sender = adjacency[0].nonzero().T
        pairs = torch.cat([x[receiver], x[sender] - x[receiver]], dim=1)
        # not as a layer: its rows are edges of the inferred graph, which are no field over the points
        messages = F.linear(pairs, self.nn.weight, self.nn.bias)
        largest = x.new_zeros(len(x), messages.shape[1])
        where = receiver[:, None].expand_as(messages)
        return F.leaky_relu(largest.scatter_reduce(0, where, messages, "amax", include_self=False), 0.2)


class DynamicGraphCNN(nn.Module):
    """Three edge convolutions, each on its own graph; all their features, the maximum over the points, classes.

    (N, 3), (N,) -> (G, 4).
    """

    def __init__(
        self, k: int, channels: int = 3, widths: tuple[int, int, int] = (24, 24, 48), classes: int = 4
    ) -> None:
        super().__init__()
        inputs = channels
        for layer, width in enumerate(widths, start=1):
            self.add_module(f"neighbours{layer}", NearestNeighbours(k))
            self.add_module(f"edge_conv{layer}", EdgeConv(inputs, width))
            inputs = width
        self.layers = len(widths)
        self.features = Tap(NODE)
        self.mix = nn.Linear(sum(widths), 64)
        self.max = Readout("max")
        self.relu = nn.ReLU()
        self.head = nn.Linear(64, classes)

    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        found = []
        for layer in range(1, self.layers + 1):
            adjacency = self.get_submodule(f"neighbours{layer}")(x, batch)
            x = self.get_submodule(f"edge_conv{layer}")(x, adjacency)
            found.append(x)
        features = self.features(torch.cat(found, dim=1))
        return self.head(self.relu(self.max(self.mix(features), batch)))


def build(k: float = 8) -> nn.Module:
    """Build the network that joins each point to its k nearest, itself included."""
    return DynamicGraphCNN(int(k))


RECIPE = Recipe(steps=500, batch=4)
ACCURACY = 1.0000  # of the shipped weights

CARD = Card(
    name="dgcnn",
    title="Dynamic graph CNN: neighbours inferred in each layer",
    rows=("S3",),
    groups=("permutation",),
    reference=(
        'Wang, Sun, Liu, Sarma, Bronstein, Solomon, "Dynamic Graph CNN for Learning on Point Clouds", ACM TOG 2019, '
        "sections 3.1 and 3.2, eq. (8)"
    ),
    equation=(
        "Gˡ = kNN(xˡ), self-loops included\n"
        "xᵢˡ⁺¹ = max_{j : (j,i) ∈ Gˡ} h_Θ([xᵢˡ, xⱼˡ − xᵢˡ])\n"
        "f = head(max_i [x¹, x², x³]ᵢ W)"
    ),
    summary=(
        "`neighbours1` joins points that are near in space, `neighbours2` and `neighbours3` points whose features are "
        "alike: watch how the inferred graph leaves the geometry. Its rows and columns move with the points."
    ),
    build=build,
    input=GraphInput(channels=3, signals=("x", "batch"), features="position", most=2048),
    domain="set",
    sample="torus",
    weights="dgcnn.safetensors",
    labels=SHAPES,
    train=partial(train, build, RECIPE),
    params=(Param("k", "Neighbours", 8, 1, 40, whole=True),),
    source=(NearestNeighbours, EdgeConv, DynamicGraphCNN),
    notes=(
        *measured(10164, RECIPE, ACCURACY),
        "ties: on a regular cloud several points are the k-th nearest at once; all of them are joined, so that rows of "
        "the graph can have more than k ones. Choosing the one listed first would break the law",
    ),
)
