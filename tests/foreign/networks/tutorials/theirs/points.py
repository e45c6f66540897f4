"""Somebody's networks on points in space."""

import torch
import torch.nn.functional as F
from torch import nn


class EGCL(nn.Module):
    def __init__(self, c, fault=None):
        super().__init__()
        self.e = nn.Sequential(nn.Linear(2 * c + 1, 16), nn.SiLU(), nn.Linear(16, 16), nn.SiLU())
        self.x = nn.Sequential(nn.Linear(16, 16), nn.SiLU(), nn.Linear(16, 1))
        self.h = nn.Sequential(nn.Linear(c + 16, 16), nn.SiLU(), nn.Linear(16, c))
        self.fault = fault

    def forward(self, h, pos, edge_index):
        s, t = edge_index
        d = pos[t] - pos[s]
        r = (d**2).sum(-1, keepdim=True)
        m = self.e(torch.cat([h[t], h[s], r], -1))
        w = d * self.x(m)
        if self.fault == "cross":
            w = w + 0.1 * r * torch.linalg.cross(d, pos[t] - pos.mean(0))
        if self.fault == "bias":
            w = w + 1e-3
        if self.fault == "norm1":
            w = d / (1 + d.abs().sum(-1, keepdim=True)) * self.x(m)
        pos = pos + torch.zeros_like(pos).index_add(0, t, w) / len(pos)
        return h + self.h(torch.cat([h, torch.zeros(len(h), 16, dtype=h.dtype).index_add(0, t, m)], -1)), pos


class EGNN(nn.Module):
    def __init__(self, fault=None):
        super().__init__()
        self.emb = nn.Linear(4, 8)
        self.l1 = EGCL(8)
        self.l2 = EGCL(8, fault)
        self.out = nn.Linear(8, 2)

    def forward(self, x, pos, edge_index):
        h = self.emb(x)
        h, pos = self.l1(h, pos, edge_index)
        h, pos = self.l2(h, pos, edge_index)
        return self.out(h), pos


def egnn():
    return EGNN()


def egnn_cross():
    return EGNN("cross")


def egnn_bias():
    return EGNN("bias")


def egnn_l1():
    return EGNN("norm1")


class CFConv(nn.Module):
    def __init__(self, c, fault=False):
        super().__init__()
        self.filt = nn.Sequential(nn.Linear(10, c), nn.Softplus(), nn.Linear(c, c))
        self.lin = nn.Linear(c, c)
        self.fault = fault
        self.register_buffer("mu", torch.linspace(0, 4, 10))

    def forward(self, h, pos):
        d = (pos[:, None] - pos[None]).norm(dim=-1)
        if self.fault:
            d = d + 0.01 * pos.norm(dim=-1)[None]
        W = self.filt(torch.exp(-4 * (d[..., None] - self.mu.to(d.dtype)) ** 2)) * (d > 0)[..., None]
        return h + (W * self.lin(h)[None]).sum(1)


class SchNet(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        self.emb = nn.Embedding(100, 8)
        self.i1 = CFConv(8)
        self.i2 = CFConv(8, fault)
        self.out = nn.Sequential(nn.Linear(8, 8), nn.Softplus(), nn.Linear(8, 1))

    def forward(self, z, pos):
        h = self.emb(z)
        h = self.i1(h, pos)
        h = self.i2(h, pos)
        return self.out(h).sum(0)


def schnet():
    return SchNet()


def schnet_origin():
    return SchNet(True)


class PaiNN(nn.Module):
    def __init__(self, bias=False, c=8):
        super().__init__()
        self.emb = nn.Linear(4, c)
        self.phi = nn.Sequential(nn.Linear(c, c), nn.SiLU(), nn.Linear(c, 3 * c))
        self.rbf = nn.Linear(6, 3 * c)
        self.U, self.V = nn.Linear(c, c, bias=bias), nn.Linear(c, c, bias=False)
        self.a = nn.Linear(2 * c, 2 * c)
        self.out = nn.Linear(c, 1, bias=False)
        self.s = nn.Linear(c, 1)

    def forward(self, x, pos, edge_index):
        h = self.emb(x)
        v = torch.zeros(len(x), 3, h.shape[1], dtype=h.dtype)
        s, t = edge_index
        d = pos[t] - pos[s]
        r = d.norm(dim=-1, keepdim=True)
        u = d / (r + 1e-9)
        f = self.rbf(torch.exp(-((r - torch.arange(6, dtype=r.dtype)) ** 2)))
        a, b, g = (self.phi(h)[s] * f).chunk(3, -1)
        h = h.index_add(0, t, a)
        v = v.index_add(0, t, v[s] * b[:, None] + u[:, :, None] * g[:, None])
        Uv, Vv = self.U(v), self.V(v)
        p, q = self.a(torch.cat([h, (Vv**2).sum(1).add(1e-9).sqrt()], -1)).chunk(2, -1)
        h = h + p
        v = v + q[:, None] * Uv
        return {"energy": self.s(h).sum(), "forces": self.out(v).squeeze(-1)}


def painn():
    return PaiNN()


def painn_bias():
    return PaiNN(True)


class FramePCA(nn.Module):
    def __init__(self, single=False):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 16))
        self.head = nn.Linear(16, 2)
        self.single = single

    def forward(self, pos):
        c = pos - pos.mean(0)
        _, V = torch.linalg.eigh(c.T @ c)
        y = 0
        signs = [(1, 1)] if self.single else [(a, b) for a in (1, -1) for b in (1, -1)]
        for a, b in signs:
            E = torch.stack([a * V[:, 0], b * V[:, 1]], 1)
            E = torch.cat([E, torch.linalg.cross(E[:, 0], E[:, 1])[:, None]], 1)
            y = y + self.net(c @ E).mean(0)
        return self.head(y / len(signs))


def frames():
    return FramePCA()


def frames_single():
    return FramePCA(True)


class Gram(nn.Module):
    def __init__(self, raw=False):
        super().__init__()
        self.raw = raw
        self.f = nn.Linear(3, 16)
        self.g = nn.Linear(16, 1)
        self.w = nn.Linear(16, 1)

    def forward(self, pos, vel):
        c = pos - pos.mean(0)
        a = torch.stack([(c * c).sum(-1), (c * vel).sum(-1), (vel * vel).sum(-1)], -1)
        if self.raw:
            a = a + 0.01 * vel
        h = F.silu(self.f(a))
        return c * self.g(h) + vel * self.w(h)


def gram():
    return Gram()


def gram_raw():
    return Gram(True)


class TensorNet(nn.Module):
    """rank 2: inertia-like tensor per node, traces"""

    def __init__(self, fault=False):
        super().__init__()
        self.w = nn.Sequential(nn.Linear(1, 8), nn.SiLU(), nn.Linear(8, 4))
        self.mix = nn.Linear(8, 8)
        self.o = nn.Linear(8, 1)
        self.fault = fault

    def forward(self, pos, edge_index):
        s, t = edge_index
        d = pos[t] - pos[s]
        r = d.norm(dim=-1, keepdim=True)
        w = self.w(r)
        X = torch.zeros(len(pos), 4, 3, 3, dtype=pos.dtype).index_add(
            0, t, w[:, :, None, None] * torch.einsum("ei,ej->eij", d, d)[:, None]
        )
        X2 = X * X if self.fault else X @ X
        tr = torch.cat([torch.einsum("ncii->nc", X), torch.einsum("ncii->nc", X2)], -1)
        return self.o(torch.tanh(self.mix(tr))).sum(0)


def tensornet():
    return TensorNet()


def tensornet_elem():
    return TensorNet(True)
