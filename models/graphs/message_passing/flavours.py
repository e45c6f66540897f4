"""The three flavours of graph networks, each with its own weights, side by side.

Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.3, eq. 33 to 35, with the sum over the
neighbours and phi(x, z) = W x + z + b:

    convolutional     h_i = phi(x_i, sum_j c_ij psi(x_j))
    attentional       h_i = phi(x_i, sum_j a(x_i, x_j) psi(x_j))
    message passing   h_i = phi(x_i, sum_j psi(x_i, x_j))

c_ij is a number that only the graph decides, a(x_i, x_j) a number that the features decide, psi(x_i, x_j) a vector.
"""

from __future__ import annotations

from functools import partial

from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.card import Card
from explorer.spaces.graph.fields import EDGE, NODE
from explorer.spaces.graph.network.form import GraphInput
from models.layers.graph.aggregation import Aggregate, AtSource, AtTarget, SideBySide, aggregate
from models.layers.graph.convolution import Convolution, Weighted
from models.layers.graph.members import Member, ThreeMembers
from models.training.graphs.nodes import RECIPES, measured, train

HIDDEN = 16
SLOPE = 0.2  # of the leaky ReLU in a(x_i, x_j), as in the graph attention network of 2018


class Logits(nn.Module):
    """LeakyReLU of the sum of what both ends score: (E, 1), (E, 1) -> (E, 1)."""

    out_field = EDGE

    def forward(self, at_target: Tensor, at_source: Tensor) -> Tensor:
        return F.leaky_relu(at_target + at_source, SLOPE)


class SoftmaxOfNeighbours(nn.Module):
    """exp(l_ij) / sum_j exp(l_ij) over the edges that enter i: logits (E, H), (2, E), x (N, ...) -> (E, H)."""

    out_field = EDGE

    def forward(self, logits: Tensor, edge_index: Tensor, x: Tensor) -> Tensor:
        target = edge_index[1]
        largest = aggregate(logits, target, len(x), "max")
        weights = (logits - largest[target]).exp()
        return weights / aggregate(weights, target, len(x), "sum")[target]


class Attention(nn.Module):
    """Eq. 34: W x_i + b + sum_j a(x_i, x_j) psi(x_j); (N, C), (2, E) -> (N, D)."""

    out_field = NODE

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.psi = nn.Linear(inputs, outputs)
        self.score_as_target, self.score_as_source = nn.Linear(outputs, 1, bias=False), nn.Linear(outputs, 1)
        self.targets, self.sources = AtTarget(), AtSource()
        self.logits = Logits()
        self.coefficients = SoftmaxOfNeighbours()
        self.messages = Weighted()
        self.aggregated = Aggregate("sum")
        self.own = nn.Linear(inputs, outputs)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        psi = self.psi(x)
        at_target = self.targets(self.score_as_target(psi), edge_index)
        at_source = self.sources(self.score_as_source(psi), edge_index)
        coefficients = self.coefficients(self.logits(at_target, at_source), edge_index, x)
        messages = self.messages(coefficients, self.sources(psi, edge_index))
        return self.own(x) + self.aggregated(messages, edge_index, x)


class MessagePassing(nn.Module):
    """Eq. 35: W x_i + b + sum_j psi(x_i, x_j), psi a perceptron of the pair; (N, C), (2, E) -> (N, D)."""

    out_field = NODE

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.targets, self.sources = AtTarget(), AtSource()
        self.pairs = SideBySide(EDGE)
        self.messages = nn.Sequential(nn.Linear(2 * inputs, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, outputs))
        self.aggregated = Aggregate("sum")
        self.own = nn.Linear(inputs, outputs)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        pairs = self.pairs(self.targets(x, edge_index), self.sources(x, edge_index))
        return self.own(x) + self.aggregated(self.messages(pairs), edge_index, x)


def build(inputs: int = 6, outputs: int = 4) -> ThreeMembers:
    """Build one network of each flavour, with weights of their own."""
    flavours = (Convolution, Attention, MessagePassing)
    return ThreeMembers(*(Member(flavour(inputs, HIDDEN), flavour(HIDDEN, outputs)) for flavour in flavours))


INPUT = GraphInput(channels=6)

CARD = Card(
    name="three-flavours",
    title="Three flavours: convolution, attention, messages",
    rows=("N1",),
    groups=("permutation",),
    reference=('Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.3, eq. 33, 34 and 35'),
    equation=(
        "convolutional:  hᵢ = φ(xᵢ, Σⱼ cᵢⱼ ψ(xⱼ)),   cᵢⱼ = 1/√(dᵢ dⱼ)\n"
        "attentional:  hᵢ = φ(xᵢ, Σⱼ a(xᵢ, xⱼ) ψ(xⱼ))\n"
        "message passing:  hᵢ = φ(xᵢ, Σⱼ ψ(xᵢ, xⱼ)),   φ(x, z) = W x + z + b"
    ),
    summary=(
        "Three networks with weights of their own on one graph; the output is their mean. Compare the layers called "
        "coefficients, one number for each edge: under convolution they stand still when features change, under "
        "attention they do not. Message passing has none: its messages are vectors that both ends decide."
    ),
    build=build,
    input=INPUT,
    domain="graph",
    sample="karate",
    weights="three-flavours.safetensors",
    train=partial(train, build, INPUT.signals, RECIPES["three-flavours"]),
    notes=measured("three-flavours"),
    source=(Convolution, Attention, MessagePassing, ThreeMembers),
)
