"""Edge task: how likely is an edge between two nodes? The scalar product of what is known of both.

Kipf and Welling, "Variational Graph Auto-Encoders", 2016, eq. 2 (inner product decoder, before the sigmoid):

    s_ij = z_i · z_j

The same decoder answers for the listed edges, (E, 1), and for all pairs of nodes, a matrix.
"""

from __future__ import annotations

from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.types.fields import PAIR
from explorer.spaces.graph.fields import EDGE
from explorer.spaces.graph.network.form import GraphInput
from models.layers.graph.aggregation import AtSource, AtTarget
from models.layers.graph.sage import SAGELayer

HIDDEN = 32
EMBEDDING = 16
MOST = 3000  # nodes; the pairs of so many take 36 MB


class PairScores(nn.Module):
    """s_ij = z_i · z_j for all pairs: (N, C) -> (1, N, N)."""

    out_field = PAIR

    def forward(self, z: Tensor) -> Tensor:
        return (z @ z.T)[None]


class EdgeScores(nn.Module):
    """s_ij = z_i · z_j for the listed edges, given the values at both ends: (E, C), (E, C) -> (E, 1)."""

    out_field = EDGE

    def forward(self, targets: Tensor, sources: Tensor) -> Tensor:
        return (targets * sources).sum(dim=1, keepdim=True)


class LinkPrediction(nn.Module):
    """Two layers that make z, then the scores; x (N, 6), edge_index (2, E) -> scores of the edges, (E, 1).

    The scores of all pairs are the layer pair_scores.
    """

    def __init__(self, inputs: int = 6) -> None:
        super().__init__()
        self.layer1 = SAGELayer(inputs, HIDDEN)
        self.relu1 = nn.ReLU()
        self.layer2 = SAGELayer(HIDDEN, EMBEDDING)
        self.targets, self.sources = AtTarget(), AtSource()
        self.pair_scores = PairScores()
        self.edge_scores = EdgeScores()

    def embed(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return z, (N, 16)."""
        return self.layer2(self.relu1(self.layer1(x, edge_index)), edge_index)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        z = self.embed(x, edge_index)
        self.pair_scores(z)
        return self.edge_scores(self.targets(z, edge_index), self.sources(z, edge_index))


CARD = Card(
    name="link-prediction",
    title="Edge task: scores of links",
    rows=("N6",),
    groups=("permutation",),
    reference='Kipf and Welling, "Variational Graph Auto-Encoders", 2016, eq. 2 (inner product decoder)',
    equation="z = GNN(x, A)\nsᵢⱼ = zᵢ · zⱼ,   P(edge j → i) = 1 / (1 + exp(− sᵢⱼ))",
    summary=(
        "The output lies on the edges: one score for each listed edge. pair_scores has the same score for every pair "
        "of nodes, beside the adjacency matrix: pairs with a high score and no edge are the links predicted. "
        "Permuting the nodes permutes the rows and the columns of the matrix."
    ),
    build=LinkPrediction,
    input=GraphInput(channels=6, most=MOST),
    domain="graph",
    sample="karate",
    source=(LinkPrediction, PairScores, EdgeScores),
)
