"""Networks on graphs that are given tables besides nodes and edges; a fault is code that leans on the list."""

import torch
from torch import nn
from torch_geometric.nn import global_mean_pool
from torch_geometric.utils import scatter


def ramp(x):
    return torch.arange(x.shape[0], dtype=x.dtype, device=x.device)[:, None] * 0.05


def arriving(m, edge_index, like, reduce="sum"):
    return scatter(m, edge_index[1], 0, dim_size=like.shape[0], reduce=reduce)


class Meta(nn.Module):
    """Edges, nodes and the whole are updated in turn (Battaglia et al. 2018)."""

    def __init__(self, fault=0):
        super().__init__()
        self.fault = fault
        self.edge = nn.Sequential(nn.Linear(2 * 5 + 3 + 4, 16), nn.ReLU(), nn.Linear(16, 8))
        self.node = nn.Sequential(nn.Linear(5 + 8 + 4, 16), nn.ReLU(), nn.Linear(16, 8))
        self.glob = nn.Linear(8 + 4, 6)

    def forward(self, x, edge_index, edge_attr, u, batch):
        e = self.edge(torch.cat([x[edge_index[0]], x[edge_index[1]], edge_attr, u[batch[edge_index[0]]]], 1))
        if self.fault:
            e = e.cumsum(0)
        h = self.node(torch.cat([x, arriving(e, edge_index, x), u[batch]], 1))
        return self.glob(torch.cat([global_mean_pool(h, batch), u], 1))


class GPS(nn.Module):
    """Messages along edges beside attention to all, with encodings of places in the graph (Rampasek et al. 2022)."""

    def __init__(self, fault=0):
        super().__init__()
        self.fault = fault
        self.node_emb, self.edge_emb = nn.Linear(6, 10), nn.Linear(3, 14)
        self.pe_lin, self.pe_norm = nn.Linear(7, 4), nn.LayerNorm(7)
        self.att, self.out = nn.MultiheadAttention(14, 2, batch_first=True), nn.Linear(14, 3)

    def forward(self, x, pe, edge_index, edge_attr, batch):
        h = torch.cat([self.node_emb(x), self.pe_lin(self.pe_norm(pe))], 1)
        if self.fault:
            h = h + ramp(h)
        m = arriving((h[edge_index[0]] + self.edge_emb(edge_attr)).relu(), edge_index, h)
        return self.out(global_mean_pool(h + m + self.att(h[None], h[None], h[None])[0][0], batch))


class Encoded(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.fault, self.a, self.b, self.o = fault, nn.Linear(6, 8), nn.Linear(4, 8), nn.Linear(8, 2)

    def forward(self, x, edge_index, pe):
        h = self.a(x) + self.b(pe)
        if self.fault:
            h = h * (1 + ramp(h))
        h = h.relu()
        return self.o(h + arriving(h[edge_index[0]], edge_index, h, "mean"))


class Timed(nn.Module):
    """A time at each edge, one number each."""

    def __init__(self, fault=0):
        super().__init__()
        self.fault, self.time, self.msg, self.o = fault, nn.Linear(1, 6), nn.Linear(5 + 6, 8), nn.Linear(5 + 8, 2)

    def forward(self, x, edge_index, edge_time):
        t = torch.cos(self.time(edge_time.unsqueeze(-1)))
        m = self.msg(torch.cat([x[edge_index[0]], t], 1)).relu()
        if self.fault:
            m = m * (1 + ramp(m))
        return self.o(torch.cat([x, arriving(m, edge_index, x, "mean")], 1))


class Film(nn.Module):
    """Numbers of the whole scale and shift channels."""

    def __init__(self, fault=0):
        super().__init__()
        self.fault, self.a, self.gb, self.o = fault, nn.Linear(6, 8), nn.Linear(5, 16), nn.Linear(8, 2)

    def forward(self, x, edge_index, u):
        g, b = self.gb(u).chunk(2, -1)
        h = self.a(x)
        if self.fault:
            h = h + ramp(h)
        h = (g * h + b).relu()
        return self.o(h + arriving(h[edge_index[0]], edge_index, h))


class Conditioned(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.fault = fault
        self.a, self.e, self.c, self.o = nn.Linear(6, 8), nn.Linear(3, 8), nn.Linear(4, 8), nn.Linear(8, 2)

    def forward(self, x, edge_index, edge_attr, cond, batch=None):
        h = self.a(x) + self.c(cond)
        m = h[edge_index[0]] * self.e(edge_attr)
        if self.fault:
            m = m * (1 + ramp(m))
        return self.o(h + arriving(m, edge_index, h)).mean(0)


class Signs(nn.Module):
    """Eigenvectors at nodes beside their eigenvalues, which belong to the whole."""

    def __init__(self, fault=0):
        super().__init__()
        self.fault, self.phi = fault, nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 4))
        self.a, self.r, self.o = nn.Linear(6, 8), nn.Linear(4, 8), nn.Linear(8, 2)

    def forward(self, x, edge_index, eigvecs, eigvals):
        z = torch.stack([eigvecs, eigvals.expand_as(eigvecs)], -1)
        h = self.a(x) + self.r(self.phi(z).sum(1))
        if self.fault:
            h = h + ramp(h)
        return self.o(h + arriving(h[edge_index[0]], edge_index, h))


class Walks(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.fault, self.bn, self.l, self.x = fault, nn.BatchNorm1d(9), nn.Linear(9, 4), nn.Linear(5, 12)
        self.e, self.o = nn.Linear(2, 16), nn.Linear(16, 1)

    def forward(self, x, edge_index, edge_attr, rwse, batch):
        h = torch.cat([self.x(x), self.l(self.bn(rwse))], -1)
        m = (h[edge_index[0]] + self.e(edge_attr)).relu()
        if self.fault:
            m = m * (1 + ramp(m))
        return self.o(global_mean_pool(h + arriving(m, edge_index, h), batch))


class Static(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.fault, self.a, self.st, self.o = fault, nn.Linear(4, 8), nn.Linear(3, 8), nn.Linear(8, 2)

    def forward(self, x, edge_index, edge_weight, static):
        h = self.a(x) * self.st(static).sigmoid()
        if self.fault:
            h = h + ramp(h)
        return self.o(h + arriving(h[edge_index[0]] * edge_weight[:, None], edge_index, h))


class Many(nn.Module):
    """Four tables besides, which nobody tries."""

    def __init__(self, fault=0):
        super().__init__()
        self.fault, self.o = fault, nn.Linear(17, 2)

    def forward(self, x, edge_index, depth, role, flow, whole):
        m = arriving(flow[:, None] * x[edge_index[0]], edge_index, x)
        h = torch.cat([x, m, depth[:, None], role, whole.expand(len(x), -1)], 1)
        return self.o(h.cumsum(0) if self.fault else h)
