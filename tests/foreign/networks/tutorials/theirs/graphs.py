"""Somebody's networks on graphs, most of them of torch_geometric."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import (
    ChebConv,
    GATv2Conv,
    GINConv,
    GraphNorm,
    NNConv,
    PNAConv,
    SAGEConv,
    TopKPooling,
    TransformerConv,
    global_add_pool,
    global_mean_pool,
)
from torch_geometric.utils import scatter, softmax


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, o), nn.BatchNorm1d(o), nn.ReLU(), nn.Linear(o, o))


class GIN(nn.Module):
    def __init__(self, lean=0.0):
        super().__init__()
        self.c1 = GINConv(mlp(4, 16), train_eps=True)
        self.c2 = GINConv(mlp(16, 16))
        self.lin = nn.Linear(16, 3)
        self.lean = lean

    def forward(self, x, edge_index, batch=None):
        x = self.c1(x, edge_index).relu()
        x = self.c2(x, edge_index).relu()
        if self.lean:
            x = x * (1 + self.lean * torch.arange(len(x), dtype=x.dtype)[:, None])
        return self.lin(F.dropout(global_add_pool(x, batch), 0.5, self.training))


def gin():
    return GIN()


def gin_lean():
    return GIN(1e-4)


class SAGE(nn.Module):
    def __init__(self, aggr):
        super().__init__()
        self.c1 = SAGEConv(4, 16, aggr="mean")
        self.c2 = SAGEConv(16, 16, aggr=aggr)
        self.c3 = SAGEConv(16, 3)

    def forward(self, x, edge_index):
        x = F.relu(self.c1(x, edge_index))
        x = F.relu(self.c2(x, edge_index))
        return F.log_softmax(self.c3(x, edge_index), -1)


def sage():
    return SAGE("max")


def sage_lstm():
    return SAGE("lstm")


class PNA(nn.Module):
    def __init__(self, last=False):
        super().__init__()
        self.enc = nn.Linear(4, 8)
        self.conv = PNAConv(
            8,
            8,
            ["mean", "min", "max", "std"],
            ["identity", "amplification", "attenuation"],
            torch.tensor([0, 3, 5, 2, 1]),
        )
        self.norm = GraphNorm(8)
        self.last = last
        self.out = nn.Linear(8, 2)

    def forward(self, x, edge_index):
        h = self.enc(x)
        h = h + self.norm(self.conv(h, edge_index)).relu()
        return self.out(h[-1:] + h.mean(0, keepdim=True) if self.last else h.mean(0, keepdim=True))


def pna():
    return PNA()


def pna_last():
    return PNA(True)


class ECC(nn.Module):
    def __init__(self, roll=0):
        super().__init__()
        self.c1 = NNConv(4, 8, nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 32)), aggr="mean")
        self.c2 = NNConv(8, 8, nn.Linear(3, 64), aggr="add")
        self.roll = roll
        self.head = nn.Linear(8, 2)

    def forward(self, x, edge_index, edge_attr):
        x = F.elu(self.c1(x, edge_index, edge_attr))
        x = F.elu(self.c2(x, edge_index, edge_attr.roll(self.roll, 0)))
        return self.head(x)


def ecc():
    return ECC()


def ecc_roll():
    return ECC(1)


class VirtualNode(nn.Module):
    def __init__(self, first=False):
        super().__init__()
        self.enc = nn.Linear(4, 8)
        self.c1 = GINConv(nn.Linear(8, 8))
        self.vn = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
        self.c2 = GINConv(nn.Linear(8, 8))
        self.first = first
        self.out = nn.Linear(8, 3)
        self.v0 = nn.Parameter(torch.zeros(1, 8))

    def forward(self, x, edge_index):
        h = self.enc(x)
        v = self.v0
        h = h + v
        h = self.c1(h, edge_index).relu()
        v = v + self.vn((h[:1] if self.first else h.mean(0, keepdim=True)) + v)
        h = self.c2(h + v, edge_index).relu()
        return self.out(h)


def virtual():
    return VirtualNode()


def virtual_first():
    return VirtualNode(True)


class LineGraph(nn.Module):
    """messages live on directed edges: (k->j) feeds (j->i), k != i"""

    def __init__(self, cap=None):
        super().__init__()
        self.emb = nn.Linear(8, 16)
        self.msg = nn.Linear(16, 16)
        self.out = nn.Linear(16, 2)
        self.cap = cap

    def forward(self, x, edge_index):
        s, t = edge_index
        m = F.silu(self.emb(torch.cat([x[s], x[t]], -1)))
        a, b = torch.where((t[:, None] == s[None]) & (s[:, None] != t[None]))
        if self.cap:
            a, b = a[: self.cap], b[: self.cap]
        m = m + F.silu(self.msg(torch.zeros_like(m).index_add(0, b, m[a])))
        return self.out(torch.zeros(x.shape[0], 16, dtype=x.dtype).index_add(0, t, m))


def line():
    return LineGraph()


def line_cap():
    return LineGraph(20)


class SoftGAT(nn.Module):
    def __init__(self, chunk=False):
        super().__init__()
        self.w = nn.Linear(4, 8)
        self.a = nn.Linear(16, 1)
        self.chunk = chunk
        self.out = nn.Linear(8, 2)

    def forward(self, x, edge_index):
        h = self.w(x)
        s, t = edge_index
        e = F.leaky_relu(self.a(torch.cat([h[s], h[t]], -1)), 0.2)
        if self.chunk:
            w = torch.cat([c.softmax(0) for c in e.chunk(2)])
        else:
            w = softmax(e, t, num_nodes=len(x))
        return self.out(scatter(w * h[s], t, 0, len(x), "sum"))


def gat():
    return SoftGAT()


def gat_chunk():
    return SoftGAT(True)


class SortPool(nn.Module):
    def __init__(self, relu=False, k=30):
        super().__init__()
        self.c = GINConv(nn.Linear(4, 8))
        self.k = k
        self.relu = relu
        self.conv = nn.Conv1d(8, 4, 3)
        self.fc = nn.Linear(4 * (k - 2), 2)

    def forward(self, x, edge_index):
        h = self.c(x, edge_index)
        h = h.relu() if self.relu else torch.tanh(h)
        i = h[:, -1].argsort(descending=True, stable=True)[: self.k]
        h = F.pad(h[i], (0, 0, 0, max(0, self.k - len(i))))
        return self.fc(self.conv(h.t()[None]).relu().flatten(1))


def sortpool():
    return SortPool()


def sortpool_ties():
    return SortPool(True)


class TopK(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = GATv2Conv(4, 8)
        self.pool = TopKPooling(8, 0.5)
        self.c2 = GATv2Conv(8, 8)
        self.lin = nn.Linear(8, 3)

    def forward(self, x, edge_index):
        x = self.c1(x, edge_index).relu()
        x, edge_index, _, batch, _, _ = self.pool(x, edge_index)
        x = self.c2(x, edge_index)
        return self.lin(global_mean_pool(x, batch))


def topk():
    return TopK()


class Spectral(nn.Module):
    def __init__(self, raw=False, k=4):
        super().__init__()
        self.raw, self.k = raw, k
        self.enc = nn.Linear(4 + (k if raw else 3), 16)
        self.conv = SAGEConv(16, 8)
        self.out = nn.Linear(8, 2)

    def forward(self, x, edge_index):
        n = len(x)
        A = torch.zeros(n, n, dtype=x.dtype)
        A[edge_index[0], edge_index[1]] = 1
        A = torch.maximum(A, A.T)
        L = torch.diag(A.sum(1)) - A
        w, v = torch.linalg.eigh(L)
        p = (
            v[:, : self.k]
            if self.raw
            else torch.stack([((v**2) * torch.exp(-w * t)).sum(1) for t in (0.1, 1.0, 5.0)], 1)
        )
        return self.out(self.conv(torch.relu(self.enc(torch.cat([x, p], 1))), edge_index))


def heat():
    return Spectral()


def heat_raw():
    return Spectral(True)


class Graphormer(nn.Module):
    def __init__(self, tri=False):
        super().__init__()
        self.inp = nn.Linear(4, 8)
        self.deg = nn.Embedding(64, 8)
        self.spd = nn.Embedding(8, 2)
        self.attn = nn.MultiheadAttention(8, 2, batch_first=True)
        self.ff = nn.Linear(8, 8)
        self.out = nn.Linear(8, 2)
        self.tri = tri

    def forward(self, x, adj):
        n = len(x)
        adj = ((adj + adj.t()) > 0).to(x.dtype)
        d = torch.full((n, n), 7)
        reach = torch.eye(n, dtype=x.dtype)
        d[torch.arange(n), torch.arange(n)] = 0
        for k in range(1, 6):
            reach = (reach @ adj > 0).to(x.dtype)
            d = torch.where((reach > 0) & (d == 7), torch.tensor(k), d)
        if self.tri:
            d = torch.triu(d)
        h = (self.inp(x) + self.deg(adj.sum(1).long().clamp(max=63)))[None]
        b = self.spd(d).permute(2, 0, 1)
        a, _ = self.attn(h, h, h, attn_mask=b, need_weights=False)
        h = h + a
        h = h + self.ff(h).relu()
        return self.out(h[0])


def graphormer():
    return Graphormer()


def graphormer_tri():
    return Graphormer(True)


@dataclass
class Out:
    nodes: Tensor
    edges: Tensor
    energy: Tensor


class EdgeOut(nn.Module):
    def __init__(self, rank=False):
        super().__init__()
        self.n = nn.Linear(4, 8)
        self.e = nn.Linear(16, 4)
        self.rank = rank

    def forward(self, x, edge_index):
        h = self.n(x).tanh()
        s, t = edge_index
        e = self.e(torch.cat([h[s], h[t]], 1))
        h = h.index_add(0, t, F.pad(e, (0, 4)))
        if self.rank:
            e = e + 1e-5 * torch.arange(len(e), dtype=e.dtype)[:, None]
        return Out(h, e, h.sum())


def edgeout():
    return EdgeOut()


def edgeout_rank():
    return EdgeOut(True)


class DataNet(nn.Module):
    def __init__(self, first=False):
        super().__init__()
        self.c1 = ChebConv(4, 8, 3)
        self.c2 = TransformerConv(8, 8, heads=2, concat=False)
        self.bn = nn.BatchNorm1d(8)
        self.lin = nn.Linear(8, 3)
        self.first = first

    def forward(self, data):
        x, ei = data.x, data.edge_index
        x = self.bn(self.c1(x, ei)).relu()
        x = F.dropout(x, 0.3, training=self.training)
        x = self.c2(x, ei)
        if self.first:
            x = x - 1e-3 * x[0]
        return self.lin(x)


def datanet():
    return DataNet()


def datanet_first():
    return DataNet(True)
