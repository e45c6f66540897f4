"""A file of somebody's graph networks that are called in ways of their own: other names, orders, one object."""

import torch
from torch import nn


class Names(nn.Module):
    """A fault adds up the nodes before each node, between its layers."""

    def __init__(self, fault=False):
        super().__init__()
        self.a, self.b, self.fault = nn.Linear(8, 6), nn.Linear(6, 2), fault

    def forward(self, feats, edges):
        h = torch.relu(self.a(feats))
        h = h.cumsum(0) if self.fault else h
        return self.b(h + torch.zeros_like(h).index_add(0, edges[1], h[edges[0]]))


class Order(Names):
    def forward(self, edge_index, x):
        return super().forward(x, edge_index)


class Object(Names):
    """Reads a graph off one object by attributes, as of a Data."""

    def forward(self, graph):
        return super().forward(graph.x, graph.edge_index)


class Summed(Object):
    def __init__(self):
        super().__init__(True)


class Mapping(Names):
    def forward(self, inputs):
        return super().forward(inputs["x"], inputs["edge_index"])


class Flat(Names):
    """Takes one number for each node."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(1, 6)

    def forward(self, x, edge_index):
        assert x.ndim == 1
        return super().forward(x[:, None], edge_index)


class Dense(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 6), nn.Linear(6, 2)

    def forward(self, x, adj):
        h = torch.relu(torch.bmm(adj, self.a(x)))
        return torch.bmm(adj, self.b(h)).mean(1)


class Reversed(Dense):
    def forward(self, A, X):
        return super().forward(X[None], A[None])[0]


class Table(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(30, 6), nn.Linear(6, 2)

    def forward(self, x, edge_index):
        h = self.table(x)
        return self.out(h + torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]]))


class Between(nn.Module):
    """Nobody can know what its second argument is: it runs with a row for each node of anything."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 2)

    def forward(self, x, edge_index, more):
        return self.a(x) + more.mean()
