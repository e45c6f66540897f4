"""Graph convolution: each neighbour counts with a number that the graph alone decides.

Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.3, eq. 33, with the sum over the
neighbours and phi(x, z) = W x + z + b:

    h_i = phi(x_i, sum_j c_ij psi(x_j)),   c_ij = 1 / sqrt(d_i d_j) or 1 / d_i
"""

from __future__ import annotations

from torch import Tensor, nn

from explorer.declare.fields import EDGE, NODE
from models.layers.graph.aggregation import Aggregate, AtSource, count

NORMALISATIONS = ("symmetric", "mean")


def degrees(edge_index: Tensor, x: Tensor) -> Tensor:
    """Return the number of edges that enter each node, at least 1, (N, 1)."""
    return count(edge_index[1], len(x), x.dtype).clamp_min(1)


class GraphCoefficients(nn.Module):
    """c_ij = 1 / sqrt(d_i d_j), or 1 / d_i ("mean"): x (N, C), (2, E) -> (E, 1)."""

    out_field = EDGE

    def __init__(self, normalisation: str) -> None:
        super().__init__()
        self.normalisation = normalisation

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        degree = degrees(edge_index, x)
        at_source, at_target = degree[edge_index[0]], degree[edge_index[1]]
        return 1 / at_target if self.normalisation == "mean" else (at_target * at_source).rsqrt()


class Weighted(nn.Module):
    """A number for each edge times its values: (E, 1), (E, C) -> (E, C)."""

    out_field = EDGE

    def forward(self, coefficients: Tensor, values: Tensor) -> Tensor:
        return coefficients * values


class Convolution(nn.Module):
    """Eq. 33: W x_i + b + sum_j c_ij psi(x_j); (N, C), (2, E) -> (N, D)."""

    out_field = NODE

    def __init__(self, inputs: int, outputs: int, normalisation: str = NORMALISATIONS[0]) -> None:
        super().__init__()
        self.psi = nn.Linear(inputs, outputs)
        self.coefficients = GraphCoefficients(normalisation)
        self.sources = AtSource()
        self.messages = Weighted()
        self.aggregated = Aggregate("sum")
        self.own = nn.Linear(inputs, outputs)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        coefficients = self.coefficients(x, edge_index)
        messages = self.messages(coefficients, self.sources(self.psi(x), edge_index))
        return self.own(x) + self.aggregated(messages, edge_index, x)
