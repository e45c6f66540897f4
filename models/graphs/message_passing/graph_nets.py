"""Graph Nets: edges, nodes and the whole graph are updated in turn, each from what it touches.

Battaglia et al., "Relational inductive biases, deep learning, and graph networks", 2018, algorithm 1 and eq. 1:

    e' = phi_e(e, x_j, x_i, u),   x' = phi_v(x, sum of e' that enter, u),   u' = phi_u(u, sum of e', sum of x')

Conditioning (Dumoulin et al., "Feature-wise transformations", 2018): what is updated is the first part of the input
of an update; what it is told is the rest. Concatenated, the rest shifts the first layer; as modulation (FiLM) it also
scales it, channel by channel.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.declare.types.fields import INVARIANT, FieldType
from explorer.spaces.graph.fields import EDGE, NODE
from explorer.spaces.graph.network.form import GraphInput
from models.layers.graph.aggregation import (
    READOUTS,
    Aggregate,
    AtSource,
    AtTarget,
    Readout,
    SideBySide,
    aggregate,
    graphs_in,
)
from models.training.graphs.molecules import Recipe, measured, train

CONDITIONING = ("concatenation", "modulation")
TOLD = ("edges and globals", "edges", "globals")
WIDTH = 24
EDGE_CHANNELS = 4


class Channels(nn.Module):
    """Take a range of the channels: (K, C) -> (K, stop - start)."""

    def __init__(self, start: int, stop: int, field: FieldType) -> None:
        super().__init__()
        self.start, self.stop, self.out_field = start, stop, field

    def forward(self, inputs: Tensor) -> Tensor:
        return inputs[:, self.start : self.stop]


class Modulated(nn.Module):
    """(1 + scale(told)) * own + shift(told), of inputs (K, own + told), own part first -> (K, outputs)."""

    def __init__(self, own: int, told: int, outputs: int, field: FieldType) -> None:
        super().__init__()
        self.out_field = field
        self.own_input, self.told_input = Channels(0, own, field), Channels(own, own + told, field)
        self.own = nn.Linear(own, outputs)
        self.told = nn.Linear(told, 2 * outputs)

    def forward(self, inputs: Tensor) -> Tensor:
        scale, shift = self.told(self.told_input(inputs)).chunk(2, dim=1)
        return (1 + scale) * self.own(self.own_input(inputs)) + shift


def update_function(own: int, told: int, outputs: int, field: FieldType, conditioning: str) -> nn.Sequential:
    """Return phi: two layers, the first one conditioned on the `told` channels that follow its `own`."""
    modulated = conditioning == "modulation"
    first = Modulated(own, told, outputs, field) if modulated else nn.Linear(own + told, outputs)
    return nn.Sequential(first, nn.ReLU(), nn.Linear(outputs, outputs))


class InitialGlobal(nn.Module):
    """The same learned vector for every graph of a batch: batch (N,) -> (G, C)."""

    out_field = INVARIANT

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.value = nn.Parameter(torch.zeros(channels))

    def forward(self, batch: Tensor) -> Tensor:
        return self.value.expand(graphs_in(batch), -1).clone()


class GlobalAtEdges(nn.Module):
    """u of the graph that an edge belongs to: u (G, C), (2, E), batch (N,) -> (E, C)."""

    out_field = EDGE

    def forward(self, u: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return u[batch[edge_index[0]]]


class GlobalAtNodes(nn.Module):
    """u of the graph that a node belongs to: u (G, C), batch (N,) -> (N, C)."""

    out_field = NODE

    def forward(self, u: Tensor, batch: Tensor) -> Tensor:
        return u[batch]


class EdgeReadout(nn.Module):
    """The edges of each graph as one value of it: e (E, C), (2, E), batch (N,) -> (G, C)."""

    out_field = INVARIANT

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how

    def forward(self, e: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return aggregate(e, batch[edge_index[0]], graphs_in(batch), self.how)


class GraphNetBlock(nn.Module):
    """One round of updates of (x, e, u): (N, V), (2, E), (E, K), (G, U), (N,) -> (N, D), (E, D), (G, D).

    `told` is what nodes are conditioned on, one of TOLD. With concatenation and all of it this is torch_geometric's
    MetaLayer.
    """

    def __init__(
        self, sizes: tuple[int, int, int], outputs: int, conditioning: str, told: str = TOLD[0], how: str = "sum"
    ) -> None:
        super().__init__()
        nodes, edges, globals_ = sizes
        self.told = told
        self.sources, self.targets, self.global_at_edges = AtSource(), AtTarget(), GlobalAtEdges()
        self.edge_input = SideBySide(EDGE)
        self.edge_update = update_function(edges, 2 * nodes + globals_, outputs, EDGE, conditioning)
        self.incoming_edges, self.global_at_nodes = Aggregate("sum"), GlobalAtNodes()
        self.node_input = SideBySide(NODE)
        heard = outputs * ("edges" in told) + globals_ * ("globals" in told)
        self.node_update = update_function(nodes, heard, outputs, NODE, conditioning)
        self.all_edges, self.all_nodes = EdgeReadout(how), Readout(how)
        self.global_input = SideBySide(INVARIANT)
        self.global_update = update_function(globals_, 2 * outputs, outputs, INVARIANT, conditioning)

    def forward(
        self, x: Tensor, edge_index: Tensor, e: Tensor, u: Tensor, batch: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        ends = [self.sources(x, edge_index), self.targets(x, edge_index)]
        e = self.edge_update(self.edge_input(e, *ends, self.global_at_edges(u, edge_index, batch)))
        parts = [x]
        if "edges" in self.told:
            parts.append(self.incoming_edges(e, edge_index, x))
        if "globals" in self.told:
            parts.append(self.global_at_nodes(u, batch))
        x = self.node_update(self.node_input(*parts))
        read = [self.all_edges(e, edge_index, batch), self.all_nodes(x, batch)]
        u = self.global_update(self.global_input(u, *read))
        return x, e, u


class GraphNets(nn.Module):
    """Encode, two blocks, decode at all three levels; x, edge_index, edge_attr, batch -> (G, 1).

    The decoded edges (E, 1) and nodes (N, 1) are the layers edge_output and node_output.
    """

    def __init__(
        self,
        conditioning: str = CONDITIONING[0],
        told: str = TOLD[0],
        how: str = "sum",
        inputs: int = 8,
        edge_channels: int = EDGE_CHANNELS,
    ) -> None:
        super().__init__()
        self.node_encoder = nn.Linear(inputs, WIDTH)
        self.edge_encoder = nn.Linear(edge_channels, WIDTH)
        self.initial_global = InitialGlobal(WIDTH)
        self.block1 = GraphNetBlock((WIDTH, WIDTH, WIDTH), WIDTH, conditioning, told, how)
        self.block2 = GraphNetBlock((WIDTH, WIDTH, WIDTH), WIDTH, conditioning, told, how)
        self.edge_output = nn.Linear(WIDTH, 1)
        self.node_output = nn.Linear(WIDTH, 1)
        self.global_output = nn.Linear(WIDTH, 1)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, batch: Tensor) -> Tensor:
        x, e, u = self.node_encoder(x), self.edge_encoder(edge_attr), self.initial_global(batch)
        x, e, u = self.block1(x, edge_index, e, u, batch)
        x, e, u = self.block2(x, edge_index, e, u, batch)
        self.edge_output(e)
        self.node_output(x)
        return self.global_output(u)


def build(conditioning: float = 0, told: float = 0, readout: float = 0) -> GraphNets:
    """Build the network with one kind of conditioning, what nodes are told, and how a graph is read out."""
    return GraphNets(CONDITIONING[int(conditioning)], TOLD[int(told)], READOUTS[int(readout)])


RECIPE = Recipe("global_output", bonds=True, steps=2500)
ERRORS = {"learned_error": 0.288, "test_error": 1.252, "baseline_error": 8.505}  # of the shipped weights, °C
CROSSED = 1.2

CARD = Card(
    name="graph-nets",
    title="Graph Nets: edge, node and global updates",
    rows=("N4",),
    groups=("permutation",),
    reference=(
        'Battaglia et al., "Relational inductive biases, deep learning, and graph networks", 2018, algorithm 1, eq. 1; '
        'conditioning: Dumoulin et al., "Feature-wise transformations", 2018'
    ),
    equation=(
        "e′ⱼᵢ = φᵉ(eⱼᵢ, xⱼ, xᵢ, u)\nx′ᵢ = φᵛ(xᵢ, Σⱼ e′ⱼᵢ, u)\nu′ = φᵘ(u, Σ e′, Σ x′)\n"
        "concatenation: φ(x, c) = W₂ relu(W x + V c + b) + b₂;   modulation: W x becomes (1 + γ(c)) ⊙ W x"
    ),
    summary=(
        "Each block shows what goes into an update and what comes out: edge_input and edge_update on the edges, "
        "node_input and node_update on the nodes, global_input and global_update for the whole graph, which alone "
        "stand still when nodes are permuted. Take the globals from what nodes are told and far atoms no longer "
        "reach each other in two blocks."
    ),
    build=build,
    input=GraphInput(
        channels=8, signals=("x", "edge_index", "edge_attr", "batch"), edge_channels=EDGE_CHANNELS, features="atoms"
    ),
    domain="graph",
    params=(
        Param("conditioning", "Conditioning", 0, 0, len(CONDITIONING) - 1, choices=CONDITIONING),
        Param("told", "Nodes are told of", 0, 0, len(TOLD) - 1, choices=TOLD),
        Param("readout", "Readout", 0, 0, len(READOUTS) - 1, choices=READOUTS),
    ),
    sample="isooctane",
    weights="graph-nets.safetensors",
    train=partial(train, build, RECIPE),
    notes=measured(15699, ERRORS, CROSSED),
    source=(GraphNetBlock, update_function, Modulated),
)
