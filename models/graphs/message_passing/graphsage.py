"""GraphSAGE: two layers, each of which aggregates a sample of the neighbours by their mean, their maximum or an LSTM.

Hamilton, Ying, Leskovec, "Inductive Representation Learning on Large Graphs", 2017, algorithm 1 and section 3.3:

    z_i = AGGREGATE({x_j : j in S(i)}),   h_i = W_neighbour z_i + b + W_self x_i

The layer is in `models.layers.graph.sage`.
"""

from __future__ import annotations

from functools import partial

from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.spaces.graph.network.form import GraphInput
from models.layers.graph.sage import AggregateSampled, SAGELayer, SampledNeighbours
from models.training.graphs.nodes import RECIPES, measured, train

AGGREGATES = ("mean", "max", "lstm")
HIDDEN = 16


class GraphSAGE(nn.Module):
    """Two layers with a ReLU between them; x (N, 6), edge_index (2, E) -> scores of the classes, (N, 4)."""

    def __init__(self, how: str = "mean", fanout: int = 0, inputs: int = 6, outputs: int = 4) -> None:
        super().__init__()
        self.layer1 = SAGELayer(inputs, HIDDEN, how, fanout, seed=1)
        self.relu1 = nn.ReLU()
        self.layer2 = SAGELayer(HIDDEN, outputs, how, fanout, seed=2)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.layer2(self.relu1(self.layer1(x, edge_index)), edge_index)


def build(aggregate: float = 0, fanout: float = 0) -> GraphSAGE:
    """Build the network with one kind of aggregation, over all neighbours (fanout 0) or at most `fanout`."""
    return GraphSAGE(AGGREGATES[int(aggregate)], int(fanout))


INPUT = GraphInput(channels=6)

CARD = Card(
    name="graphsage",
    title="GraphSAGE: mean, max or LSTM of sampled neighbours",
    rows=("N3",),
    groups=("permutation",),
    reference=(
        'Hamilton, Ying, Leskovec, "Inductive Representation Learning on Large Graphs", 2017, algorithm 1, '
        "section 3.3 (mean, LSTM and pooling aggregators)"
    ),
    equation="zᵢ = AGGREGATE({xⱼ : j ∈ S(i)}),   S(i) ⊆ N(i), |S(i)| ≤ fanout\nhᵢ = W₁ zᵢ + b + W₂ xᵢ",
    summary=(
        "A node hears at most fanout of its neighbours (0: all of them) and adds what it knows of itself. The law of "
        "permutations is claimed for the mean of all neighbours, the default, and holds for max too. An LSTM reads "
        "its neighbours one after the other and the sample is drawn by place in the list: shuffle the nodes and see "
        "the law break at layer1.aggregated (LSTM) or layer1.sampled (fanout above 0)."
    ),
    build=build,
    input=INPUT,
    domain="graph",
    params=(
        Param("aggregate", "Aggregate", 0, 0, len(AGGREGATES) - 1, choices=AGGREGATES),
        Param("fanout", "Neighbours drawn (0: all)", 0, 0, 16, whole=True),
    ),
    sample="karate",
    weights="graphsage.safetensors",
    train=partial(train, build, INPUT.signals, RECIPES["graphsage"]),
    notes=measured("graphsage"),
    source=(SAGELayer, SampledNeighbours, AggregateSampled),
)
