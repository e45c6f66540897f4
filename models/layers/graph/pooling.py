"""Parts of poolings on graphs and sets: readouts over all nodes, the choice of the highest scores, one convolution.

Several graphs are one graph whose parts are not joined: `batch`, (N,), says which graph a node belongs to. It need not
be sorted, since a permutation of the nodes shuffles it.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from explorer.declare.types.fields import INVARIANT
from explorer.spaces.graph.fields import EDGE, NODE
from models.layers.graph.aggregation import graphs_in
from models.layers.taps import Tap

TIE = 1e-5  # scores that are nearer than this are equal: float32 rounding, and no more, tells them apart


class Readout(nn.Module):
    """Sum, mean or maximum over the nodes of each graph: (N, C), (N,) -> (G, C); of no nodes at all, 0.

    With `alive`, (N, 1), over the nodes where it is not 0 only.
    """

    def __init__(self, kind: Literal["sum", "mean", "max"]) -> None:
        super().__init__()
        self.kind = kind
        self.out_field = INVARIANT

    def forward(self, x: Tensor, batch: Tensor, alive: Tensor | None = None) -> Tensor:
        pooled = x.new_zeros(graphs_in(batch), x.shape[1])
        if self.kind == "max":
            if alive is not None:
                x, batch = x[alive[:, 0] > 0], batch[alive[:, 0] > 0]
            return pooled.scatter_reduce(0, batch[:, None].expand_as(x), x, "amax", include_self=False)
        weight = x.new_ones(len(x), 1) if alive is None else alive
        total = pooled.index_add(0, batch, x * weight)
        if self.kind == "sum":
            return total
        return total / x.new_zeros(len(pooled), 1).index_add(0, batch, weight).clamp_min(1.0)

    def extra_repr(self) -> str:
        return self.kind


class GraphConv(nn.Module):
    """W₁ x_i + W₂ Σ_j x_j + b over the edges j -> i; (N, C), (2, E) -> (N, D).

    Morris et al., "Weisfeiler and Leman Go Neural", 2019, eq. (2); torch_geometric.nn.GraphConv with its names.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.messages = Tap(EDGE)
        self.aggregated = Tap(NODE)
        self.lin_rel = nn.Linear(inputs, outputs)
        self.lin_root = nn.Linear(inputs, outputs, bias=False)
        self.out_field = NODE

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        sender, receiver = edge_index
        messages = self.messages(x[sender])
        aggregated = self.aggregated(torch.zeros_like(x).index_add(0, receiver, messages))
        return self.lin_rel(aggregated) + self.lin_root(x)


def ranked(score: Tensor, batch: Tensor) -> tuple[Tensor, Tensor]:
    """Return the nodes graph by graph, the highest score first, and the place of the first of each graph.

    Shapes:
        score (N,), batch (N,) -> (N,) node numbers; (G,) places in it. Equal scores stay in the order of the nodes.
    """
    order = score.argsort(descending=True, stable=True)
    order = order[batch[order].argsort(stable=True)]
    sizes = batch.new_zeros(graphs_in(batch)).index_add(0, batch, torch.ones_like(batch))
    return order, sizes.cumsum(0) - sizes


def standing(x: Tensor, batch: Tensor) -> Tensor:
    """Return (N,) whole numbers that compare the rows of each graph by their last channel, ties by the one before, ...

    Values tie that rounding alone tells apart; rows that tie in every channel have the same number.
    """
    graph = batch.argsort(stable=True)
    place = torch.zeros_like(batch)
    for channel in x.detach().T:  # the last one has the last word
        order = channel.argsort(stable=True)
        order = order[batch[order].argsort(stable=True)]
        apart = (channel[order].diff() > TIE) | (batch[graph].diff() != 0)
        level = torch.zeros_like(batch)
        level[order[1:]] = apart.cumsum(0)
        place = (level * len(batch) + place).unique(return_inverse=True)[1]
    return place


class Highest(nn.Module):
    """Mark the nodes of the highest scores in each graph: (N, 1), (N,), alive (N, 1) -> (N, 1) of 0 and 1.

    `keep` below 1 is the fraction of the living nodes to keep, rounded up; from 1 on, it is their number. Nodes that
    tie for the last place are all kept. With `tied` False the one listed first wins, as in torch_geometric, which
    makes the choice depend on the order of the nodes.
    """

    marks = True

    def __init__(self, keep: float, tied: bool = True) -> None:
        super().__init__()
        self.keep = keep
        self.tied = tied
        self.out_field = NODE

    def forward(self, score: Tensor, batch: Tensor, alive: Tensor | None = None) -> Tensor:
        if not len(score):
            return torch.zeros_like(score)
        alive = torch.ones_like(score) if alive is None else alive
        value = score[:, 0].masked_fill(alive[:, 0] == 0, -torch.inf)
        order, first = ranked(value, batch)
        living = value.new_zeros(len(first)).index_add(0, batch, alive[:, 0])
        wanted = (self.keep * living).ceil() if self.keep < 1 else living.clamp_max(self.keep)
        wanted = wanted.long()
        if self.tied:
            last = value[order[(first + wanted - 1).clamp(0, len(value) - 1)]]
            kept = (value >= last[batch] - TIE) & (alive[:, 0] > 0)
        else:
            place = torch.empty_like(batch)
            place[order] = torch.arange(len(batch), device=batch.device)
            kept = place - first[batch] < wanted[batch]
        return kept.to(score.dtype)[:, None]

    def extra_repr(self) -> str:
        return f"keep={self.keep:g}, tied={self.tied}"
