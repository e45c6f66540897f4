"""Principal neighbourhood aggregation: several aggregators, each scaled by the number of neighbours.

Corso, Cavalleri, Beaini, Liò, Veličković, "Principal Neighbourhood Aggregation for Graph Nets", 2020, eq. 5 to 8:

    m_ij = M(x_i, x_j),   h_i = U(x_i, (identity, amplification, attenuation) x (mean, max, min, std) of m_ij)
    amplification = log(d_i + 1) / delta,   attenuation = delta / log(d_i + 1)

delta is the mean of log(d + 1) over the nodes of the training graphs. No single aggregator tells all multisets of n
real numbers apart; n of them are needed (theorem 1).
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.spaces.graph.fields import EDGE, NODE
from explorer.spaces.graph.network.form import GraphInput
from models.layers.graph.aggregation import Aggregate, AtSource, AtTarget, SideBySide, count
from models.training.graphs.nodes import RECIPES, measured, train

KINDS = ("mean", "max", "min", "std")
SCALERS = ("identity", "amplification", "attenuation")
HIDDEN = 16
KARATE = 1.5591  # mean of log(d + 1) over the 34 members of the karate club


class DegreeScaler(nn.Module):
    """Multiply by log(d_i + 1) / delta, or by its inverse: x (N, C), edge_index (2, E) -> (N, C)."""

    out_field = NODE
    delta: Tensor

    def __init__(self, power: int, delta: float) -> None:
        super().__init__()
        self.power = power
        self.register_buffer("delta", torch.tensor(delta))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        degree = count(edge_index[1], len(x), x.dtype)
        if self.power > 0:
            return x * (torch.log(degree + 1) / self.delta)
        return x * (self.delta / torch.log(degree.clamp_min(1) + 1))


class PNALayer(nn.Module):
    """One tower: message function, 4 aggregators x 3 scalers, update, mixing; (N, C), (2, E) -> (N, D)."""

    def __init__(self, inputs: int, outputs: int, delta: float = KARATE) -> None:
        super().__init__()
        self.targets, self.sources = AtTarget(), AtSource()
        self.pairs = SideBySide(EDGE)
        self.messages = nn.Linear(2 * inputs, inputs)
        for kind in KINDS:
            self.add_module(kind, Aggregate(kind))
        self.identity = SideBySide(NODE)
        self.amplification = DegreeScaler(1, delta)
        self.attenuation = DegreeScaler(-1, delta)
        self.combined = SideBySide(NODE)
        self.update = nn.Linear((len(KINDS) * len(SCALERS) + 1) * inputs, outputs)
        self.mixing = nn.Linear(outputs, outputs)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        pairs = self.pairs(self.targets(x, edge_index), self.sources(x, edge_index))
        messages = self.messages(pairs)
        found = [self.get_submodule(kind)(messages, edge_index, x) for kind in KINDS]
        aggregated = self.identity(*found)
        scaled = [aggregated, self.amplification(aggregated, edge_index), self.attenuation(aggregated, edge_index)]
        return self.mixing(self.update(self.combined(x, *scaled)))


class PNA(nn.Module):
    """Two layers with a ReLU between them; x (N, 6), edge_index (2, E) -> scores of the classes, (N, 4)."""

    def __init__(self, inputs: int = 6, outputs: int = 4) -> None:
        super().__init__()
        self.layer1 = PNALayer(inputs, HIDDEN)
        self.relu1 = nn.ReLU()
        self.layer2 = PNALayer(HIDDEN, outputs)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.layer2(self.relu1(self.layer1(x, edge_index)), edge_index)


INPUT = GraphInput(channels=6)

CARD = Card(
    name="pna",
    title="PNA: principal neighbourhood aggregation",
    rows=("N3",),
    groups=("permutation",),
    reference=(
        "Corso, Cavalleri, Beaini, Liò, Veličković, "
        '"Principal Neighbourhood Aggregation for Graph Nets", 2020, eq. 5 to 8'
    ),
    equation=(
        "mᵢⱼ = M(xᵢ, xⱼ),   zᵢ = (mean, max, min, std)ⱼ mᵢⱼ,   j ∈ N(i)\n"
        "hᵢ = U(xᵢ, zᵢ, zᵢ · log(dᵢ + 1)/δ, zᵢ · δ/log(dᵢ + 1)),   δ = mean of log(d + 1)"
    ),
    summary=(
        "Four aggregators (layer1.mean, max, min, std), each as it is, larger where a node has many neighbours "
        "(amplification) and larger where it has few (attenuation): degrees, which mean and max lose, come back. "
        "Compare the hubs of the club in amplification and attenuation."
    ),
    build=PNA,
    input=INPUT,
    domain="graph",
    sample="karate",
    weights="pna.safetensors",
    train=partial(train, PNA, INPUT.signals, RECIPES["pna"]),
    notes=measured("pna"),
    source=(PNALayer, DegreeScaler, Aggregate),
)
