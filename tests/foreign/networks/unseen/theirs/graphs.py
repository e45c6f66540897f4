"""Networks on graphs: edges of edges, gates, what all nodes share, both directions, nodes that are dropped."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


def add(src, index, n):
    return torch.zeros(n, *src.shape[1:], dtype=src.dtype, device=src.device).index_add(0, index, src)


def spread(score, index, n):
    """Softmax of scores over those with the same index."""
    top = torch.full((n, *score.shape[1:]), -torch.inf, dtype=score.dtype, device=score.device)
    top = top.scatter_reduce(0, index[:, None].expand_as(score), score, "amax")
    e = (score - top[index]).exp()
    return e / add(e, index, n)[index]


class LineLayer(nn.Module):
    """Edges hear of the edges that lead to where they begin; the fault: of at most one, the first in the list."""

    def __init__(self, c, fault=False):
        super().__init__()
        self.own, self.other, self.fault = nn.Linear(c, c), nn.Linear(c, c), fault

    def forward(self, e, edge_index):
        i, j = edge_index
        joined = (j[:, None] == i[None]) & (i[:, None] != j[None])  # no way back
        if self.fault:
            joined = joined & (joined.cumsum(0) == 1)
        return F.relu(self.own(e) + joined.to(e).t() @ self.other(e))


class LineGraph(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.embed = nn.Linear(2 * 5, 12)
        self.l1, self.l2, self.l3 = LineLayer(12), LineLayer(12, bool(fault)), LineLayer(12)
        self.out = nn.Linear(12, 3)

    def forward(self, x, edge_index):
        e = torch.tanh(self.embed(torch.cat([x[edge_index[0]], x[edge_index[1]]], 1)))
        for layer in (self.l1, self.l2, self.l3):
            e = e + layer(e, edge_index) / 4
        return self.out(add(e, edge_index[1], len(x)))


class Step(nn.Module):
    """Messages of two kinds of edges, then a GRU cell (Li et al. 2016); the fault: a node also hears of that before."""

    def __init__(self, c, kinds=2, fault=False):
        super().__init__()
        self.by_kind, self.cell, self.fault = (
            nn.ModuleList(nn.Linear(c, c) for _ in range(kinds)),
            nn.GRUCell(c, c),
            fault,
        )

    def forward(self, h, edge_index, edge_attr):
        src, dst = edge_index
        m = sum(edge_attr[:, k : k + 1] * lin(h)[src] for k, lin in enumerate(self.by_kind))
        m = add(m, dst, len(h))
        if self.fault:
            m = m + 0.01 * F.pad(h[:-1], (0, 0, 1, 0))
        return self.cell(m, h)


class GGNN(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.enc = nn.Linear(4, 8)
        self.steps = nn.ModuleList([Step(8), Step(8, fault=bool(fault)), Step(8)])
        self.gate, self.val = nn.Linear(12, 1), nn.Linear(12, 5)

    def forward(self, x, edge_index, edge_attr):
        h = self.enc(x)
        for s in self.steps:
            h = s(h, edge_index, edge_attr)
        z = torch.cat([h, x], -1)
        return {"graph": (torch.sigmoid(self.gate(z)) * torch.tanh(self.val(z))).sum(0), "nodes": h}


@dataclass
class Answer:
    nodes: torch.Tensor
    edges: torch.Tensor


class GatedHeads(nn.Module):
    """Attention with a softmax over what arrives, and gates at edges; the fault: it is taken in blocks of edges."""

    def __init__(self, c, heads=2, fault=False):
        super().__init__()
        self.q, self.k, self.v, self.e = (nn.Linear(c, c) for _ in range(4))
        self.heads, self.fault = heads, fault

    def forward(self, h, e, src, dst):
        n, c = h.shape
        q, k, v = (f(h).view(n, self.heads, -1) for f in (self.q, self.k, self.v))
        g = self.e(e).view(len(e), self.heads, -1)
        s = (q[dst] * (k[src] + g)).sum(-1) / (c // self.heads) ** 0.5
        if self.fault:
            half = len(s) // 2
            a = torch.cat([spread(s[:half], dst[:half], n), spread(s[half:], dst[half:], n)])
        else:
            a = spread(s, dst, n)
        out = add((a[..., None] * v[src]).flatten(1), dst, n)
        return h + out, e + torch.tanh(g.flatten(1))


class EdgeTransformer(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.node, self.edge = nn.Linear(6, 8), nn.Linear(3, 8)
        self.b1, self.b2, self.b3 = GatedHeads(8), GatedHeads(8, fault=bool(fault)), GatedHeads(8)
        self.norm = nn.LayerNorm(8)

    def forward(self, x, edge_index, edge_attr):
        src, dst = edge_index
        h, e = self.node(x), self.edge(edge_attr)
        h, e = self.b1(h, e, src, dst)
        h, e = self.b2(self.norm(h), e, src, dst)
        h, e = self.b3(self.norm(h), e, src, dst)
        return Answer(h, e)


class WithGlobal(nn.Module):
    """Nodes, and a state of the whole graph that reads them by attention; the fault: the first node asks."""

    def __init__(self, c, fault=False):
        super().__init__()
        self.msg, self.up, self.ask, self.tell, self.fault = (
            nn.Linear(c, c),
            nn.Linear(3 * c, c),
            nn.Linear(c, c),
            nn.Linear(c, c),
            fault,
        )

    def forward(self, h, u, edge_index):
        m = add(F.relu(self.msg(h))[edge_index[0]], edge_index[1], len(h))
        h = torch.tanh(self.up(torch.cat([h, m, u.expand(len(h), -1)], 1)))
        q = self.ask(u)
        if self.fault:
            q = q + 0.1 * h[:1]
        return h, u + (q @ self.tell(h).t()).softmax(-1) @ h


class GlobalNet(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.start = nn.Parameter(torch.randn(1, 8))
        self.inp = nn.Linear(5, 8)
        self.layers = nn.ModuleList([WithGlobal(8), WithGlobal(8, bool(fault)), WithGlobal(8)])
        self.out = nn.Linear(16, 2)

    def forward(self, x, edge_index):
        h, u = self.inp(x), self.start
        for layer in self.layers:
            h, u = layer(h, u, edge_index)
        return self.out(torch.cat([h.mean(0, keepdim=True), u], 1))


class BothWays(nn.Module):
    """Weights for edges that come and for edges that leave; the fault: those to a larger number count as leaving."""

    def __init__(self, c, fault=False):
        super().__init__()
        self.come, self.leave, self.stay, self.fault = (
            nn.Linear(c, c, bias=False),
            nn.Linear(c, c, bias=False),
            nn.Linear(c, c),
            fault,
        )

    def forward(self, h, edge_index):
        i, j = edge_index
        if self.fault:
            i, j = torch.minimum(i, j), torch.maximum(i, j)
        n, one = len(h), torch.ones(len(i), 1, dtype=h.dtype, device=h.device)
        din, dout = add(one, j, n).clamp(min=1), add(one, i, n).clamp(min=1)
        return F.gelu(self.stay(h) + add(self.come(h)[i], j, n) / din + add(self.leave(h)[j], i, n) / dout)


class DirGNN(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.lin = nn.Linear(4, 8)
        self.conv1, self.conv2, self.conv3 = BothWays(8), BothWays(8, bool(fault)), BothWays(8)
        self.score = nn.Bilinear(8, 8, 1)

    def forward(self, x, edge_index):
        h = self.conv3(self.conv2(self.conv1(self.lin(x), edge_index), edge_index), edge_index)
        return self.score(h[edge_index[0]], h[edge_index[1]]).squeeze(-1)


class Pool(nn.Module):
    """Keeps the best nodes and the edges among them; the fault: weighs what is kept by its place in the list."""

    def __init__(self, c, share=0.6, fault=False):
        super().__init__()
        self.p, self.share, self.fault = nn.Parameter(torch.randn(c)), share, fault

    def forward(self, h, edge_index):
        s = torch.tanh(h @ self.p / self.p.norm())
        keep = s.topk(max(2, int(self.share * len(h)))).indices.sort().values
        new = torch.full((len(h),), -1, device=h.device)
        new[keep] = torch.arange(len(keep), device=h.device)
        e = new[edge_index]
        e = e[:, (e >= 0).all(0)]
        weight = s[keep]
        if self.fault:
            weight = weight * torch.linspace(1, 1.1, len(keep), dtype=h.dtype, device=h.device)
        return h[keep] * weight[:, None], e


class Hierarchy(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.c1, self.c2, self.c3 = BothWays(4), BothWays(4), BothWays(4)
        self.p1, self.p2 = Pool(4, 0.8), Pool(4, fault=bool(fault))
        self.mlp = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))

    def read(self, h):
        return torch.cat([h.mean(0), h.amax(0)])

    def forward(self, x, edge_index):
        h = self.c1(x, edge_index)
        r = self.read(h)
        h, edge_index = self.p1(h, edge_index)
        h = self.c2(h, edge_index)
        r = r + self.read(h)
        h, edge_index = self.p2(h, edge_index)
        r = r + self.read(self.c3(h, edge_index))
        return self.mlp(r)


class Rank(nn.Module):
    """Walks with returns (Gasteiger et al. 2019); the fault: returns go to earlier nodes more often."""

    def __init__(self, rounds=5, back=0.15, fault=False):
        super().__init__()
        self.rounds, self.back, self.fault = rounds, back, fault

    def forward(self, z, edge_index):
        n = len(z)
        deg = torch.bincount(edge_index[1], minlength=n).to(z) + 1
        loops = torch.arange(n, device=z.device).repeat(2, 1)
        ei = torch.cat([edge_index, loops], 1)
        w = (deg[ei[0]] * deg[ei[1]]).rsqrt()
        a = torch.sparse_coo_tensor(ei.flip(0), w, (n, n))
        back = self.back
        if self.fault:
            back = back * (1 + 0.1 / torch.arange(1, n + 1, dtype=z.dtype, device=z.device)[:, None])
        h = z
        for _ in range(self.rounds):
            h = (1 - self.back) * torch.sparse.mm(a, h) + back * z
        return h


class APPNP(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.lin1, self.lin2 = nn.Linear(7, 16), nn.Linear(16, 4)
        self.walk1, self.mid, self.walk2 = Rank(3, fault=bool(fault)), nn.Linear(4, 4), Rank()

    def forward(self, x, edge_index):
        z = self.lin2(F.dropout(F.relu(self.lin1(x)), training=self.training))
        return F.log_softmax(self.walk2(torch.tanh(self.mid(self.walk1(z, edge_index))), edge_index), -1)
