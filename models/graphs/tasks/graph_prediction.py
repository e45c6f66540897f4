"""Graph task: one answer for a whole graph, by a sum, mean or maximum over its nodes.

Battaglia et al., "Relational inductive biases, deep learning, and graph networks", 2018, section 4.2 (rho);
Zaheer et al., "Deep Sets", 2017, theorem 2:

    y = rho(READOUT({h_i : i in G}))

A sum grows with the graph, as a boiling point does with the molecule; a mean and a maximum do not.
"""

from __future__ import annotations

from functools import partial

from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.spaces.graph.network.form import GraphInput
from models.layers.graph.aggregation import READOUTS, Readout
from models.layers.graph.sage import SAGELayer
from models.training.graphs.molecules import Recipe, measured, train

HIDDEN = 32


class GraphPrediction(nn.Module):
    """Two layers on the nodes, readout, perceptron; x (N, 8), edge_index (2, E), batch (N,) -> (G, outputs)."""

    def __init__(self, readout: str = "sum", inputs: int = 8, outputs: int = 1) -> None:
        super().__init__()
        self.layer1 = SAGELayer(inputs, HIDDEN)
        self.relu1 = nn.ReLU()
        self.layer2 = SAGELayer(HIDDEN, HIDDEN)
        self.relu2 = nn.ReLU()
        self.readout = Readout(readout)
        self.head = nn.Sequential(nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, outputs))

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        h = self.relu1(self.layer1(x, edge_index))
        h = self.relu2(self.layer2(h, edge_index))
        return self.head(self.readout(h, batch))


def build(readout: float = 0) -> GraphPrediction:
    """Build the network with a sum, mean or max over the nodes of each graph."""
    return GraphPrediction(READOUTS[int(readout)])


RECIPE = Recipe("head.2", steps=1000)
ERRORS = {"learned_error": 4.866, "test_error": 6.689, "baseline_error": 8.505}  # of the shipped weights, °C
CROSSED = 6.1

CARD = Card(
    name="graph-prediction",
    title="Graph task: readout by sum, mean or max",
    rows=("N6",),
    groups=("permutation",),
    reference=(
        'Zaheer et al., "Deep Sets", 2017, theorem 2; Battaglia et al., '
        '"Relational inductive biases, deep learning, and graph networks", 2018, section 4.2'
    ),
    equation="h = GNN(x, A)\ny = ρ(READOUT({hᵢ : i ∈ G})),   READOUT = Σ, mean or max",
    summary=(
        "From relu2 (nodes) to readout (the graph) the order of the nodes is forgotten: permute, and the layers "
        "before move while readout and output stand still. With max, select a node and see in how many channels it "
        "is the one that counts; in a batch each graph gets an answer of its own."
    ),
    build=build,
    input=GraphInput(channels=8, signals=("x", "edge_index", "batch"), features="atoms"),
    domain="graph",
    params=(Param("readout", "Readout", 0, 0, len(READOUTS) - 1, choices=READOUTS),),
    sample="hexanes",
    weights="graph-prediction.safetensors",
    train=partial(train, build, RECIPE),
    notes=measured(3713, ERRORS, CROSSED),
    source=(GraphPrediction, Readout),
)
