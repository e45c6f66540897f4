"""Somebody's networks on graphs: pooled by code, with hooks, recurrent, with messages of their own."""

import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric.nn import (
    MessagePassing,
    SAGEConv,
)
from torch_geometric.utils import degree


class DiffPool(nn.Module):
    def __init__(self, modulo=False):
        super().__init__()
        self.emb = nn.Linear(4, 8)
        self.ass = nn.Linear(4, 3)
        self.out = nn.Linear(8, 2)
        self.modulo = modulo

    def forward(self, x, adj):
        z = (adj @ self.emb(x)).relu()
        s = (adj @ self.ass(x)).softmax(-1)
        if self.modulo:
            s = F.one_hot(torch.arange(len(x)) % 3, 3).to(x.dtype)
        xp = s.T @ z
        ap = s.T @ adj @ s
        return self.out((ap @ xp).max(0, keepdim=True).values)


def diffpool():
    return DiffPool()


def diffpool_modulo():
    return DiffPool(True)


class NodeGRU(nn.Module):
    def __init__(self, over=False):
        super().__init__()
        self.lin = nn.Linear(4, 8)
        self.gru = nn.GRUCell(8, 8)
        self.seq = nn.GRU(8, 8) if over else None
        self.read = nn.Linear(8, 2)

    def forward(self, x, edge_index):
        h = self.lin(x)
        for _ in range(3):
            m = torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]])
            h = self.gru(m, h)
        if self.seq is not None:
            h, _ = self.seq(h)
        return self.read(h)


def ggnn():
    return NodeGRU()


def ggnn_seq():
    return NodeGRU(True)


class Hooked(nn.Module):
    def __init__(self, on=True):
        super().__init__()
        self.a = SAGEConv(4, 8)
        self.b = SAGEConv(8, 8)
        self.c = nn.Linear(8, 2)
        if on:
            self.b.register_forward_hook(lambda m, i, o: o + 1e-3 * torch.arange(o.shape[0], dtype=o.dtype)[:, None])

    def forward(self, x, edge_index):
        return self.c(self.b(self.a(x, edge_index).relu(), edge_index).relu())


def hooked():
    return Hooked()


def unhooked():
    return Hooked(False)


class PathMP(MessagePassing):
    def __init__(self, c, d, skew=False):
        super().__init__(aggr="add", node_dim=0)
        self.l = nn.Linear(c, d)
        self.skew = skew

    def forward(self, x, edge_index):
        deg = degree(edge_index[1], len(x), dtype=x.dtype).clamp(min=1).pow(-0.5)
        return self.propagate(edge_index, x=self.l(x), norm=deg[edge_index[0]] * deg[edge_index[1]], e=edge_index)

    def message(self, x_j, norm, e):
        if self.skew:
            norm = norm * torch.where(e[0] < e[1], 1.01, 1.0).to(norm.dtype)
        return norm[:, None] * x_j


class GCNish(nn.Module):
    def __init__(self, skew=False):
        super().__init__()
        self.p1 = PathMP(4, 8)
        self.p2 = PathMP(8, 8, skew)
        self.o = nn.Linear(8, 3)

    def forward(self, x, edge_index):
        return self.o(self.p2(self.p1(x, edge_index).relu(), edge_index).relu())


def mp():
    return GCNish()


def mp_skew():
    return GCNish(True)
