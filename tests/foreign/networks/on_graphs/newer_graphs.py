"""Newer graph networks by hand and of torch_geometric: several aggregations, virtual nodes, norms of graphs."""

from __future__ import annotations

from functools import partial

import torch
from torch import nn

from tests.foreign.case import Case, Given, drawn
from tests.foreign.networks.on_graphs.graphs import edges


def graph():
    return Given((drawn(9, 3), edges()), ("nodes", "index"))


class Aggregate(nn.Module):
    """Mean, largest and spread of what comes in; or what came last."""

    def __init__(self, cin, cout, last=False):
        super().__init__()
        self.pre, self.post, self.last = nn.Linear(2 * cin, cin), nn.Linear(4 * cin, cout), last

    def forward(self, x, edge_index):
        source, target = edge_index
        m = torch.relu(self.pre(torch.cat([x[source], x[target]], 1)))
        to = target[:, None].expand_as(m)
        zero = torch.zeros_like(x)
        if self.last:
            top = zero.clone()
            for k in range(len(m)):
                top[target[k]] = m[k]
        else:
            top = zero.scatter_reduce(0, to, m, "amax", include_self=False)
        mean = zero.scatter_reduce(0, to, m, "mean", include_self=False)
        square = zero.scatter_reduce(0, to, m * m, "mean", include_self=False)
        return self.post(torch.cat([x, mean, top, (square - mean * mean).clamp_min(0).add(1e-3).sqrt()], 1))


class Several(nn.Module):
    def __init__(self, last=False):
        super().__init__()
        self.first, self.second = Aggregate(3, 4), Aggregate(4, 2, last)

    def forward(self, x, edge_index):
        return self.second(torch.relu(self.first(x, edge_index)), edge_index)


class Virtual(nn.Module):
    """One more node that hears all others and speaks to them; or that hears the first alone."""

    def __init__(self, c, first=False):
        super().__init__()
        self.up, self.down, self.first = nn.Linear(c, c), nn.Linear(c, c), first

    def forward(self, x):
        heard = x[:1] if self.first else x.mean(0, keepdim=True)
        return x + self.down(torch.tanh(self.up(heard)))


class Hub(nn.Module):
    def __init__(self, first=False):
        super().__init__()
        self.embed, self.hub, self.out = nn.Linear(3, 6), Virtual(6, first), nn.Linear(6, 2)

    def forward(self, x, edge_index):
        h = torch.relu(self.embed(x))
        h = h.index_add(0, edge_index[1], h[edge_index[0]])
        return self.out(self.hub(h))


class Norm(nn.Module):
    def __init__(self, c, running=False):
        super().__init__()
        self.alpha, self.running = nn.Parameter(torch.rand(c)), running

    def forward(self, x):
        count = torch.arange(1, len(x) + 1, dtype=x.dtype)[:, None]
        mean = x.cumsum(0) / count if self.running else x.mean(0, keepdim=True)
        x = x - self.alpha * mean
        return x / (x.square().mean(0, keepdim=True) + 1e-5).sqrt()


class Jumping(nn.Module):
    """Answers of all layers together; the middle one is normed."""

    def __init__(self, running=False, rolled=False):
        super().__init__()
        self.lins = nn.ModuleList([nn.Linear(3, 4), nn.Linear(4, 4), nn.Linear(4, 4)])
        self.norm, self.out, self.rolled = Norm(4, running), nn.Linear(12, 2), rolled

    def forward(self, x, edge_index):
        found = []
        for k, lin in enumerate(self.lins):
            x = lin(x).relu()
            x = x + torch.zeros_like(x).index_add_(0, edge_index[1], x[edge_index[0]]) / 3
            if k == 1:
                x = self.norm(x)
            found.append(x)
        if self.rolled:
            found[0] = found[0].roll(1, 0)
        return self.out(torch.cat(found, -1))


class Geometric(nn.Module):
    """Convolutions and norms of torch_geometric; numbers of nodes among the features are the fault."""

    def __init__(self, kind, numbered=False):
        super().__init__()
        from torch_geometric import nn as gnn

        wide = 4 if numbered else 3
        self.first = {
            "GEN": lambda: gnn.GENConv(wide, 6), "GraphNorm": lambda: gnn.GraphConv(wide, 6),
            "PNA": lambda: gnn.PNAConv(
                wide, 6, ["mean", "max", "std"], ["identity", "amplification"], torch.tensor([0, 2, 4, 3])
            ),
            "General": lambda: gnn.GeneralConv(wide, 6, attention=True),
        }[kind]()  # fmt: skip
        self.norm = gnn.GraphNorm(6) if kind == "GraphNorm" else gnn.LayerNorm(6)
        self.last, self.numbered = gnn.SAGEConv(6, 2), numbered

    def forward(self, x, edge_index):
        if self.numbered:
            x = torch.cat([x, 0.1 * torch.arange(len(x), dtype=x.dtype)[:, None]], 1)
        return self.last(self.norm(self.first(x, edge_index)).relu(), edge_index)


def points():
    return Given((drawn(1, 3, 14),), ("nodes@2",))


class Aligned(nn.Module):
    """PointNet in little: (1, 3, points), aligned by a matrix that all points make, or the first one."""

    def __init__(self, first=False):
        super().__init__()
        self.align = Align(first)
        self.lift, self.head = nn.Conv1d(3, 8, 1), nn.Linear(8, 2)

    def forward(self, x):
        matrix = self.align(x)
        x = self.lift(matrix @ x).relu()
        return self.head(x.amax(2)), matrix


class Align(nn.Module):
    def __init__(self, first):
        super().__init__()
        self.lift, self.fc, self.first = nn.Conv1d(3, 8, 1), nn.Linear(8, 9), first

    def forward(self, x):
        x = self.lift(x).relu()
        return self.fc(x[:, :, 0] if self.first else x.amax(2)).view(-1, 3, 3)


ALIGNED = Case("points on the last axis", Aligned, points, "permutation", ("fixed", "fixed"), hooks=False)


def pair(name, make, faulty, culprit):
    sound = Case(name, make, graph, "permutation", ("nodes",), hooks=False)
    return [sound, sound.broken("a fault", faulty, *culprit)]


CASES = (
    ALIGNED,
    ALIGNED.broken("the first one", partial(Aligned, True), "align"),
    *pair("several aggregations", Several, partial(Several, True), ["second"]),
    *pair("a virtual node", Hub, partial(Hub, True), ["hub"]),
    *pair("a norm of graphs", Jumping, partial(Jumping, True), ["norm"]),
    *pair("layers put together", partial(Jumping), partial(Jumping, rolled=True), []),
    *(
        case
        for kind in ("GEN", "GraphNorm", "PNA", "General")
        for case in pair(kind, partial(Geometric, kind), partial(Geometric, kind, True), [])
    ),
)
