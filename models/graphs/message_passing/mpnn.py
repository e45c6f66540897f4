"""Message passing neural network: an edge says by which matrix its message is multiplied.

Gilmer, Schoenholz, Riley, Vinyals, Dahl, "Neural Message Passing for Quantum Chemistry", 2017, section 5:

    m_i = sum_{j in N(i)} A(e_ji) h_j,   h_i <- GRU(m_i, h_i),   y = R({h_i})

A is a network from the attributes of an edge to a matrix. The same A and GRU are used in every step.
"""

from __future__ import annotations

from functools import partial

from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.spaces.graph.fields import EDGE
from explorer.spaces.graph.network.form import GraphInput
from models.layers.graph.aggregation import READOUTS, Aggregate, AtSource, Readout
from models.training.graphs.molecules import Recipe, measured, train

HIDDEN = 32
EDGE_HIDDEN = 12
EDGE_CHANNELS = 4


class EdgeMatrix(nn.Module):
    """m_ij = A(e_ij) h_j: matrices (E, C * D), row by row of (C, D), h_j (E, C) -> messages (E, D)."""

    out_field = EDGE

    def forward(self, matrices: Tensor, sources: Tensor) -> Tensor:
        return (sources[:, None] @ matrices.unflatten(1, (sources.shape[1], -1)))[:, 0]


class MessageStep(nn.Module):
    """m_i = sum_j A(e_ij) h_j: h (N, C), edge_index (2, E), edge_attr (E, K) -> (N, D)."""

    def __init__(self, inputs: int, outputs: int, edge_channels: int) -> None:
        super().__init__()
        self.edge_network = nn.Sequential(
            nn.Linear(edge_channels, EDGE_HIDDEN), nn.ReLU(), nn.Linear(EDGE_HIDDEN, inputs * outputs)
        )
        self.sources = AtSource()
        self.messages = EdgeMatrix()
        self.aggregated = Aggregate("sum")

    def forward(self, h: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        messages = self.messages(self.edge_network(edge_attr), self.sources(h, edge_index))
        return self.aggregated(messages, edge_index, h)


class GatedUpdate(nn.Module):
    """h_i <- GRU(m_i, h_i): the memory h_i is kept or overwritten, channel by channel; (N, C), (N, C) -> (N, C)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.gru = nn.GRUCell(channels, channels)

    def forward(self, messages: Tensor, h: Tensor) -> Tensor:
        return self.gru(messages, h)


class MPNN(nn.Module):
    """`steps` times message and update, then the readout; x, edge_index, edge_attr, batch -> (G, 1)."""

    def __init__(
        self, steps: int = 3, readout: str = "sum", inputs: int = 8, edge_channels: int = EDGE_CHANNELS
    ) -> None:
        super().__init__()
        self.steps = steps
        self.embedding = nn.Linear(inputs, HIDDEN)
        self.message = MessageStep(HIDDEN, HIDDEN, edge_channels)
        self.update = GatedUpdate(HIDDEN)
        self.readout = Readout(readout)
        self.head = nn.Sequential(nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1))

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, batch: Tensor) -> Tensor:
        h = self.embedding(x)
        for _ in range(self.steps):
            h = self.update(self.message(h, edge_index, edge_attr), h)
        return self.head(self.readout(h, batch))


def build(steps: float = 3, readout: float = 0) -> MPNN:
    """Build the network with a number of steps and a sum, mean or max over the nodes of each graph."""
    return MPNN(int(steps), READOUTS[int(readout)])


RECIPE = Recipe("head.2", bonds=True, steps=600)
ERRORS = {"learned_error": 1.071, "test_error": 2.246, "baseline_error": 8.505}  # of the shipped weights, °C
CROSSED = 1.8

CARD = Card(
    name="mpnn",
    title="MPNN: messages by matrices that edges choose",
    rows=("N1", "N3"),
    groups=("permutation",),
    reference=(
        "Gilmer, Schoenholz, Riley, Vinyals, Dahl, "
        '"Neural Message Passing for Quantum Chemistry", 2017, section 5 (edge network), eq. 1 to 3'
    ),
    equation=("mᵢ = Σⱼ A(eⱼᵢ) hⱼ,   j ∈ N(i), A an edge network\nhᵢ ← GRU(mᵢ, hᵢ), `steps` times\ny = R(Σᵢ hᵢ)"),
    summary=(
        "In a molecule, the kind of a bond decides by which matrix (message.edge_network) the atom at its far end "
        "is heard. message.messages lies on the bonds, one value for each direction; update keeps or overwrites "
        "what an atom remembers. Later calls of the same layers, #2 and #3, see two and three bonds far."
    ),
    build=build,
    input=GraphInput(
        channels=8, signals=("x", "edge_index", "edge_attr", "batch"), edge_channels=EDGE_CHANNELS, features="atoms"
    ),
    domain="graph",
    params=(
        Param("steps", "Steps of message and update", 3, 1, 8, whole=True),
        Param("readout", "Readout", 0, 0, len(READOUTS) - 1, choices=READOUTS),
    ),
    sample="isooctane",
    weights="mpnn.safetensors",
    train=partial(train, build, RECIPE),
    notes=measured(21085, ERRORS, CROSSED),
    source=(MessageStep, EdgeMatrix, GatedUpdate),
)
