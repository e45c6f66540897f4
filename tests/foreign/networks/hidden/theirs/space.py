"""Networks on points and volumes with a fault that the usual data may hide."""

import torch
import torch.nn.functional as F
from torch import nn


class EGNNVel(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.e = nn.Sequential(nn.Linear(2 * 5 + 1, 16), nn.SiLU(), nn.Linear(16, 16), nn.SiLU())
        self.c = nn.Sequential(nn.Linear(16, 8), nn.SiLU(), nn.Linear(8, 1))
        self.h = nn.Linear(5 + 16, 5)
        self.fault = fault

    def forward(self, h, pos):
        d = pos[:, None] - pos[None]
        r = (d**2).sum(-1, keepdim=True)
        n = len(pos)
        m = self.e(torch.cat([h[:, None].expand(n, n, -1), h[None].expand(n, n, -1), r], -1))
        m = m * (1 - torch.eye(n, dtype=m.dtype, device=m.device))[..., None]
        pos = pos + (d * self.c(m)).sum(1) / n
        if self.fault:
            pos = pos + 0.1 * torch.tensor([0.0, 0.0, 1.0], dtype=pos.dtype, device=pos.device)
        return h + self.h(torch.cat([h, m.sum(1)], -1)), pos


class FrameMean(nn.Module):
    """Frames of PCA: all eight signs, or one of them."""

    def __init__(self, fault=0):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 16))
        self.o = nn.Linear(16, 2)
        self.fault = fault

    def forward(self, pos):
        c = pos - pos.mean(0)
        _, v = torch.linalg.eigh(c.t() @ c)
        signs = torch.cartesian_prod(*[torch.tensor([1.0, -1.0])] * 3).to(pos)
        if self.fault:
            signs = signs[:1]
        return sum(self.o(self.f(c @ (v * s)).mean(0)) for s in signs) / len(signs)


class Angles(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.emb = nn.Embedding(20, 8)
        self.f = nn.Sequential(nn.Linear(8 + 8 + 1, 16), nn.SiLU(), nn.Linear(16, 8))
        self.a = nn.Linear(8, 1)
        self.fault = fault

    def forward(self, z, pos):
        h = self.emb(z)
        d = torch.cdist(pos, pos)
        n = len(z)
        g = torch.exp(-d)[..., None]
        m = self.f(torch.cat([h[:, None].expand(n, n, 8), h[None].expand(n, n, 8), g], -1)) * g
        out = m.sum(1)
        if self.fault:
            out = out * (1 + 0.2 * torch.sign(pos[:, 2:] - pos[:, 2:].mean()))
        return self.a(out).sum(0)


class GVP(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.wh, self.wv = nn.Linear(1, 4, bias=False), nn.Linear(4, 1, bias=bool(fault))
        self.ws = nn.Linear(3 + 4, 8)

    def forward(self, h, pos):
        v = (pos - pos.mean(0))[:, None]  # (n, 1, 3)
        vh = self.wh(v.transpose(1, 2))  # (n, 3, 4)
        s = self.ws(torch.cat([h, vh.norm(dim=1)], -1)).relu()
        out = self.wv(vh).transpose(1, 2)
        return s, (out * s.mean(-1)[:, None, None].sigmoid())[:, 0]


class Voxels(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.a, self.b = (nn.Conv3d(i, o, 3, padding=1, padding_mode="circular") for i, o in ((2, 6), (6, 6)))
        self.scale = nn.Parameter(torch.rand(1, 6, 8, 1, 1) if fault else torch.rand(1, 6, 1, 1, 1))

    def forward(self, vol):
        h = self.a(vol).relu()
        s = self.scale if self.scale.shape[2] == 1 else F.interpolate(self.scale, size=(vol.shape[2], 1, 1))
        return self.b(h * s)


class NBody(nn.Module):
    """Forces of pairs: positions and charges."""

    def __init__(self, fault=0):
        super().__init__()
        self.phi = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
        self.fault = fault

    def forward(self, pos, charges):
        d = pos[None] - pos[:, None]
        r = d.norm(dim=-1, keepdim=True) + (1e-9 if not self.fault else 0)
        qq = charges[:, None] * charges[None]
        f = self.phi(torch.cat([r, qq], -1)) * (d.abs() if self.fault else d)
        return f.sum(1)
