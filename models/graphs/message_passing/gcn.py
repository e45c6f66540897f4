"""Convolution, the first of three flavours of message passing: neighbours weighted by the structure alone.

Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.3, eq. (33), with the weights of Kipf,
Welling, "Semi-Supervised Classification with Graph Convolutional Networks", 2017, eq. (2):

    h_i = sum over j in N(i) and i itself of c_ij W x_j + b,    c_ij = a_ij / sqrt(d_i d_j),    d_i = sum_j a_ij

Wu et al., "Simplifying Graph Convolutional Networks", 2019, eq. (8), leave out all but the last W: S^K X W.
Layers have the parameters of torch_geometric's GCNConv and SGConv and give the same numbers.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.spaces.graph.fields import EDGE, NODE
from explorer.spaces.graph.network.form import GraphInput
from models.layers.graph.propagation import Operator, operator
from models.layers.seeded import seeded
from models.layers.taps import Tap
from models.training.graphs.nodes import RECIPES, measured, train

CHANNELS, HIDDEN, CLASSES = 6, 16, 4
INPUT = GraphInput(channels=CHANNELS, signals=("x", "edge_index", "edge_weight"))


class Propagate(nn.Module):
    """S x with S = D^-1/2 (A + I) D^-1/2; (N, C) -> (N, C), its coefficients (E, 1) and (N, 1) shown beside."""

    out_field = NODE

    def __init__(self) -> None:
        super().__init__()
        self.coefficients = Tap(EDGE)  # of the listed edges; a listed self-loop is part of the next one
        self.self_coefficients = Tap(NODE)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        s: Operator = operator(edge_index, len(x), "gcn", edge_weight, x.dtype)
        self.coefficients(s.edges)  # kept with the graph: showing them costs nothing
        assert s.own is not None
        self.self_coefficients(s.own)
        return s(x)


class GCNLayer(nn.Module):
    """h = S x W + b; (N, in), (2, E), weights (E,) -> (N, out)."""

    out_field = NODE

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, outputs, bias=False)
        self.propagated = Propagate()
        self.bias = nn.Parameter(torch.zeros(outputs))
        nn.init.xavier_uniform_(self.linear.weight)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        weight = () if edge_weight is None else (edge_weight,)
        return self.propagated(self.linear(x), edge_index, *weight) + self.bias


class GCN(nn.Module):
    """ReLU between GCN layers; (N, 6), (2, E), weights (E,) -> (N, 4)."""

    def __init__(self, depth: int = 2, inputs: int = CHANNELS, hidden: int = HIDDEN, outputs: int = CLASSES) -> None:
        super().__init__()
        self.depth = depth
        for k in range(1, depth + 1):
            last = k == depth
            self.add_module(f"conv{k}", GCNLayer(inputs if k == 1 else hidden, outputs if last else hidden))
            if not last:
                self.add_module(f"relu{k}", nn.ReLU())

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        graph = (edge_index,) if edge_weight is None else (edge_index, edge_weight)
        for layer in self.children():  # in the order in which they were added
            x = layer(x, *graph) if isinstance(layer, GCNLayer) else layer(x)
        return x


class SGC(nn.Module):
    """y = S^K x W + b: all propagation, then one linear layer; (N, 6), (2, E), weights (E,) -> (N, 4)."""

    def __init__(self, hops: int = 2, inputs: int = CHANNELS, outputs: int = CLASSES) -> None:
        super().__init__()
        for k in range(1, hops + 1):
            self.add_module(f"hop{k}", Propagate())
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        graph = (edge_index,) if edge_weight is None else (edge_index, edge_weight)
        for layer in self.children():
            if isinstance(layer, Propagate):
                x = layer(x, *graph)
        return self.linear(x)


def build_gcn(depth: float = 2) -> GCN:
    """Build a GCN of `depth` layers."""
    return seeded(lambda: GCN(int(depth)))


def build_sgc(hops: float = 2) -> SGC:
    """Build an SGC that reaches `hops` edges far."""
    return seeded(lambda: SGC(int(hops)))


CARD = (
    Card(
        name="gcn",
        title="Graph convolutional network (GCN)",
        rows=("N1",),
        groups=("permutation",),
        domain="graph",
        reference=(
            'Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.3, eq. (33); '
            'Kipf, Welling, "Semi-Supervised Classification with Graph Convolutional Networks", 2017, eq. (2)'
        ),
        equation="h_i = σ( Σ_{j ∈ N(i) ∪ {i}}  c_ij W x_j + b )\nc_ij = a_ij / √(d_i d_j),   d_i = 1 + Σ_j a_ij",
        summary=(
            "The weight of a neighbour depends on the two degrees and on nothing else: see "
            "conv1.propagated.coefficients on the edges, the same for every input and in every layer. Each "
            "layer makes neighbours more alike: compare the Dirichlet energy at 2 and at 8 layers."
        ),
        build=build_gcn,
        input=INPUT,
        sample="karate",
        params=(Param("depth", "Layers", 2, 1, 8, whole=True),),
        weights="gcn.safetensors",
        train=partial(train, build_gcn, INPUT.signals, RECIPES["gcn"]),
        notes=measured("gcn"),
        source=(Propagate, GCNLayer, GCN),
    ),
    Card(
        name="sgc",
        title="Simplified graph convolution (SGC)",
        rows=("N1",),
        groups=("permutation",),
        domain="graph",
        reference=(
            'Wu et al., "Simplifying Graph Convolutional Networks", 2019, eq. (8); Bronstein, Bruna, Cohen, '
            'Veličković, "Geometric Deep Learning", 2021, section 5.3, eq. (33)'
        ),
        equation="Y = S^K X W + b\nS = D^(−1/2) (A + I) D^(−1/2)",
        summary=(
            "A GCN without its nonlinearities: the features are spread over K hops by a fixed low-pass filter, "
            "and a linear classifier does the rest. See hop1, hop2, ... smooth the input, and nodes further "
            "than K edges away have no influence."
        ),
        build=build_sgc,
        input=INPUT,
        sample="karate",
        params=(Param("hops", "Hops K", 2, 1, 16, whole=True),),
        weights="sgc.safetensors",
        train=partial(train, build_sgc, INPUT.signals, RECIPES["sgc"]),
        notes=measured("sgc"),
        source=(Propagate, SGC),
    ),
)
