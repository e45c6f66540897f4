"""Graph isomorphism network: sums, because a sum over a multiset forgets nothing that a perceptron cannot get back.

Xu, Hu, Leskovec, Jegelka, "How Powerful are Graph Neural Networks?", 2019, eq. 4.1 and 4.2:

    h_i = MLP((1 + eps) x_i + sum_{j in N(i)} x_j),   h_G = READOUT of every layer, side by side

As strong as the 1-dimensional Weisfeiler-Leman test, and no stronger.
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
from models.layers.graph.aggregation import READOUTS, Aggregate, AtSource, Readout, SideBySide
from models.training.graphs.molecules import Recipe, measured, train

HIDDEN = 32


class SelfAndNeighbours(nn.Module):
    """(1 + eps) x_i + z_i, eps learned: (N, C), (N, C) -> (N, C)."""

    out_field = NODE

    def __init__(self) -> None:
        super().__init__()
        self.eps = nn.Parameter(torch.zeros(1))

    def forward(self, x: Tensor, z: Tensor) -> Tensor:
        return (1 + self.eps) * x + z


class GINLayer(nn.Module):
    """h_i = MLP((1 + eps) x_i + sum_j x_j), eps learned; (N, C), (2, E) -> (N, D)."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.messages = AtSource()
        self.aggregated = Aggregate("sum")
        self.combined = SelfAndNeighbours()
        self.mlp = nn.Sequential(nn.Linear(inputs, outputs), nn.ReLU(), nn.Linear(outputs, outputs))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        z = self.aggregated(self.messages(x, edge_index), edge_index, x)
        return self.mlp(self.combined(x, z))


class GIN(nn.Module):
    """Three layers, the readouts of the input and of each layer side by side; x (N, 8), (2, E), (N,) -> (G, 1)."""

    def __init__(self, readout: str = "sum", inputs: int = 8, outputs: int = 1, layers: int = 3) -> None:
        super().__init__()
        self.layers = nn.ModuleList(GINLayer(inputs if k == 0 else HIDDEN, HIDDEN) for k in range(layers))
        self.relus = nn.ModuleList(nn.ReLU() for _ in range(layers))
        self.readouts = nn.ModuleList(Readout(readout) for _ in range(layers + 1))
        self.graph = SideBySide(INVARIANT)
        self.head = nn.Linear(inputs + layers * HIDDEN, outputs)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        read = [self.readouts[0](x, batch)]
        for k, layer in enumerate(self.layers):
            x = self.relus[k](layer(x, edge_index))
            read.append(self.readouts[k + 1](x, batch))
        return self.head(self.graph(*read))


def build(readout: float = 0) -> GIN:
    """Build the network with a sum, mean or max over the nodes of each graph."""
    return GIN(READOUTS[int(readout)])


RECIPE = Recipe("head", steps=2500)
ERRORS = {"learned_error": 0.414, "test_error": 2.012, "baseline_error": 8.505}  # of the shipped weights, °C
CROSSED = 1.6

CARD = Card(
    name="gin",
    title="GIN: graph isomorphism network",
    rows=("N3",),
    groups=("permutation",),
    reference=(
        'Xu, Hu, Leskovec, Jegelka, "How Powerful are Graph Neural Networks?", 2019, eq. 4.1 (layer) and 4.2 (readout)'
    ),
    equation=(
        "hᵢ = MLP((1 + ε) xᵢ + Σⱼ xⱼ),   j ∈ N(i), ε learned\n"
        "h_G = CONCAT(READOUT({hᵢ⁽ᵏ⁾}), k = 0 … K),   y = W h_G + b"
    ),
    summary=(
        "Sums tell apart neighbourhoods that mean and max cannot. Whatever the order of the nodes, `graph` and the "
        "output stand still while every layer before them is permuted. Two graphs that the Weisfeiler-Leman colours "
        "cannot tell apart (a hexagon and two triangles) get the same output, whatever the weights."
    ),
    build=build,
    input=GraphInput(channels=8, signals=("x", "edge_index", "batch"), features="atoms"),
    domain="graph",
    params=(Param("readout", "Readout", 0, 0, len(READOUTS) - 1, choices=READOUTS),),
    sample="hexanes",
    weights="gin.safetensors",
    train=partial(train, build, RECIPE),
    notes=measured(5676, ERRORS, CROSSED),
    source=(GINLayer, SelfAndNeighbours, GIN),
)
