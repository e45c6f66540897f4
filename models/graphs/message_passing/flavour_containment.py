"""Convolution is contained in attention, and attention in message passing: one function, computed in all three ways.

Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.3, below eq. 35:

    attention that is a convolution:      a(x_i, x_j) = c_ij, by a lookup of what the graph says of the two nodes
    message passing that is attention:    psi(x_i, x_j) = a(x_i, x_j) psi(x_j)

The lookup: every node knows the logarithm of its degree as one more feature, and the logit of attention is linear in
the features of the two ends, l_ij = - (log d_i + log d_j) / 2, so that exp(l_ij) = c_ij. Each member computes
its numbers by itself; only the weights are the same tensors, so that they stay equal while one learns.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.spaces.graph.fields import EDGE, NODE
from explorer.spaces.graph.network.form import GraphInput
from models.layers.graph.aggregation import Aggregate, AtSource, AtTarget, SideBySide
from models.layers.graph.convolution import NORMALISATIONS, Convolution, Weighted, degrees
from models.layers.graph.members import Member, ThreeMembers

HIDDEN = 16
LOOKUP = {"symmetric": (-0.5, -0.5), "mean": (-1.0, 0.0)}  # exponents of (d_i, d_j) in c_ij


class WithLogDegree(nn.Module):
    """x with the logarithm of the degree as its last channel: (N, C), (2, E) -> (N, C + 1)."""

    out_field = NODE

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return torch.cat([x, degrees(edge_index, x).log()], dim=1)


def tied(linear: nn.Linear) -> nn.Linear:
    """Return a layer of its own that has the very parameters of another."""
    twin = nn.Linear(linear.in_features, linear.out_features)
    twin.weight, twin.bias = linear.weight, linear.bias
    return twin


class LookupLogits(nn.Module):
    """l_ij = s · x_i + t · x_j, with s and t looking at the last channel alone: (N, C + 1), (2, E) -> (E, 1)."""

    out_field = EDGE
    as_target: Tensor
    as_source: Tensor

    def __init__(self, channels: int, normalisation: str) -> None:
        super().__init__()
        for name, exponent in zip(("as_target", "as_source"), LOOKUP[normalisation]):
            vector = torch.zeros(channels)
            vector[-1] = exponent
            self.register_buffer(name, vector, persistent=False)

    def forward(self, known: Tensor, edge_index: Tensor) -> Tensor:
        return ((known @ self.as_target)[edge_index[1]] + (known @ self.as_source)[edge_index[0]])[:, None]


class Exponential(nn.Module):
    """exp of every value."""

    out_field = EDGE

    def forward(self, logits: Tensor) -> Tensor:
        return logits.exp()


class LookupAttention(nn.Module):
    """Eq. 34 with a(x_i, x_j) = c_ij = exp(l_ij); (N, C), (2, E) -> (N, D)."""

    out_field = NODE

    def __init__(self, convolution: Convolution) -> None:
        super().__init__()
        self.psi, self.own = tied(convolution.psi), tied(convolution.own)
        self.known = WithLogDegree()
        self.logits = LookupLogits(convolution.psi.in_features + 1, convolution.coefficients.normalisation)
        self.coefficients = Exponential()
        self.sources = AtSource()
        self.messages = Weighted()
        self.aggregated = Aggregate("sum")

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        coefficients = self.coefficients(self.logits(self.known(x, edge_index), edge_index))
        messages = self.messages(coefficients, self.sources(self.psi(x), edge_index))
        return self.own(x) + self.aggregated(messages, edge_index, x)


class PairCoefficients(nn.Module):
    """a(x_i, x_j) as a function of the pair, exp(scores · pair): (E, 2 (C + 1)) -> (E, 1)."""

    out_field = EDGE
    scores: Tensor

    def __init__(self, logits: LookupLogits) -> None:
        super().__init__()
        self.register_buffer("scores", torch.cat([logits.as_target, logits.as_source]), persistent=False)

    def forward(self, pairs: Tensor) -> Tensor:
        return (pairs @ self.scores).exp()[:, None]


class AttentionAsMessage(nn.Module):
    """psi(x_i, x_j) = a(x_i, x_j) psi(x_j), a function of the pair: (E, 2 (C + 1)) -> (E, D)."""

    out_field = EDGE

    def __init__(self, attention: LookupAttention) -> None:
        super().__init__()
        self.psi = tied(attention.psi)
        self.coefficients = PairCoefficients(attention.logits)

    def forward(self, pairs: Tensor) -> Tensor:
        # one matrix on the whole pair: nothing of x_i, all of x_j, nothing of its degree
        inputs = self.psi.in_features
        matrix = F.pad(self.psi.weight, (pairs.shape[1] - inputs - 1, 1))
        return self.coefficients(pairs) * F.linear(pairs, matrix, self.psi.bias)


class PairMessages(nn.Module):
    """Eq. 35 with psi(x_i, x_j) = a(x_i, x_j) psi(x_j); (N, C), (2, E) -> (N, D)."""

    out_field = NODE

    def __init__(self, attention: LookupAttention) -> None:
        super().__init__()
        self.known = WithLogDegree()
        self.targets, self.sources = AtTarget(), AtSource()
        self.pairs = SideBySide(EDGE)
        self.messages = AttentionAsMessage(attention)
        self.aggregated = Aggregate("sum")
        self.own = tied(attention.own)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        known = self.known(x, edge_index)
        pairs = self.pairs(self.targets(known, edge_index), self.sources(known, edge_index))
        return self.own(x) + self.aggregated(self.messages(pairs), edge_index, x)


def build(coefficients: float = 0, inputs: int = 6, outputs: int = 4) -> ThreeMembers:
    """Build a convolution, the attention that equals it and the message passing that equals both."""
    normalisation = NORMALISATIONS[int(coefficients)]
    convolutions = [Convolution(inputs, HIDDEN, normalisation), Convolution(HIDDEN, outputs, normalisation)]
    attentions = [LookupAttention(convolution) for convolution in convolutions]
    messages = [PairMessages(attention) for attention in attentions]
    return ThreeMembers(Member(*convolutions), Member(*attentions), Member(*messages))


CARD = Card(
    name="flavour-containment",
    title="Convolution in attention in message passing",
    rows=("N1",),
    groups=("permutation",),
    reference=(
        'Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.3, eq. 33 to 35 and the '
        "containment stated below them"
    ),
    equation=(
        "convolution ⊆ attention:  a(xᵢ, xⱼ) = cᵢⱼ = exp(− ½ log dᵢ − ½ log dⱼ)\n"
        "attention ⊆ message passing:  ψ(xᵢ, xⱼ) = a(xᵢ, xⱼ) ψ(xⱼ)\n"
        "hᵢ = W xᵢ + b + Σⱼ cᵢⱼ ψ(xⱼ),   j ∈ N(i)"
    ),
    summary=(
        "The same numbers three times, each computed by the means of one flavour: compare messages and aggregated of "
        "the three members, which agree to rounding. The coefficients of the convolution are looked up in the graph; "
        "attention finds them from a feature of both ends, the logarithm of the degree; message passing has the pair "
        "of both ends and makes the whole message of it."
    ),
    build=build,
    input=GraphInput(channels=6),
    domain="graph",
    params=(Param("coefficients", "Coefficients", 0, 0, len(NORMALISATIONS) - 1, choices=NORMALISATIONS),),
    sample="karate",
    source=(Convolution, LookupAttention, LookupLogits, PairMessages, AttentionAsMessage, PairCoefficients),
)
