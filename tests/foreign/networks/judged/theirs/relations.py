"""Somebody's networks on graphs: dense and listed edges, several answers, pooling; `fault` plants one."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from clouds import Numbered, maybe
from torch import nn


def add(target, index, values):
    return torch.zeros_like(target).index_add(0, index, values)


class DenseGCN(nn.Module):
    """(N, C) and (N, N)."""

    def __init__(self, fault=0):
        super().__init__()
        self.w1, self.w2 = nn.Linear(5, 12), nn.Linear(12, 3)
        self.first, self.middle, self.last = (maybe(fault, k, 0) for k in (1, 2, 3))

    def forward(self, x, adj):
        a = adj + torch.eye(len(adj)).to(adj)
        d = a.sum(1).clamp(min=1e-9).pow(-0.5)
        a = d[:, None] * a * d[None]
        h = F.relu(a @ self.w1(self.first(x)))
        return self.last(a @ self.w2(self.middle(h)))


class DenseBatch(nn.Module):
    """(1, N, C) and (1, N, N): differentiable pooling to three clusters."""

    def __init__(self, fault=0):
        super().__init__()
        self.embed, self.assign, self.out = nn.Linear(6, 8), nn.Linear(6, 3), nn.Linear(8, 2)
        self.first, self.middle = maybe(fault, 1, 1), maybe(fault, 2, 1)

    def forward(self, x, adj):
        z = F.relu(self.embed(adj @ self.first(x)))
        s = torch.softmax(self.middle(self.assign(adj @ x)), -1)
        pooled = s.transpose(1, 2) @ z
        links = s.transpose(1, 2) @ adj @ s
        return self.out((links @ pooled).mean(1))


class BiasedAttention(nn.Module):
    """Attention of all nodes with a bias of the adjacency, batched."""

    def __init__(self, fault=0):
        super().__init__()
        self.inp, self.qkv, self.out = nn.Linear(4, 12), nn.Linear(12, 36), nn.Linear(12, 2)
        self.bias = nn.Parameter(torch.tensor([0.5]))
        self.first, self.last = maybe(fault, 1, 1), maybe(fault, 3, 1)
        self.fault = fault

    def forward(self, h, adjacency):
        h = self.first(self.inp(h))
        q, k, v = self.qkv(h).chunk(3, -1)
        s = q @ k.transpose(1, 2) / 12**0.5 + self.bias * adjacency
        if self.fault == 2:
            s = s.tril() + s.triu(1) * 0.99
        return self.last(self.out(h + s.softmax(-1) @ v))


class EdgeStates(nn.Module):
    """Returns new edges beside new nodes."""

    def __init__(self, fault=0):
        super().__init__()
        self.edge, self.node, self.head = nn.Linear(13, 6), nn.Linear(10, 5), nn.Linear(6, 2)
        self.first, self.middle, self.last = maybe(fault, 1, 0), maybe(fault, 2, 0), maybe(fault, 3, 0)

    def forward(self, x, edge_index, edge_attr):
        s, t = edge_index
        e = torch.relu(self.edge(torch.cat([x[s], x[t], self.first(edge_attr)], -1)))
        h = self.node(torch.cat([x, torch.zeros(len(x), 6).to(e).index_add(0, t, e)], -1))
        return self.middle(h), self.last(self.head(e))


class Out(NamedTuple):
    energy: torch.Tensor
    charges: torch.Tensor


class AsNamedTuple(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.inp, self.gru, self.q, self.e = nn.Linear(4, 8), nn.GRUCell(8, 8), nn.Linear(8, 1), nn.Linear(8, 1)
        self.first, self.middle, self.last = (maybe(fault, k, 0) for k in (1, 2, 3))

    def forward(self, x, edge_index):
        h = self.first(torch.tanh(self.inp(x)))
        for _ in range(3):
            h = self.gru(add(h, edge_index[1], h[edge_index[0]]), h)
        h = self.middle(h)
        return Out(self.e(h).sum(0, keepdim=True), self.last(self.q(h)))


class TopK(nn.Module):
    """Keeps half of the nodes by a score, as U-Nets of graphs do."""

    def __init__(self, fault=0):
        super().__init__()
        self.conv, self.p, self.out = nn.Linear(4, 8), nn.Linear(8, 1), nn.Linear(8, 2)
        self.tie, self.first = 1e-7 if fault == 2 else 0.0, maybe(fault, 1, 0)

    def forward(self, x, edge_index):
        h = torch.relu(self.conv(self.first(x) + add(x, edge_index[1], x[edge_index[0]])))
        s = torch.tanh(self.p(h)).squeeze(-1)
        s = s + self.tie * torch.arange(len(s)).to(s)
        keep = s.topk(max(1, len(s) // 2)).indices
        return self.out((h[keep] * s[keep, None]).mean(0, keepdim=True))


class Sorted(nn.Module):
    """Sorts channels of nodes, takes the five largest and reads them in order."""

    def __init__(self, fault=0):
        super().__init__()
        self.lin, self.read = nn.Linear(4, 3), nn.Linear(15, 2)
        self.first, self.last = maybe(fault, 1, 0), maybe(fault, 3, 0)

    def forward(self, x, edge_index):
        h = self.lin(self.first(x) + add(x, edge_index[0], x[edge_index[1]]))
        return self.read(self.last(h).sort(0, descending=True).values[:5].flatten())


class Labels(nn.Module):
    """Says a class for each node, a whole number."""

    def __init__(self, fault=0):
        super().__init__()
        self.a, self.b = nn.Linear(4, 16), nn.Linear(16, 6)
        self.first = Numbered(0, 0.5) if fault else nn.Identity()

    def forward(self, x, edge_index):
        h = torch.cos(2 * self.first(self.a(x)))
        return self.b(add(h, edge_index[1], h[edge_index[0]])).argmax(-1)


class Loops(nn.Module):
    """Message passing written with a loop over edges."""

    def __init__(self, fault=0):
        super().__init__()
        self.f, self.fault = nn.Linear(4, 4), fault

    def forward(self, x, edge_index):
        rows = [x[i] for i in range(len(x))]
        y = self.f(x)
        for k, (s, t) in enumerate(edge_index.t().tolist()):
            rows[t] = rows[t] + y[s] * (1 + (0.01 * k if self.fault else 0.0))
        return torch.stack(rows)


class Virtual(nn.Module):
    """A node that hears all others; norms of several kinds."""

    def __init__(self, fault=0):
        super().__init__()
        self.inp, self.up, self.down, self.out = (
            nn.Linear(4, 10),
            nn.Linear(10, 10),
            nn.Linear(10, 10),
            nn.Linear(10, 2),
        )
        self.bn, self.ln, self.gn = nn.BatchNorm1d(10), nn.LayerNorm(10), nn.GroupNorm(2, 10)
        self.first, self.middle, self.last = (maybe(fault, k, 0) for k in (1, 2, 3))

    def forward(self, x, edge_index):
        h = self.bn(self.first(self.inp(x)))
        v = F.relu(self.up(h)).mean(0, keepdim=True)
        h = self.middle(self.ln(h + add(h, edge_index[1], h[edge_index[0]]) + self.down(v)))
        return self.out(self.last(self.gn(h)))


class Bond(nn.Module):
    """Lookup tables for atoms and kinds of bonds, `forward(self, data)`."""

    def __init__(self, fault=0):
        super().__init__()
        self.atoms, self.w, self.out = nn.Embedding(119, 8), nn.Linear(8, 8), nn.Linear(8, 1)
        self.first, self.last = maybe(fault, 1, 0), maybe(fault, 3, 0)

    def forward(self, data):
        h = self.first(self.atoms(data.z))
        s, t = data.edge_index
        h = h + F.relu(self.w(add(h, t, h[s])))
        return self.out(self.last(h)).sum(0)


class Laplacian(nn.Module):
    """Filters on the eigenvectors of the Laplacian, all of them, squared: signs do not matter."""

    def __init__(self, fault=0):
        super().__init__()
        self.w, self.filt = nn.Linear(5, 3), nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
        self.cut = fault

    def forward(self, x, adj):
        a = (adj + adj.t()) / 2
        lap = torch.diag(a.sum(1)) - a
        val, vec = torch.linalg.eigh(lap)
        gain = self.filt(val[:, None])[:, 0]
        out = vec @ (gain[:, None] * (vec.t() @ self.w(x)))
        return out + 0.01 * vec.abs().cumsum(0)[:, :1] if self.cut else out
