"""The line graph: edges become nodes, and two of them are joined where one follows (or touches) the other.

Harary and Norman, "Some properties of line digraphs", 1960; as a network: Chen, Li, Bruna, "Supervised Community
Detection with Line Graph Neural Networks", 2019, section 3. A layer of Kipf and Welling's (2017, eq. 2) on it:

    L = (E, {(e, f) : f begins where e ends})      h_f = b + sum_e W x_e / sqrt(d_e d_f),   e in N_L(f) and f itself

The line graph of a hub with d edges has d² of its own. It is never listed here: what all edges at a node say is
summed at the node once, and every edge reads it there.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.spaces.graph.fields import EDGE
from explorer.spaces.graph.network.form import GraphInput
from models.layers.graph.aggregation import AtSource, AtTarget, SideBySide, aggregate

JOINED = ("touching (undirected)", "following (directed)")
HIDDEN = 16


def line_graph(edge_index: Tensor) -> Tensor:
    """Return the directed line graph, (2, K): a column (e, f) of listed edges where e ends at the source of f.

    A self-loop follows itself. K is the sum over nodes of entering times leaving edges.
    """
    source, target = edge_index.contiguous()
    order = torch.argsort(source, stable=True)
    leaving = source[order]
    first, last = torch.searchsorted(leaving, target), torch.searchsorted(leaving, target, right=True)
    e = torch.repeat_interleave(torch.arange(len(target), device=target.device), last - first)
    place = torch.arange(len(e), device=e.device) - torch.repeat_interleave(
        (last - first).cumsum(0) - last, last - first
    )
    return torch.stack([e, order[place]])


def touching_graph(ends: Tensor) -> Tensor:
    """Return the line graph of edges without direction, (2, U), each listed once: (2, K), both directions listed."""
    which = torch.arange(ends.shape[1], device=ends.device).repeat(2)
    # an edge that may be walked both ways follows all that it touches, itself and some of them twice
    joined = which[line_graph(torch.cat([ends, ends.flip(0)], dim=1))]
    return torch.unique(joined[:, joined[0] != joined[1]], dim=1)


def unordered(edge_index: Tensor) -> tuple[Tensor, Tensor]:
    """Return the edges without direction, each once, (2, U) with the smaller end first, and which one each is, (E,)."""
    ends = torch.stack([edge_index.amin(dim=0), edge_index.amax(dim=0)])
    return torch.unique(ends, dim=1, return_inverse=True)


class FollowingConvolution(nn.Module):
    """sum_e x_e / sqrt(d_e d_f) over f and the edges that end where f begins: (E, C), (2, E), (N, ...) -> (E, C).

    d is the number of those edges. Of the last input only the number of nodes is taken.
    """

    out_field = EDGE

    def forward(self, values: Tensor, edge_index: Tensor, x: Tensor) -> Tensor:
        source, target = edge_index
        # a self-loop follows itself and is among its neighbours already
        itself = (source != target).to(values.dtype)[:, None]
        degree = aggregate(torch.ones_like(itself), target, len(x), "sum")[source] + itself
        weighted = values * degree.rsqrt()
        return degree.rsqrt() * (aggregate(weighted, target, len(x), "sum")[source] + itself * weighted)


class TouchingConvolution(nn.Module):
    """The same over the edges that share an end with f, without direction: (E, C), (2, E), (N, ...) -> (E, C).

    All listings of an edge (both directions, duplicates) are one node of the line graph: their values are averaged
    and they get the same answer.
    """

    out_field = EDGE

    def forward(self, values: Tensor, edge_index: Tensor, x: Tensor) -> Tensor:
        (a, b), which = unordered(edge_index)
        values = aggregate(values, which, len(a), "mean")
        two_ends = (a != b).to(values.dtype)[:, None]  # a self-loop touches one node only

        def touching(v: Tensor) -> Tensor:
            at_nodes = aggregate(v, a, len(x), "sum") + aggregate(two_ends * v, b, len(x), "sum")
            # f itself is found at each of its ends, and is to count once
            return at_nodes[a] + two_ends * (at_nodes[b] - v)

        scale = touching(torch.ones_like(two_ends)).rsqrt()
        return (scale * touching(scale * values))[which]


class LineLayer(nn.Module):
    """h_f = b + sum_e W x_e / sqrt(d_e d_f) on the line graph; (E, C), (2, E), (N, ...) -> (E, D)."""

    out_field = EDGE

    def __init__(self, inputs: int, outputs: int, joined: str) -> None:
        super().__init__()
        self.transformed = nn.Linear(inputs, outputs, bias=False)
        self.propagated = TouchingConvolution() if joined == JOINED[0] else FollowingConvolution()
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, values: Tensor, edge_index: Tensor, x: Tensor) -> Tensor:
        return self.propagated(self.transformed(values), edge_index, x) + self.bias


class LineGraphNetwork(nn.Module):
    """Two layers on the line graph; x (N, 6), edge_index (2, E) -> one score of each edge, (E, 1).

    An edge starts with the features of its source and of its target; without direction with the mean over both orders.
    """

    def __init__(self, joined: str = JOINED[0], inputs: int = 6) -> None:
        super().__init__()
        self.sources, self.targets = AtSource(), AtTarget()
        self.edges = SideBySide(EDGE)
        self.layer1 = LineLayer(2 * inputs, HIDDEN, joined)
        self.relu1 = nn.ReLU()
        self.layer2 = LineLayer(HIDDEN, HIDDEN, joined)
        self.relu2 = nn.ReLU()
        self.score = nn.Linear(HIDDEN, 1)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        edges = self.edges(self.sources(x, edge_index), self.targets(x, edge_index))
        edges = self.relu1(self.layer1(edges, edge_index, x))
        return self.score(self.relu2(self.layer2(edges, edge_index, x)))


def build(joined: float = 0) -> LineGraphNetwork:
    """Build the network on the line graph without or with direction."""
    return LineGraphNetwork(JOINED[int(joined)])


CARD = Card(
    name="line-graph",
    title="Line graph: a network whose nodes are the edges",
    rows=("N6",),
    groups=("permutation",),
    reference=(
        'Chen, Li, Bruna, "Supervised Community Detection with Line Graph Neural Networks", 2019, section 3; layer: '
        'Kipf and Welling, "Semi-Supervised Classification with Graph Convolutional Networks", 2017, eq. 2'
    ),
    equation=(
        "L = (E, {(e, f)}),   f touches e (undirected), or begins where e ends (directed)\n"
        "h_f = b + Σₑ W xₑ / √(dₑ d_f),   e ∈ N_L(f) ∪ {f}"
    ),
    summary=(
        "An edge task turned into a node task: every layer lies on the edges, and an edge hears the edges at its two "
        "ends. Without direction both listings of an edge carry the same value from layer1 on; with direction they "
        "differ. Select an edge and see how far it is heard after one layer and after two."
    ),
    build=build,
    input=GraphInput(channels=6),
    domain="graph",
    params=(Param("joined", "Edges are joined when", 0, 0, len(JOINED) - 1, choices=JOINED),),
    sample="karate",
    source=(LineLayer, TouchingConvolution, FollowingConvolution, line_graph, touching_graph),
)
