"""A file of somebody's graph networks, as it is handed to the command line."""

import torch
from torch import nn


class Plain(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        self.a, self.b = nn.Linear(8, 6), nn.Linear(6, 2)
        self.fault = fault

    def forward(self, x, edge_index):
        h = torch.relu(self.a(x))
        if self.fault:
            h = h * torch.arange(1, len(h) + 1).to(h)[:, None]
        h = h + torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]])
        return self.b(h)


class Broken(Plain):
    def __init__(self):
        super().__init__(True)


def factory():
    return Plain()


def broken_factory():
    return Plain(True)


instance = Plain()


class Unweighted(Plain):
    """Has weights that a person may pass, and a mistake that only these lead to."""

    def forward(self, x, edge_index, edge_weight=None, edge_attr=None):
        out = super().forward(x, edge_index)
        if edge_weight is not None or edge_attr is not None:
            out = out.cumsum(0)
        return out


class WithAttributes(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        self.a, self.e, self.b = nn.Linear(8, 6), nn.LazyLinear(6), nn.Linear(6, 2)
        self.fault = fault

    def forward(self, x, edge_index, edge_attr):
        h = self.a(x)
        e = edge_attr.sort(0).values if self.fault else edge_attr
        m = torch.tanh(self.e(e)) * h[edge_index[0]]
        return self.b(h + torch.zeros_like(h).index_add(0, edge_index[1], m))


class BrokenAttributes(WithAttributes):
    def __init__(self):
        super().__init__(True)


class OtherNames(nn.Module):
    """Needs a number for each edge, under a name of its own."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 6), nn.Linear(6, 2)

    def forward(self, x, edge_index, strength):
        h = torch.relu(self.a(x))
        m = strength[:, None] * h[edge_index[0]]
        return self.b(torch.zeros_like(h).index_add(0, edge_index[1], m))


class KeywordOnly(Plain):
    def forward(self, x, *, edge_index):
        return super().forward(x, edge_index)


class Adjacency(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 6), nn.Linear(6, 2)

    def forward(self, x, adj):
        return self.b(torch.relu(adj @ self.a(x)))


class OfData(Plain):
    def forward(self, data):
        return super().forward(data.x, data.edge_index)


class NeedsWidth(Plain):
    def __init__(self, hidden):
        super().__init__()
        self.hidden = hidden


class Atoms(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(10, 4), nn.Linear(4, 1)

    def forward(self, z, edge_index):
        h = self.table(z)
        return self.out(h + torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]]))
