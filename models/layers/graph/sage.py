"""The layer of GraphSAGE: aggregate a sample of the neighbours, and add what the node knows of itself.

Hamilton, Ying, Leskovec, "Inductive Representation Learning on Large Graphs", 2017, algorithm 1 and section 3.3:

    z_i = AGGREGATE({x_j : j in S(i)}),   h_i = W_neighbour z_i + b + W_self x_i

S(i) is N(i) or `fanout` of its members, drawn without repetition. Mean and max are functions of a multiset; an LSTM
reads a sequence, so that it depends on the order in which the edges are listed.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from explorer.declare.fields import EDGE, NODE
from models.layers.graph.aggregation import AtSource, aggregate


def order_at_target(target: Tensor) -> tuple[Tensor, Tensor]:
    """Return the listed edges sorted by target, stably, (E,), and the position of each within its target, (E,)."""
    order = torch.argsort(target, stable=True)
    ascending = target[order]
    first = torch.searchsorted(ascending, ascending)  # where the run of this target begins
    return order, torch.arange(len(target), device=target.device) - first


class SampledNeighbours(nn.Module):
    """1 for the edges that are drawn and 0 for the others: x (N, C), (2, E) -> (E, 1).

    At most `fanout` of the edges that enter a node are drawn, uniformly and without repetition; 0 takes all. While
    training every call draws anew; when judging, the same places in the list of edges are drawn every time.
    """

    out_field = EDGE

    def __init__(self, fanout: int, seed: int) -> None:
        super().__init__()
        self.fanout, self.seed = fanout, seed

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        target = edge_index[1]
        kept = torch.ones(len(target), 1, dtype=x.dtype, device=x.device)
        if self.fanout == 0:
            return kept
        chance = None if self.training else torch.Generator().manual_seed(self.seed)
        shuffled = torch.randperm(len(target), generator=chance).to(target.device)
        order, position = order_at_target(target[shuffled])
        kept[shuffled[order[position >= self.fanout]]] = 0.0
        return kept


class AggregateSampled(nn.Module):
    """Mean, max or LSTM over the edges with kept = 1: messages (E, C), kept (E, 1), (2, E), x (N, ...) -> (N, C)."""

    out_field = NODE

    def __init__(self, how: str, channels: int) -> None:
        super().__init__()
        self.how = how
        self.lstm = nn.LSTM(channels, channels, batch_first=True) if how == "lstm" else None

    def forward(self, messages: Tensor, kept: Tensor, edge_index: Tensor, x: Tensor) -> Tensor:
        target = edge_index[1]
        if not bool((kept > 0).all()):
            chosen = torch.nonzero(kept[:, 0])[:, 0]
            messages, target = messages[chosen], target[chosen]
        if self.lstm is None:
            return aggregate(messages, target, len(x), self.how)
        if len(target) == 0:
            return messages.new_zeros(len(x), messages.shape[1])
        order, position = order_at_target(target)
        # Zeros fill each sequence up to the longest one and are read as well, as torch_geometric's SAGEConv does it.
        sequences = messages.new_zeros(len(x), int(position.max()) + 1, messages.shape[1])
        sequences = sequences.index_put((target[order], position), messages[order])
        return self.lstm(sequences)[0][:, -1]


class SAGELayer(nn.Module):
    """h_i = W_neighbour AGGREGATE(x_j) + b + W_self x_i; (N, C), (2, E) -> (N, D)."""

    out_field = NODE

    def __init__(self, inputs: int, outputs: int, how: str = "mean", fanout: int = 0, seed: int = 0) -> None:
        super().__init__()
        self.sampled = SampledNeighbours(fanout, seed)
        self.messages = AtSource()
        self.aggregated = AggregateSampled(how, inputs)
        self.from_neighbours = nn.Linear(inputs, outputs)
        self.from_self = nn.Linear(inputs, outputs, bias=False)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        kept = self.sampled(x, edge_index)
        z = self.aggregated(self.messages(x, edge_index), kept, edge_index, x)
        return self.from_neighbours(z) + self.from_self(x)
