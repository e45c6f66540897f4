"""SchNet, written by hand: pairs within a radius are listed in the forward."""

import torch
import torch.nn.functional as F
from torch import nn


class Smearing(nn.Module):
    def __init__(self, n=12, stop=5.0):
        super().__init__()
        mu = torch.linspace(0, stop, n)
        self.coeff = -0.5 / (mu[1] - mu[0]).item() ** 2
        self.register_buffer("mu", mu)

    def forward(self, d):
        return torch.exp(self.coeff * (d.unsqueeze(-1) - self.mu) ** 2)


class CFConv(nn.Module):
    def __init__(self, hidden, tilt):
        super().__init__()
        self.enter, self.leave = nn.Linear(hidden, hidden, bias=False), nn.Linear(hidden, hidden)
        self.filter = nn.Sequential(nn.Linear(12, hidden), nn.Softplus(), nn.Linear(hidden, hidden))
        self.tilt = tilt

    def forward(self, x, i, j, rbf, v):
        w = self.filter(rbf) * (1 + self.tilt * v[:, 2:])
        h = self.enter(x)
        return self.leave(torch.zeros_like(h).index_add(0, i, h[j] * w))


class ContinuousFilters(nn.Module):
    """Fault 1: the last filter hears a component of the difference. Fault 2: the last distance adds up amounts."""

    def __init__(self, fault=0, hidden=8):
        super().__init__()
        self.fault = fault
        self.embedding = nn.Embedding(20, hidden)
        self.smearing = Smearing()
        self.convs = nn.ModuleList(CFConv(hidden, 1e-4 * (fault == 1 and k == 1)) for k in range(2))
        self.out = nn.Sequential(nn.Linear(hidden, hidden), nn.Softplus(), nn.Linear(hidden, 1))

    def forward(self, z, pos):
        near = (torch.cdist(pos, pos) < 4.0) & ~torch.eye(len(pos), dtype=torch.bool, device=pos.device)
        i, j = near.nonzero(as_tuple=True)
        v = pos[i] - pos[j]
        d = v.norm(dim=-1)
        x = self.embedding(z)
        for k, conv in enumerate(self.convs):
            if k == 1 and self.fault == 2:
                d = d + 1e-4 * v.abs().sum(-1)
            x = x + F.softplus(conv(x, i, j, self.smearing(d), v))
        return self.out(x).sum(0)
