"""DiffPool: assign every node softly to one of K clusters, and go on with the graph of the clusters.

Ying, You, Morris, Ren, Hamilton, Leskovec, "Hierarchical Graph Representation Learning with Differentiable Pooling",
2018, eq. (3)-(6), with the two losses of section 3.3:

    Z = GNN_embed(A, X),   S = softmax(GNN_pool(A, X)),   X' = S^T Z,   A' = S^T A S
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
from models.layers.graph.aggregation import graphs_in
from models.layers.graph.pooling import GraphConv, ranked
from models.layers.taps import Mark, Tap
from models.training.graphs.motifs import LABELS, Recipe, measured, train

SMALL = 1e-15  # keeps the logarithm of 0 finite, as in torch_geometric


class CoarseFeatures(nn.Module):
    """X' = S^T Z of each graph: (N, K), (N, C), (N,) -> (G, K, C)."""

    def __init__(self) -> None:
        super().__init__()
        self.out_field = INVARIANT

    def forward(self, assignment: Tensor, z: Tensor, batch: Tensor) -> Tensor:
        coarse = z.new_zeros(graphs_in(batch), assignment.shape[1], z.shape[1])
        return coarse.index_add(0, batch, assignment[:, :, None] * z[:, None, :])


class CoarseAdjacency(nn.Module):
    """A' = S^T A S of each graph, A_ij the number of edges j -> i: (N, K), (2, E), (N,) -> (G, K, K), to and from."""

    def __init__(self) -> None:
        super().__init__()
        self.out_field = INVARIANT

    def forward(self, assignment: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        sender, receiver = edge_index
        clusters = assignment.shape[1]
        coarse = assignment.new_zeros(graphs_in(batch), clusters, clusters)
        between = assignment[receiver][:, :, None] * assignment[sender][:, None, :]
        return coarse.index_add(0, batch[receiver], between)


def padded(values: Tensor, batch: Tensor) -> tuple[Tensor, Tensor]:
    """Return the rows of each graph one after another, (G, M, C), zeros at the end; and each node's place, (N,)."""
    order, first = ranked(torch.zeros_like(batch), batch)
    place = torch.empty_like(batch)
    place[order] = torch.arange(len(batch), device=batch.device) - first[batch[order]]
    most = int(place.max()) + 1 if len(place) else 1
    dense = values.new_zeros(len(first), most, values.shape[1])
    return dense.index_put((batch, place), values), place


class LinkLoss(nn.Module):
    """||A - S S^T||_F / (G M²): nodes that are joined should share a cluster; (N, K), (2, E), (N,) -> (1, 1)."""

    def __init__(self) -> None:
        super().__init__()
        self.out_field = INVARIANT

    def forward(self, assignment: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        rows, place = padded(assignment, batch)
        sender, receiver = edge_index
        adjacency = rows.new_zeros(len(rows), rows.shape[1], rows.shape[1])
        ones = rows.new_ones(edge_index.shape[1])
        adjacency = adjacency.index_put((batch[receiver], place[receiver], place[sender]), ones, accumulate=True)
        return ((adjacency - rows @ rows.mT).norm() / adjacency.numel()).reshape(1, 1)


class EntropyLoss(nn.Module):
    """Mean entropy of the nodes' assignments: each node should be in one cluster; (N, K), (N,) -> (1, 1)."""

    def __init__(self) -> None:
        super().__init__()
        self.out_field = INVARIANT

    def forward(self, assignment: Tensor, batch: Tensor) -> Tensor:
        rows, _ = padded(assignment, batch)
        return -(rows * (rows + SMALL).log()).sum(-1).mean().reshape(1, 1)


class CoarseConv(nn.Module):
    """W₁ X' + W₂ A' X' + b on the clusters: (G, K, C), (G, K, K) -> (G, K, D)."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.lin_rel = nn.Linear(inputs, outputs)
        self.lin_root = nn.Linear(inputs, outputs, bias=False)
        self.out_field = self.lin_rel.out_field = self.lin_root.out_field = INVARIANT  # type: ignore[assignment]

    def forward(self, x: Tensor, adjacency: Tensor) -> Tensor:
        return self.lin_rel(adjacency @ x) + self.lin_root(x)


class DiffPoolNet(nn.Module):
    """A convolution, the pooling onto K clusters, a convolution of the clusters, their mean, and classes.

    (N, 8), (2, E), (N,) -> (G, 4).
    """

    def __init__(self, clusters: int, channels: int = 8, width: int = 24, classes: int = 4) -> None:
        super().__init__()
        self.conv = GraphConv(channels, width)
        self.relu = nn.ReLU()
        self.embed = GraphConv(width, width)
        self.pool = GraphConv(width, clusters)
        self.assignment = nn.Softmax(dim=1)
        self.assignment.out_field = NODE  # type: ignore[assignment]
        self.cluster = Mark(NODE)
        self.link_loss = LinkLoss()
        self.entropy_loss = EntropyLoss()
        self.coarse_features = CoarseFeatures()
        self.coarse_adjacency = CoarseAdjacency()
        self.coarse_conv = CoarseConv(width, width)
        self.coarse_relu = nn.ReLU()
        self.coarse_relu.out_field = INVARIANT  # type: ignore[assignment]
        self.mean = Tap(INVARIANT)
        self.head = nn.Linear(width, classes)
        self.head.out_field = INVARIANT  # type: ignore[assignment]

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        h = self.relu(self.conv(x, edge_index))
        z = self.embed(h, edge_index)
        assignment = self.assignment(self.pool(h, edge_index))
        self.cluster(assignment.argmax(dim=1, keepdim=True).to(x.dtype))
        self.link_loss(assignment, edge_index, batch)
        self.entropy_loss(assignment, batch)
        coarse = self.coarse_features(assignment, z, batch)
        adjacency = self.coarse_adjacency(assignment, edge_index, batch)
        coarse = self.coarse_relu(self.coarse_conv(coarse, adjacency))
        return self.head(self.mean(coarse.mean(dim=1)))


def build(clusters: float = 5) -> nn.Module:
    """Build the network that pools every graph onto the same number of clusters."""
    return DiffPoolNet(int(clusters))


RECIPE = Recipe(steps=5000, also=(("link_loss", 1.0), ("entropy_loss", 0.1)))
FOUND = {"accuracy": 0.9575}  # of the shipped weights

CARD = Card(
    name="diff-pool",
    title="DiffPool: soft clusters, and a graph of them",
    rows=("N5",),
    groups=("permutation",),
    reference=(
        'Ying, You, Morris, Ren, Hamilton, Leskovec, "Hierarchical Graph Representation Learning with Differentiable '
        'Pooling", NeurIPS 2018, eq. (3)-(6) and section 3.3'
    ),
    equation=(
        "Z = GNN_embed(A, X),   S = softmax(GNN_pool(A, X))\n"
        "X′ = Sᵀ Z,   A′ = Sᵀ A S\n"
        "link loss = ‖A − S Sᵀ‖_F / N²,   entropy loss = (1/N) Σ_i H(S_i)"
    ),
    summary=(
        "`assignment` has one channel for each cluster, and `cluster` the number of the strongest one. Shuffle the "
        "nodes: the rows of S move with them, while the clusters, `coarse_features` and `coarse_adjacency`, stay."
    ),
    build=build,
    input=GraphInput(channels=8, signals=("x", "edge_index", "batch"), features="atoms", most=2048),
    domain="graph",
    sample="planted-wheel",
    weights="diff-pool.safetensors",
    labels=LABELS,
    train=partial(train, build, RECIPE),
    params=(Param("clusters", "Clusters", 5, 2, 16, whole=True),),
    source=(CoarseFeatures, CoarseAdjacency, LinkLoss, EntropyLoss, DiffPoolNet),
    notes=(
        *measured(3105, RECIPE, FOUND),
        "no node is chosen before another, so there is nothing to tie; `cluster` alone takes the first of clusters "
        "that are exactly equal, which does not depend on the order of the nodes",
    ),
)
