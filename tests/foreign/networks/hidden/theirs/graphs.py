"""Networks on graphs with a fault that the usual data may hide."""

import torch
import torch.nn.functional as F
from torch import nn


def agg(m, at, n, how="sum"):
    out = torch.zeros(n, m.shape[1], dtype=m.dtype, device=m.device)
    return (
        out.index_add(0, at, m)
        if how == "sum"
        else out.scatter_reduce(0, at[:, None].expand_as(m), m, "amax", include_self=False)
    )


class GINOrder(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.eps = nn.Parameter(torch.tensor(0.1))
        self.m1, self.m2 = (nn.Sequential(nn.Linear(i, 16), nn.ReLU(), nn.Linear(16, 16)) for i in (7, 16))
        self.o = nn.Linear(16, 2)
        self.fault = fault

    def forward(self, x, edge_index):
        for k, m in enumerate((self.m1, self.m2)):
            msg = x[edge_index[0]]
            if self.fault and k:
                msg = msg * torch.linspace(0.5, 1.5, len(msg), device=x.device).to(x)[:, None]
            x = m((1 + self.eps) * x + agg(msg, edge_index[1], len(x)))
        return self.o(x)


class DiffPool(nn.Module):
    """Dense: x (n, c), adj (n, n); one answer for the graph."""

    def __init__(self, fault=0):
        super().__init__()
        self.embed, self.assign = nn.Linear(5, 8), nn.Linear(5, 3)
        self.out = nn.Linear(8, 2)
        self.fault = fault

    def forward(self, x, adj):
        a = adj / adj.sum(-1, keepdim=True).clamp(min=1)
        z = (a @ self.embed(x)).relu()
        s = a @ self.assign(x)
        if self.fault:
            s = s + F.one_hot(torch.arange(len(x), device=x.device) % 3, 3).to(s)
        s = s.softmax(-1)
        pooled, coarse = s.transpose(-1, -2) @ z, s.transpose(-1, -2) @ adj @ s
        return self.out((coarse @ pooled).relu().mean(-2))


class Cheb(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.w = nn.ModuleList(nn.Linear(6, 8) for _ in range(3))
        self.o = nn.Linear(8, 3)
        self.fault = fault

    def forward(self, x, edge_index, edge_weight=None):
        n = len(x)
        src, dst = edge_index
        w = torch.ones(len(src), dtype=x.dtype, device=x.device) if edge_weight is None else edge_weight
        deg = torch.zeros(n, dtype=x.dtype, device=x.device).index_add(0, dst, w)
        if self.fault:
            deg = deg + torch.arange(n, device=x.device).to(x) / n
        norm = deg.clamp(min=1e-9).pow(-0.5)

        def lap(h):
            return agg(h[src] * (w * norm[src] * norm[dst])[:, None], dst, n)

        t0, t1 = x, -lap(x)
        out = self.w[0](t0) + self.w[1](t1)
        t2 = -2 * lap(t1) - t0
        return self.o((out + self.w[2](t2)).relu())


class GlobalState(nn.Module):
    """Battaglia's block: nodes, edges and a global state."""

    def __init__(self, fault=0):
        super().__init__()
        self.edge = nn.Linear(3 + 4 + 4 + 4, 6)
        self.node = nn.Linear(4 + 6 + 4, 5)
        self.glob = nn.Linear(5 + 6, 2)
        self.start = nn.Linear(4, 4)
        self.fault = fault

    def forward(self, x, edge_index, edge_attr):
        u = self.start(x[0] if self.fault else x.mean(0))
        s, d = edge_index
        e = self.edge(torch.cat([edge_attr, x[s], x[d], u.expand(len(s), -1)], 1)).relu()
        h = self.node(torch.cat([x, agg(e, d, len(x)), u.expand(len(x), -1)], 1)).relu()
        return h, e, self.glob(torch.cat([h.mean(0), e.mean(0)]))


class EdgeScores(nn.Module):
    """A number for each edge; the faulty one knows which end has the lower number."""

    def __init__(self, fault=0):
        super().__init__()
        self.enc = nn.Linear(4, 8)
        self.mlp = nn.Sequential(nn.Linear(16, 8), nn.ELU(), nn.Linear(8, 1))
        self.fault = fault

    def forward(self, x, edge_index):
        h = self.enc(x).relu()
        h = h + agg(h[edge_index[0]], edge_index[1], len(x), "max")
        i, j = edge_index
        if self.fault:
            i, j = torch.minimum(i, j), torch.maximum(i, j)
        return self.mlp(torch.cat([h[i], h[j]], 1)).squeeze(1)


class GraphU(nn.Module):
    """Top-k pooling and back: gPool of a Graph U-Net."""

    def __init__(self, fault=0):
        super().__init__()
        self.down, self.bottom, self.up = nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 8)
        self.p = nn.Parameter(torch.randn(8))
        self.fault = fault

    def forward(self, x, adj):
        a = adj + torch.eye(len(adj), dtype=adj.dtype, device=adj.device)
        a = a / a.sum(1, keepdim=True)
        h = (a @ self.down(x)).relu()
        score = h @ self.p / self.p.norm()
        k = max(2, len(x) // 2)
        at = torch.arange(k, device=x.device) if self.fault else score.topk(k).indices
        small = h[at] * score[at].sigmoid()[:, None]
        z = (a[at][:, at] @ self.bottom(small)).relu()
        back = torch.zeros_like(h).index_copy(0, at, z)
        return self.up(a @ (back + h))
