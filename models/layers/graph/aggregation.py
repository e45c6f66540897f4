"""From nodes to edges and back: the three steps of every message passing layer, each one a layer of its own.

    AtSource, AtTarget   what a node knows, read at the edges that leave it and that enter it
    Aggregate            what the edges that enter a node carry, made one value of that node

An edge j -> i is a column (j, i) of edge_index. Aggregating does not look at the order of the edges: sum, mean, max,
min and the standard deviation are functions of a multiset. A node that no edge enters gets 0.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from explorer.declare.types.fields import INVARIANT, FieldType
from explorer.spaces.graph.fields import EDGE, NODE

AGGREGATORS = ("sum", "mean", "max", "min", "std")
READOUTS = ("sum", "mean", "max")
LEAST_VARIANCE = 1e-5  # below it the standard deviation is taken as 0, where its slope would be infinite


def aggregate(values: Tensor, index: Tensor, places: int, how: str) -> Tensor:
    """Return for each place the sum, mean, max, min or std of the rows of `values` that `index` sends there.

    std = sqrt(mean(v²) - mean(v)²), and 0 where the variance is at most 1e-5 (the rule of torch_geometric's PNAConv).

    Shapes:
        values (K, C); index (K,) of whole numbers below `places`; returns (places, C), 0 where nothing arrives.
    """
    where = index[:, None].expand_as(values)
    out = values.new_zeros(places, values.shape[1])
    match how:
        case "sum":
            return out.index_add(0, index, values)
        case "mean":
            return out.index_add(0, index, values) / count(index, places, values.dtype).clamp_min(1)
        case "max" | "min":
            return out.scatter_reduce(0, where, values, f"a{how}", include_self=False)
        case "std":
            mean, square = (aggregate(v, index, places, "mean") for v in (values, values * values))
            variance = square - mean * mean
            return torch.where(variance > LEAST_VARIANCE, variance.clamp_min(LEAST_VARIANCE).sqrt(), 0.0)
        case _:
            raise ValueError(f"unknown aggregation {how!r}; known are {', '.join(AGGREGATORS)}")


def count(index: Tensor, places: int, dtype: torch.dtype) -> Tensor:
    """Return how often each place occurs in `index`, (places, 1): the degree, when `index` are ends of edges."""
    ones = torch.ones(len(index), 1, dtype=dtype, device=index.device)
    return ones.new_zeros(places, 1).index_add(0, index, ones)


class AtSource(nn.Module):
    """x_j on the edge j -> i: (N, C), (2, E) -> (E, C)."""

    out_field = EDGE

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return x[edge_index[0]]


class AtTarget(nn.Module):
    """x_i on the edge j -> i: (N, C), (2, E) -> (E, C)."""

    out_field = EDGE

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return x[edge_index[1]]


class Aggregate(nn.Module):
    """The messages that enter a node, as one value of it: (E, C), (2, E), x (N, ...) -> (N, C).

    Of x only the number of nodes is taken.
    """

    out_field = NODE

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how

    def forward(self, messages: Tensor, edge_index: Tensor, x: Tensor) -> Tensor:
        return aggregate(messages, edge_index[1], len(x), self.how)


class SideBySide(nn.Module):
    """Fields over the same places as one with all their channels: (K, C1), (K, C2), ... -> (K, C1 + C2 + ...)."""

    def __init__(self, field: FieldType) -> None:
        super().__init__()
        self.out_field = field

    def forward(self, *parts: Tensor) -> Tensor:
        return torch.cat(parts, dim=1)


class Readout(nn.Module):
    """The nodes of each graph of a batch, as one value of that graph: (N, C), (N,) -> (G, C)."""

    out_field = INVARIANT

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how

    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        return aggregate(x, batch, graphs_in(batch), self.how)


def graphs_in(batch: Tensor) -> int:
    """Return the number of graphs of a batch, (N,) of numbers from 0; one graph, if an empty one, at least."""
    return int(batch.max()) + 1 if len(batch) else 1
