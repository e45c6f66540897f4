"""Three graph networks that look symmetric and are not, beside the one that is: exercises in finding a fault.

Each is message passing of "Geometric Deep Learning" (Bronstein, Bruna, Cohen, Veličković, 2021, section 5.3, eq. 35),
twice, and a mean over the nodes. It commutes with permutations if no step knows the numbers of the nodes or the order
of the edges (section 4.1, eq. 3 to 6). Each faulty network has the weights of the control, and one layer that knows.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.types.fields import INVARIANT
from explorer.spaces.graph.fields import NODE
from explorer.spaces.graph.network.form import GraphInput
from models.layers.graph.propagation import operator, pattern, product
from models.layers.seeded import seeded

CHANNELS, HIDDEN, CLASSES = 6, 16, 4
CAP = 2
FAULTS = {"fault-node-number": "numbered", "fault-neighbour-cap": "aggregate2", "fault-readout": "readout"}


class NeighbourSum(nn.Module):
    """x_i + sum over the edges j -> i of x_j; (N, C), (2, E) -> (N, C)."""

    out_field = NODE

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return x + operator(edge_index, len(x), "adjacency", dtype=x.dtype)(x)


class CappedSum(nn.Module):
    """The same over the first CAP edges into each node only, in the order in which they are listed."""

    out_field = NODE

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        places = pattern(edge_index, len(x))
        # the entries of a row stand in the order in which its edges are listed
        rank = torch.arange(places.edges, device=x.device) - places.starts[places.rows]
        return x + product(places, (rank < CAP).to(x.dtype)[None], None, x, listed=False)


class NumberedNodes(nn.Module):
    """x_i + sin(i / 4), where i is the number of the node; (N, C) -> (N, C)."""

    out_field = NODE

    def forward(self, x: Tensor) -> Tensor:
        return x + torch.arange(len(x), dtype=x.dtype, device=x.device).div(4).sin()[:, None]


class MeanReadout(nn.Module):
    """The mean over the nodes; (N, C) -> (1, C)."""

    out_field = INVARIANT

    def forward(self, x: Tensor) -> Tensor:
        return x.sum(0, keepdim=True) / max(1, len(x))


class WeightedReadout(nn.Module):
    """The mean over the nodes, the last one counting twice as much as the first; (N, C) -> (1, C)."""

    out_field = INVARIANT

    def forward(self, x: Tensor) -> Tensor:
        weights = torch.linspace(1.0, 2.0, len(x), dtype=x.dtype, device=x.device)
        return (weights @ x / weights.sum().clamp_min(1.0))[None]


class GraphClassifier(nn.Module):
    """Two steps of message passing and a readout; (N, 6), (2, E) -> (1, 4).

    `aggregate2`, `numbered` and `readout` are the layers of which a faulty network replaces one.
    """

    def __init__(
        self, aggregate2: nn.Module | None = None, numbered: nn.Module | None = None, readout: nn.Module | None = None
    ) -> None:
        super().__init__()
        self.linear1 = nn.Linear(CHANNELS, HIDDEN)
        self.aggregate1 = NeighbourSum()
        self.relu1 = nn.ReLU()
        self.numbered = numbered or nn.Identity()
        self.linear2 = nn.Linear(HIDDEN, HIDDEN)
        self.aggregate2 = aggregate2 or NeighbourSum()
        self.relu2 = nn.ReLU()
        self.readout = readout or MeanReadout()
        self.classifier = nn.Linear(HIDDEN, CLASSES)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = self.numbered(self.relu1(self.aggregate1(self.linear1(x), edge_index)))
        x = self.relu2(self.aggregate2(self.linear2(x), edge_index))
        return self.classifier(self.readout(x))


def build() -> GraphClassifier:
    """Build the network without a fault."""
    return seeded(GraphClassifier)


def build_numbered() -> GraphClassifier:
    """Build it with a layer that adds a function of the node's number."""
    return seeded(lambda: GraphClassifier(numbered=NumberedNodes()))


def build_capped() -> GraphClassifier:
    """Build it with a second aggregation of the first edges only."""
    return seeded(lambda: GraphClassifier(aggregate2=CappedSum()))


def build_weighted() -> GraphClassifier:
    """Build it with a readout that weights the nodes by their numbers."""
    return seeded(lambda: GraphClassifier(readout=WeightedReadout()))


def _card(
    name: str, title: str, equation: str, summary: str, build: Callable[[], nn.Module], layer: type[nn.Module]
) -> Card:
    fault = FAULTS.get(name)
    return Card(
        name=name,
        title=title,
        rows=("N1",),
        groups=() if fault else ("permutation",),
        domain="graph",
        reference=(
            'Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.3, eq. (35)'
            + (", with a planted fault" if fault else "")
        ),
        equation=equation,
        summary=summary,
        build=build,
        input=GraphInput(channels=CHANNELS),
        sample="karate",
        source=(layer, GraphClassifier),
        notes=(f"planted fault: layer {fault}",) if fault else (),
    )


CARD = (
    _card(
        "symmetric-gnn",
        "Graph network without a fault",
        "h_i = σ( W x_i + b + Σ_{j → i} (W x_j + b) ), twice\ny = V · mean_i h_i + c",
        "Sums over neighbours and a mean over nodes know neither numbers nor order: permute the nodes, and every "
        "layer follows. The control for the three networks with a planted fault.",
        build,
        NeighbourSum,
    ),
    _card(
        "fault-node-number",
        "Planted fault: a number for every node",
        "h'_i = h_i + sin(i / 4)",
        "One layer adds a function of the node's number, as a position encoding of sequences does. The cumulative "
        "error stays from there on; the local error names the layer.",
        build_numbered,
        NumberedNodes,
    ),
    _card(
        "fault-neighbour-cap",
        "Planted fault: a cap on the neighbours",
        f"h_i = x_i + Σ x_j over the first {CAP} listed edges j → i",
        "One aggregation keeps the first edges of the list. Permuting the nodes alone would not show it; permuting "
        "the list of edges with them does. On a graph without larger degrees nothing is wrong.",
        build_capped,
        CappedSum,
    ),
    _card(
        "fault-readout",
        "Planted fault: a readout by number",
        "y = V · Σ_i c_i h_i + c,   c_i = 1 + i / (N − 1), made to add up to 1",
        "Every node field is right, the graph-level output is not: the mean over the nodes counts the last one "
        "twice as much as the first.",
        build_weighted,
        WeightedReadout,
    ),
)
