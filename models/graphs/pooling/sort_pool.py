"""SortPool: put the nodes of a graph into a canonical order by a feature, and keep the first k.

Zhang, Cui, Neumann, Chen, "An End-to-End Deep Learning Architecture for Graph Classification", 2018, section 3.2:

    Z = [Z¹, ..., Z^h],   rows sorted by the last channel, descending, cut or padded with zeros to k rows

Rows whose last channels are equal are compared by the channel before, and so on, as the paper says.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.declare.types.fields import INVARIANT
from explorer.spaces.graph.fields import NODE
from explorer.spaces.graph.network.form import GraphInput
from models.layers.graph.pooling import GraphConv, Highest, ranked, standing
from models.layers.taps import Tap
from models.training.graphs.motifs import LABELS, Recipe, measured, train


class SortPool(nn.Module):
    """Sort the nodes of each graph by their last channel, descending, and keep k: (N, C), (N,) -> (G, k, C).

    Graphs with fewer nodes are filled up with zeros. Equals torch_geometric.nn.SortAggregation where nothing ties;
    that one leaves ties in the order of the nodes, and so breaks the law.
    """

    def __init__(self, k: int) -> None:
        super().__init__()
        self.k = k
        self.out_field = INVARIANT

    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        order, first = ranked(standing(x, batch), batch)
        graph = batch[order]
        place = torch.arange(len(order), device=x.device) - first[graph]
        kept = place < self.k
        rows = x.new_zeros(len(first), self.k, x.shape[1])
        return rows.index_put((graph[kept], place[kept]), x[order[kept]])

    def extra_repr(self) -> str:
        return f"k={self.k}"


class SortPoolNet(nn.Module):
    """Graph convolutions, SortPool over all their channels, a convolution along the sorted nodes, classes.

    (N, 8), (2, E), (N,) -> (G, 4). The last convolution has one channel: the colour that the nodes are sorted by.
    """

    def __init__(self, k: int, channels: int = 8, width: int = 16, classes: int = 4) -> None:
        super().__init__()
        self.conv1 = GraphConv(channels, width)
        self.tanh1 = nn.Tanh()
        self.conv2 = GraphConv(width, width)
        self.tanh2 = nn.Tanh()
        self.conv3 = GraphConv(width, 1)
        self.colour = nn.Tanh()
        self.stacked = Tap(NODE)
        self.survivors = Highest(k)
        self.sorted = SortPool(k)
        # a 1-D convolution whose window and stride are one node is one linear map for every row
        self.rows = nn.Linear(2 * width + 1, width)
        self.relu = nn.ReLU()
        self.flat = Tap(INVARIANT)
        self.head = nn.Linear(k * width, classes)
        for rowwise in (self.rows, self.relu, self.head):
            rowwise.out_field = INVARIANT  # type: ignore[assignment]

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        first = self.tanh1(self.conv1(x, edge_index))
        second = self.tanh2(self.conv2(first, edge_index))
        colour = self.colour(self.conv3(second, edge_index))
        stacked = self.stacked(torch.cat([first, second, colour], dim=1))
        self.survivors(colour, batch)
        rows = self.relu(self.rows(self.sorted(stacked, batch)))  # (G, k, width)
        return self.head(self.flat(rows.flatten(1)))


def build(k: float = 10) -> nn.Module:
    """Build the network that keeps k nodes of each graph."""
    return SortPoolNet(int(k))


RECIPE = Recipe(steps=4000, rate=2e-3, kept="survivors")
FOUND = {"accuracy": 0.9975, "motif_kept": 0.9969, "others_kept": 0.2711}  # of the shipped weights

CARD = Card(
    name="sort-pool",
    title="SortPool: sort the nodes, keep k",
    rows=("N5",),
    groups=("permutation",),
    reference=(
        'Zhang, Cui, Neumann, Chen, "An End-to-End Deep Learning Architecture for Graph Classification", AAAI 2018, '
        "section 3.2 (SortPooling)"
    ),
    equation=(
        "Z = [Z¹, Z², Z³],   Zᵗ⁺¹ = tanh(W₁ Zᵗ + W₂ A Zᵗ + b)\n"
        "SortPool(Z) = first k rows of Z sorted by the last channel, descending; zeros below"
    ),
    summary=(
        "Sorting by a feature that moves with the nodes gives every graph an order of its own: the rows of `sorted` "
        "do not move when the nodes are shuffled. `survivors` marks the nodes that are among the first k by `colour`."
    ),
    build=build,
    input=GraphInput(channels=8, signals=("x", "edge_index", "batch"), features="atoms"),
    domain="graph",
    sample="planted-wheel",
    weights="sort-pool.safetensors",
    labels=LABELS,
    train=partial(train, build, RECIPE),
    params=(Param("k", "Nodes kept", 10, 1, 40, whole=True),),
    source=(SortPool, SortPoolNet),
    notes=(
        *measured(2021, RECIPE, FOUND),
        "nodes of equal colour are compared by the channel before, and so on; where the network cannot tell them apart "
        "at all their rows are equal, and nothing depends on which comes first",
        "`survivors` marks all nodes that tie for the last place, so there may be more than k",
    ),
)
