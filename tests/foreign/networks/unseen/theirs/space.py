"""Networks on points: neighbours, frames at edges, torsions, vectors beside scalars."""

import torch
import torch.nn.functional as F
from torch import nn


class Near(nn.Module):
    """Messages from the k nearest by distance; the fault: nearest as seen from above."""

    def __init__(self, c, k=4, fault=False):
        super().__init__()
        self.k, self.fault = k, fault
        self.f = nn.Sequential(nn.Linear(2 * c + 1, 16), nn.SiLU(), nn.Linear(16, c))

    def forward(self, h, pos):
        d = (pos[:, None] - pos[None]).square().sum(-1)
        seen = (pos[:, None, :2] - pos[None, :, :2]).square().sum(-1) if self.fault else d
        eye = torch.eye(len(pos), dtype=pos.dtype, device=pos.device) * 1e6
        idx = (seen + eye).topk(min(self.k, len(pos) - 1), largest=False).indices
        m = torch.cat([h[:, None].expand(-1, idx.shape[1], -1), h[idx], d.gather(1, idx)[..., None]], -1)
        return h + self.f(m).amax(1)


class KnnNet(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.inp, self.out = nn.Linear(4, 8), nn.Linear(8, 1)
        self.n1, self.n2, self.n3 = Near(8), Near(8, fault=bool(fault)), Near(8)

    def forward(self, x, pos):
        h = self.inp(x)
        for n in (self.n1, self.n2, self.n3):
            h = n(h, pos)
        return self.out(h).sum(0)


class Framed(nn.Module):
    """Coefficients in a frame at each edge (Du et al. 2022), of places and their cross product; a fault leans on z."""

    def __init__(self, c, fault=False):
        super().__init__()
        self.msg = nn.Sequential(nn.Linear(2 * c + 3, 16), nn.SiLU(), nn.Linear(16, c))
        self.coef, self.fault = nn.Linear(c, 3), fault

    def forward(self, h, pos):
        x = pos - pos.mean(0)
        n = len(x)
        a, b = x[:, None].expand(n, n, 3), x[None].expand(n, n, 3)
        diff = a - b
        cross = torch.cross(a, b, dim=-1)
        if self.fault:
            cross = cross + 0.01 * torch.tensor([0.0, 0, 1], dtype=x.dtype, device=x.device)
        third = torch.cross(diff, cross, dim=-1)
        scale = 1 / (1 + diff.square().sum(-1, keepdim=True))
        inv = torch.stack([diff.square().sum(-1), (a * b).sum(-1), cross.square().sum(-1)], -1)
        m = self.msg(torch.cat([h[:, None].expand(n, n, -1), h[None].expand(n, n, -1), inv], -1))
        k = torch.tanh(self.coef(m)) * scale
        mask = 1 - torch.eye(n, dtype=x.dtype, device=x.device)[..., None]
        move = (mask * (k[..., :1] * diff + k[..., 1:2] * cross + k[..., 2:] * third)).mean(1)
        return h + (mask * m).mean(1), pos + move


class ClofNet(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.emb = nn.Linear(4, 8)
        self.f1, self.f2, self.f3 = Framed(8), Framed(8, bool(fault)), Framed(8)

    def forward(self, h, pos):
        h = self.emb(h)
        h, pos = self.f1(h, pos)
        h, pos = self.f2(h, pos)
        h, pos = self.f3(h, pos)
        return {"h": h, "pos": pos}


class Torsions(nn.Module):
    """Cosines of torsions along a chain; the fault: their signs, which a mirror changes."""

    def __init__(self, c, fault=False):
        super().__init__()
        self.lin, self.fault = nn.Linear(1, c), fault

    def forward(self, pos):
        b = pos[1:] - pos[:-1]
        n = F.normalize(torch.cross(b[:-1], b[1:], dim=-1) + 0.0, dim=-1, eps=1e-3)
        cos = (n[:-1] * n[1:]).sum(-1, keepdim=True)
        if self.fault:
            sign = (n[:-1] * b[2:]).sum(-1, keepdim=True)
            cos = cos + 0.1 * torch.tanh(sign)
        return torch.tanh(self.lin(cos))


class Chain(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.lengths, self.angles = nn.Linear(1, 6), nn.Linear(1, 6)
        self.torsions, self.out = Torsions(6, bool(fault)), nn.Linear(18, 2)

    def forward(self, coords):
        b = coords[1:] - coords[:-1]
        ln = b.norm(dim=-1, keepdim=True)
        an = (b[1:] * b[:-1]).sum(-1, keepdim=True)
        parts = [torch.tanh(self.lengths(ln)), torch.tanh(self.angles(an)), self.torsions(coords)]
        return self.out(torch.cat([p.mean(0) for p in parts]))


class VectorAttention(nn.Module):
    """Scalars and vectors that mix (Tholke and De Fabritiis 2022); the fault: a bias where vectors are mixed."""

    def __init__(self, c, fault=False):
        super().__init__()
        self.q, self.k, self.v, self.s = nn.Linear(c, c), nn.Linear(c, c), nn.Linear(c, 3 * c), nn.Linear(1, c)
        self.u, self.o = nn.Linear(c, 2 * c, bias=fault), nn.Linear(c, 2 * c)

    def forward(self, s, v, pos):
        rel = pos[:, None] - pos[None]
        d = rel.square().sum(-1, keepdim=True)
        a = F.silu((self.q(s)[:, None] * self.k(s)[None]).sum(-1, keepdim=True) / s.shape[1] * torch.exp(-d))
        g, dir_, keep = (self.v(s)[None] * self.s(torch.exp(-d)).repeat(1, 1, 3)).chunk(3, -1)
        unit = rel / (d + 1).sqrt()
        m = (a * g).sum(1)
        dv = (v[None] * keep[:, :, None] + unit[..., None] * dir_[:, :, None]).sum(1)
        one, two = self.u(v).chunk(2, -1)
        alpha, beta = self.o(m).chunk(2, -1)
        return s + alpha + beta * (one * two).sum(1), v + dv + one * alpha[:, None]


class TorchMD(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.embed = nn.Embedding(100, 8)
        self.layers = nn.ModuleList([VectorAttention(8), VectorAttention(8, bool(fault)), VectorAttention(8)])
        self.energy, self.dipole = nn.Linear(8, 1), nn.Linear(8, 1, bias=False)

    def forward(self, z, pos):
        s = self.embed(z)
        v = torch.zeros(len(s), 3, s.shape[1], dtype=s.dtype, device=s.device)
        for layer in self.layers:
            s, v = layer(s, v, pos)
        return {"energy": self.energy(s).sum(), "dipole": self.dipole(v).squeeze(-1).sum(0)}
