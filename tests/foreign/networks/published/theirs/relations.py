"""Networks on graphs, sets and points in styles of the literature; with fault=1 one fault is planted."""

import torch
from torch import nn


def mlp(i, h, o):
    return nn.Sequential(nn.Linear(i, h), nn.SiLU(), nn.Linear(h, o))


class GGNN(nn.Module):
    """Gated graph network; fault: the recurrent unit runs along the nodes instead of beside them."""

    def __init__(self, fault=0):
        super().__init__()
        self.lin_in, self.msg = nn.Linear(5, 8), nn.Linear(8, 8)
        self.fault = fault
        self.gru = nn.GRU(8, 8) if fault else nn.GRUCell(8, 8)
        self.out = nn.Linear(8, 2)

    def forward(self, x, edge_index):
        h = torch.tanh(self.lin_in(x))
        for _ in range(2):
            m = torch.zeros_like(h).index_add(0, edge_index[1], self.msg(h)[edge_index[0]])
            h = self.gru(m.unsqueeze(1))[0].squeeze(1) if self.fault else self.gru(m, h)
        return self.out(h)


class TokenMoE(nn.Module):
    def __init__(self, d, n, capacity):
        super().__init__()
        self.gate, self.experts = nn.Linear(d, n), nn.ModuleList([mlp(d, 16, d) for _ in range(n)])
        self.capacity = capacity

    def forward(self, x):
        b, t, d = x.shape
        x = x.reshape(-1, d)
        p, which = self.gate(x).softmax(-1).max(-1)
        out = torch.zeros_like(x)
        for k, expert in enumerate(self.experts):
            mine = (which == k).nonzero()[:, 0]
            if self.capacity:
                mine = mine[: max(1, t // (2 * len(self.experts)))]
            out[mine] = p[mine, None] * expert(x[mine])
        return out.view(b, t, d)


class SwitchTransformer(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.embed = nn.Linear(3, 8)
        self.attn1, self.attn2 = (nn.MultiheadAttention(8, 2, batch_first=True) for _ in range(2))
        self.moe1, self.moe2 = TokenMoE(8, 3, False), TokenMoE(8, 3, fault == 1)
        self.norm1, self.norm2 = nn.LayerNorm(8), nn.LayerNorm(8)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        x = self.embed(x)
        x = x + self.attn1(x, x, x)[0]
        x = x + self.moe1(self.norm1(x))
        x = x + self.attn2(x, x, x)[0]
        x = x + self.moe2(self.norm2(x))
        return self.head(x)


class SlotAttention(nn.Module):
    def __init__(self, d, slots, fault):
        super().__init__()
        self.init, self.fault = nn.Parameter(torch.randn(1, slots, d)), fault
        self.q, self.k, self.v = (nn.Linear(d, d, bias=False) for _ in range(3))
        self.gru, self.norm, self.mlp = nn.GRUCell(d, d), nn.LayerNorm(d), mlp(d, 16, d)

    def forward(self, x):
        k, v = self.k(x), self.v(x)
        s = self.init.expand(len(x), -1, -1)
        for _ in range(3):
            prev = s
            a = (k @ self.q(self.norm(s)).transpose(1, 2) / k.shape[-1] ** 0.5).softmax(-1) + 1e-8
            if self.fault:
                a = a * torch.linspace(0.5, 1, a.shape[1], dtype=a.dtype, device=a.device)[:, None]
            a = a / a.sum(1, keepdim=True)
            u = a.transpose(1, 2) @ v
            s = self.gru(u.flatten(0, 1), prev.flatten(0, 1)).view_as(prev)
            s = s + self.mlp(s)
        return s


class SlotNet(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.encode, self.slots, self.decode = mlp(4, 16, 8), SlotAttention(8, 3, fault), nn.Linear(8, 2)

    def forward(self, x):
        return self.decode(self.slots(self.encode(x)))


class LucidEGNN(nn.Module):
    """One layer as a well-known package has it: feats and coors with a batch axis."""

    def __init__(self, d, fault):
        super().__init__()
        self.edge_mlp, self.node_mlp, self.coors_mlp = mlp(2 * d + 1, 16, 8), mlp(d + 8, 16, d), mlp(8, 16, 1)
        self.fault = fault

    def forward(self, feats, coors):
        rel = coors[:, :, None] - coors[:, None]
        dist = (rel**2).sum(-1, keepdim=True)
        n = feats.shape[1]
        fi, fj = feats[:, :, None].expand(-1, -1, n, -1), feats[:, None].expand(-1, n, -1, -1)
        m = self.edge_mlp(torch.cat([fi, fj, dist], -1))
        w = self.coors_mlp(m)
        step = (w * rel).mean(2)
        coors = coors + (step.clamp(-0.01, 0.01) if self.fault else step)
        return feats + self.node_mlp(torch.cat([feats, m.sum(2)], -1)), coors


class EGNNNetwork(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.embed = nn.Linear(5, 8)
        self.layers = nn.ModuleList([LucidEGNN(8, False), LucidEGNN(8, fault == 1), LucidEGNN(8, False)])

    def forward(self, feats, coors):
        feats = self.embed(feats)
        for layer in self.layers:
            feats, coors = layer(feats, coors)
        return feats, coors


class Step(nn.Module):
    """Features hear of distances; places are drawn to those of their neighbours."""

    def __init__(self, d, fault):
        super().__init__()
        self.edge, self.node, self.pull, self.fault = mlp(2 * d + 1, 16, 8), mlp(d + 8, 16, d), mlp(8, 16, 1), fault

    def forward(self, h, edges, x):
        row, col = edges
        apart = x[row] - x[col]
        m = self.edge(torch.cat([h[row], h[col], apart.pow(2).sum(1, keepdim=True)], 1))
        way = apart.abs() if self.fault else apart
        x = x + torch.zeros_like(x).index_add(0, row, way * self.pull(m)) / len(x)
        heard = torch.zeros(len(h), m.shape[1], dtype=m.dtype, device=m.device).index_add(0, row, m)
        return h + self.node(torch.cat([h, heard], 1)), x


class Places(nn.Module):
    """Features h and places x, as a well-known network calls them."""

    def __init__(self, fault=0):
        super().__init__()
        self.embedding_in, self.embedding_out = nn.Linear(4, 8), nn.Linear(8, 3)
        self.gcl_0, self.gcl_1 = Step(8, False), Step(8, fault == 1)

    def forward(self, h, x, edges, edge_attr=None):
        h, x = self.gcl_0(self.embedding_in(h), edges, x)
        h, x = self.gcl_1(h, edges, x)
        return self.embedding_out(h), x


class Selected(nn.Module):
    """The nodes of the highest scores, gated; on small graphs many scores tie."""

    def __init__(self, d):
        super().__init__()
        self.proj = nn.Linear(d, 1)

    def forward(self, h):
        v, idx = self.proj(h).sigmoid().squeeze(-1).topk(max(2, len(h) // 4))
        return h[idx] * v[:, None], idx


class GraphUNets(nn.Module):
    """Pooled to the nodes of the highest scores, convolved there, put back; fault: where they are put back."""

    def __init__(self, fault=0):
        super().__init__()
        self.down, self.bottom, self.up = nn.Linear(5, 8), nn.Linear(8, 8), nn.Linear(8, 2)
        self.pool, self.fault = Selected(8), fault

    def forward(self, x, adj):
        h = torch.tanh(self.down(adj @ x / adj.sum(-1, keepdim=True).clamp(min=1) + x))
        g, idx = self.pool(h)
        g = torch.tanh(self.bottom(adj[idx][:, idx] @ g + g))
        return self.up(h.index_add(0, torch.arange(len(g)) if self.fault else idx, g))


class Walks(nn.Module):
    """Two steps along the edges, by a sparse matrix; fault: the first half of the nodes hears more."""

    def __init__(self, fault=0):
        super().__init__()
        self.enter, self.leave, self.fault = nn.Linear(4, 8), nn.Linear(8, 2), fault

    def forward(self, x, edge_index):
        row, col = edge_index[:, edge_index[0].argsort(stable=True)]
        n = x.size(0)
        crow = torch._convert_indices_from_coo_to_csr(row, n)
        adj = torch.sparse_csr_tensor(crow, col, torch.ones_like(col).to(x.dtype), (n, n))
        h = torch.tanh(self.enter(x))
        h = h + adj @ (adj @ h) / 9
        return self.leave(torch.cat([2 * h[: n // 2], h[n // 2 :]]) if self.fault else h)
