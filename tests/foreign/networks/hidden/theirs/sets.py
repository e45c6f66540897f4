"""Networks on sets with a fault that the usual data may hide."""

import torch
from torch import nn


class Sinkhorn(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8))
        self.g = nn.Linear(8, 3)
        self.fault = fault

    def forward(self, x):  # (n, 4)
        h = self.f(x)
        s = h @ h.t() / 3
        if self.fault:
            s = s + torch.diag(torch.ones(len(x) - 1, dtype=s.dtype, device=s.device), 1)
        for _ in range(5):
            s = s - s.logsumexp(1, keepdim=True)
            s = s - s.logsumexp(0, keepdim=True)
        return self.g(s.exp() @ h)


class KMeans(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.enc = nn.Linear(3, 6)
        self.c = nn.Parameter(torch.randn(4, 6))
        self.dec = nn.Linear(24, 2)
        self.fault = fault

    def forward(self, x):  # (batch, n, 3)
        h = self.enc(x).tanh()
        c = h[:, :4] if self.fault else self.c.expand(len(h), -1, -1)
        for _ in range(3):
            a = (-torch.cdist(h, c)).softmax(-1)
            c = a.transpose(1, 2) @ h / a.sum(1)[..., None]
        return self.dec(c.flatten(1))


class TopK(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.inp, self.q, self.k, self.v = nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)
        self.fault = fault

    def forward(self, x):
        h = self.inp(x)
        s = self.q(h) @ self.k(h).transpose(-1, -2)
        if self.fault:
            n = s.shape[-1]
            far = (torch.arange(n)[:, None] - torch.arange(n)).abs() > 3
            s = s.masked_fill(far.to(s.device), float("-inf"))
        else:
            kth = s.topk(3, -1).values[..., -1:]
            s = s.masked_fill(s < kth, float("-inf"))
        return h + s.softmax(-1) @ self.v(h)


class Equivariant2(nn.Module):
    """Maron's layer of pairs: x of shape (n, n)."""

    def __init__(self, fault=0):
        super().__init__()
        self.w = nn.Parameter(torch.randn(5, 4))
        self.out = nn.Linear(4, 1)
        self.fault = fault

    def forward(self, adj):
        n = len(adj)
        d = torch.diagonal(adj)
        one = torch.ones_like(adj)
        eye = torch.eye(n, dtype=adj.dtype, device=adj.device)
        if self.fault:
            eye = eye.roll(1, 0)
        b = torch.stack([adj, adj.t(), adj.sum(0) * one / n, d[:, None] * one, eye * d], -1)
        return self.out((b @ self.w).relu()).squeeze(-1)


class NormSet(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.l1, self.l2 = nn.Linear(3, 16), nn.Linear(16, 16)
        self.bn = nn.BatchNorm1d(16)
        self.ln = nn.LayerNorm(16)
        self.fault = fault
        self.head = nn.Linear(16, 2)

    def forward(self, x):
        h = self.l1(x)
        h = self.bn(h.transpose(1, 2)).transpose(1, 2).relu()
        if self.fault:
            h = h - h.cumsum(1) / torch.arange(1, h.shape[1] + 1, device=h.device).to(h)[:, None]
        else:
            h = h - h.mean(1, keepdim=True)
        return self.head(self.ln(self.l2(h)))
