"""SAGPool: a graph convolution scores the nodes, the best part of them survives, gated by its score.

Lee, Lee, Kang, "Self-Attention Graph Pooling", 2019, eq. (3)-(5):

    Z = tanh(GNN(X, A)),   idx = top(Z, ceil(k N)),   X' = X[idx] * Z[idx],   A' = A[idx, idx]
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
from models.layers.graph.pooling import GraphConv, Highest, Readout
from models.layers.taps import Tap
from models.training.graphs.motifs import LABELS, Recipe, measured, train

TIES = ("keep all that tie", "the first listed")


class Score(nn.Module):
    """tanh(sign(w) GNN(X, A)), (N, C), (2, E) -> (N, 1).

    torch_geometric divides by the length of a weight that is one number, so that only its sign acts: a negative one
    keeps the nodes that the convolution rates lowest. `weight` is here for the sake of its networks.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.gnn = GraphConv(channels, 1)
        self.weight = nn.Parameter(torch.ones(1, 1), requires_grad=False)
        self.out_field = NODE

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return torch.tanh(self.gnn(x, edge_index) * (self.weight / self.weight.norm()))


class SAGPoolNet(nn.Module):
    """Two blocks of convolution and pooling, the readouts of both added, and classes: (N, 8), (2, E), (N,) -> (G, 4).

    Dropped nodes are kept as rows of zeros, which send nothing: the numbers of the others are those of the smaller
    graph, and every layer still lies on the nodes that are drawn.
    """

    def __init__(self, ratio: float, tied: bool, channels: int = 8, width: int = 24, classes: int = 4) -> None:
        super().__init__()
        inputs = channels
        for block in (1, 2):
            self.add_module(f"conv{block}", GraphConv(inputs, width))
            self.add_module(f"relu{block}", nn.ReLU())
            self.add_module(f"score{block}", Score(width))
            self.add_module(f"survivors{block}", Highest(ratio, tied))
            self.add_module(f"pooled{block}", Tap(NODE))
            self.add_module(f"mean{block}", Readout("mean"))
            self.add_module(f"max{block}", Readout("max"))
            inputs = width
        self.readout = Tap(INVARIANT)
        self.head = nn.Linear(2 * width, classes)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        alive = torch.ones_like(x[:, :1])
        readouts = []
        for block in (1, 2):
            conv, relu, score, survivors, pooled, mean, largest = (
                self.get_submodule(f"{kind}{block}")
                for kind in ("conv", "relu", "score", "survivors", "pooled", "mean", "max")
            )
            x = relu(conv(x, edge_index)) * alive  # the bias of the convolution must not wake what was dropped
            gate = score(x, edge_index)
            alive = survivors(gate, batch, alive)
            x = pooled(x * gate * alive)
            readouts.append(torch.cat([mean(x, batch, alive), largest(x, batch, alive)], dim=1))
        return self.head(self.readout(readouts[0] + readouts[1]))


def build(ratio: float = 0.5, ties: float = 0) -> nn.Module:
    """Build the network that keeps a part of the nodes in each of its two poolings."""
    return SAGPoolNet(ratio, TIES[int(ties)] == TIES[0])


RECIPE = Recipe(steps=6000, kept="survivors1", risen=("score1", "score2"))
FOUND = {"accuracy": 0.9625, "motif_kept": 0.9919, "others_kept": 0.4058}  # of the shipped weights

CARD = Card(
    name="sag-pool",
    title="SAGPool: keep the nodes that score highest",
    rows=("N5",),
    groups=("permutation",),
    reference='Lee, Lee, Kang, "Self-Attention Graph Pooling", ICML 2019, section 3.1, eq. (3)-(5)',
    equation=(
        "Z = tanh(sign(w) GNN(X, A))\n"
        "idx = top-rank(Z, ⌈k N⌉)\n"
        "X′ = X[idx] ⊙ Z[idx],   A′ = A[idx, idx]\n"
        "readout = Σ over blocks of [mean X′ ‖ max X′]"
    ),
    summary=(
        "`score1` and `score2` rate the nodes, `survivors1` and `survivors2` are those that are kept. They move with "
        "the nodes, and the scores of the graph stand still. Choose that the first listed wins a tie, and shuffle a "
        "molecule with atoms that look alike: the choice, and what follows, depends on the order."
    ),
    build=build,
    input=GraphInput(channels=8, signals=("x", "edge_index", "batch"), features="atoms"),
    domain="graph",
    sample="planted-wheel",
    weights="sag-pool.safetensors",
    labels=LABELS,
    train=partial(train, build, RECIPE),
    params=(
        Param("ratio", "Part of the nodes kept", 0.5, 0.1, 0.95, 0.05),
        Param("ties", "Ties for the last place", 0, 0, len(TIES) - 1, choices=TIES),
    ),
    source=(Score, Highest, SAGPoolNet),
    notes=(
        *measured(1880, RECIPE, FOUND),
        "atoms that the network cannot tell apart tie: all that tie for the last place are kept, so that there may be "
        "more than ⌈k N⌉; without ties the numbers are those of torch_geometric's SAGPooling",
    ),
)
