"""Attention, the second of three flavours of message passing: neighbours weighted by what the two nodes hold.

Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.3, eq. (34):

    h_i = sum over j in N(i) and i itself of alpha_ij W x_j,    alpha_ij = softmax over j of the logits e_ij

    GAT    e_ij = LeakyReLU(a_s . W x_j + a_t . W x_i)
    GATv2  e_ij = a . LeakyReLU(W_s x_j + W_t x_i)

Veličković et al., "Graph Attention Networks", 2018, eq. (3); Brody, Alon, Yahav, "How Attentive are Graph Attention
Networks?", 2022, eq. (7).

In GAT all nodes rank their neighbours alike (static attention), in GATv2 they need not (dynamic attention).
Layers have the parameters of torch_geometric's GATConv and GATv2Conv and give the same numbers.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.spaces.graph.fields import EDGE, NODE
from explorer.spaces.graph.network.form import GraphInput
from models.layers.graph.propagation import Pattern, pattern, product, segment_softmax
from models.layers.seeded import seeded
from models.layers.taps import Tap
from models.training.graphs.nodes import RECIPES, measured, train

SLOPE = 0.2  # of the leaky ReLU below zero
CHANNELS, HIDDEN, CLASSES = 6, 32, 4
INPUT = GraphInput(channels=CHANNELS)
HEADS = (1, 2, 4, 8)


class AttentiveLayer(nn.Module):
    """The part that both versions share: softmax of the logits per target, the weighted sum, and what is shown of them.

    Every node also attends to itself. That makes N further logits and coefficients, which are node fields; a listed
    self-loop gives way to them, and its coefficient is 0.
    Shapes: (N, in), (2, E) -> (N, out); logits and attention (E, heads), self_... (N, heads).
    """

    out_field = NODE

    def __init__(self, outputs: int, heads: int) -> None:
        super().__init__()
        if outputs % heads:
            raise ValueError(f"{outputs} channels cannot be shared out among {heads} heads")
        self.heads = heads
        self.logits = Tap(EDGE)
        self.self_logits = Tap(NODE)
        self.attention = Tap(EDGE)
        self.self_attention = Tap(NODE)
        self.aggregated = Tap(NODE)

    def attend(self, places: Pattern, logits: Tensor, self_logits: Tensor, values: Tensor) -> Tensor:
        """Return sum_j alpha_ij values_j, (N, out), of logits (E, H) and (N, H)."""
        logits, own = self.logits(logits), self.self_logits(self_logits)
        attention, own = segment_softmax(places, logits, own)
        attention, own = self.attention(attention), self.self_attention(own)
        return self.aggregated(product(places, attention.t(), own.t(), values))


class GATLayer(AttentiveLayer):
    """Attention of eq. (3) of GAT; heads side by side."""

    def __init__(self, inputs: int, outputs: int, heads: int) -> None:
        super().__init__(outputs, heads)
        self.linear = nn.Linear(inputs, outputs, bias=False)
        self.source = nn.Parameter(torch.empty(outputs))  # a_s of every head, one after the other
        self.target = nn.Parameter(torch.empty(outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))
        nn.init.xavier_uniform_(self.linear.weight)
        for part in (self.source, self.target):
            nn.init.xavier_uniform_(part.view(1, -1))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        places = pattern(edge_index, len(x))
        values = self.linear(x)  # (N, H * C)
        of_source = (values * self.source).unflatten(1, (self.heads, -1)).sum(-1)  # (N, H)
        of_target = (values * self.target).unflatten(1, (self.heads, -1)).sum(-1)
        # head by head: what one head looks up fits into the cache
        sums = of_source.t().contiguous().index_select(1, places.source)  # (H, E)
        sums += of_target.t().contiguous().index_select(1, places.target)
        logits = F.leaky_relu_(sums, SLOPE).t()
        self_logits = F.leaky_relu(of_source + of_target, SLOPE)
        return self.attend(places, logits, self_logits, values) + self.bias


class GATv2Layer(AttentiveLayer):
    """Attention of eq. (7) of GATv2; heads side by side."""

    def __init__(self, inputs: int, outputs: int, heads: int) -> None:
        super().__init__(outputs, heads)
        self.linear_source = nn.Linear(inputs, outputs)
        self.linear_target = nn.Linear(inputs, outputs)
        self.weight = nn.Parameter(torch.empty(outputs))  # a of every head, one after the other
        self.bias = nn.Parameter(torch.zeros(outputs))
        for linear in (self.linear_source, self.linear_target):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)
        nn.init.xavier_uniform_(self.weight.view(1, -1))

    def scores(self, sums: Tensor) -> Tensor:
        """Return a . LeakyReLU(sums) of every head, (n, out) -> (n, H)."""
        return (F.leaky_relu(sums, SLOPE) * self.weight).unflatten(1, (self.heads, -1)).sum(-1)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        places = pattern(edge_index, len(x))
        values, of_target = self.linear_source(x), self.linear_target(x)
        sums = values.index_select(0, places.source) + of_target.index_select(0, places.target)  # (E, H * C)
        return self.attend(places, self.scores(sums), self.scores(values + of_target), values) + self.bias


class GAT(nn.Module):
    """Two attentive layers, the last with one head; (N, 6), (2, E) -> (N, 4)."""

    def __init__(self, layer: type[GATLayer] | type[GATv2Layer] = GATLayer, heads: int = 8) -> None:
        super().__init__()
        self.conv1 = layer(CHANNELS, HIDDEN, heads)
        self.elu1 = nn.ELU()
        self.conv2 = layer(HIDDEN, CLASSES, 1)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.conv2(self.elu1(self.conv1(x, edge_index)), edge_index)


def build_gat(heads: float = HEADS.index(8)) -> GAT:
    """Build a GAT; `heads` is an index into HEADS."""
    return seeded(lambda: GAT(GATLayer, HEADS[int(heads)]))


def build_gatv2(heads: float = HEADS.index(8)) -> GAT:
    """Build a GATv2; `heads` is an index into HEADS."""
    return seeded(lambda: GAT(GATv2Layer, HEADS[int(heads)]))


_PARAMS = (Param("heads", "Heads", HEADS.index(8), 0, len(HEADS) - 1, choices=tuple(map(str, HEADS))),)
_BOOK = 'Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.3, eq. (34)'

CARD = (
    Card(
        name="gat",
        title="Graph attention network (GAT)",
        rows=("N1",),
        groups=("permutation",),
        domain="graph",
        reference=f'Veličković et al., "Graph Attention Networks", 2018, eq. (1) to (5); {_BOOK}',
        equation=(
            "e_ij = LeakyReLU( aₛ·W x_j + aₜ·W x_i )\n"
            "α_ij = exp(e_ij) / Σ_{k ∈ N(i) ∪ {i}} exp(e_ik)\n"
            "h_i = σ( Σ_{j ∈ N(i) ∪ {i}} α_ij W x_j + b )"
        ),
        summary=(
            "The weight of a neighbour depends on the features of the two nodes: conv1.attention on the edges "
            "and conv1.self_attention on the nodes together sum to one at every node, in each head. The share "
            "of a_t cancels wherever the leaky ReLU does not bend: all nodes rank their neighbours alike."
        ),
        build=build_gat,
        input=INPUT,
        sample="karate",
        params=_PARAMS,
        weights="gat.safetensors",
        train=partial(train, build_gat, INPUT.signals, RECIPES["gat"]),
        notes=measured("gat"),
        source=(AttentiveLayer, GATLayer, GAT),
    ),
    Card(
        name="gatv2",
        title="Graph attention network, version 2 (GATv2)",
        rows=("N1",),
        groups=("permutation",),
        domain="graph",
        reference=f'Brody, Alon, Yahav, "How Attentive are Graph Attention Networks?", 2022, eq. (7); {_BOOK}',
        equation=(
            "e_ij = a·LeakyReLU( Wₛ x_j + Wₜ x_i )\n"
            "α_ij = exp(e_ij) / Σ_{k ∈ N(i) ∪ {i}} exp(e_ik)\n"
            "h_i = σ( Σ_{j ∈ N(i) ∪ {i}} α_ij Wₛ x_j + b )"
        ),
        summary=(
            "GAT with the nonlinearity inside the scalar product, so that different nodes can rank the same "
            "neighbours differently. Compare conv1.attention of two neighbouring nodes with that of GAT."
        ),
        build=build_gatv2,
        input=INPUT,
        sample="karate",
        params=_PARAMS,
        weights="gatv2.safetensors",
        train=partial(train, build_gatv2, INPUT.signals, RECIPES["gatv2"]),
        notes=measured("gatv2"),
        source=(AttentiveLayer, GATv2Layer, GAT),
    ),
)
