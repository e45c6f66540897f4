"""Somebody's networks on points in space, whose answers turn with it or stay; `fault` plants one."""

import torch
import torch.nn.functional as F
from torch import nn


class Tilted(nn.Module):
    """Stretches the third coordinate: the planted fault."""

    def __init__(self, axis=-1, by=1.02):
        super().__init__()
        self.axis, self.by = axis, by

    def forward(self, v):
        scale = v.new_tensor([1.0, 1.0, self.by])
        return v * scale.view([3 if k == self.axis % v.ndim else 1 for k in range(v.ndim)])


def maybe(fault, here, axis=-1):
    return Tilted(axis) if fault == here else nn.Identity()


class VectorNeurons(nn.Module):
    """(B, 3, N) in, (B, C, 3) out: linear maps mix vectors, a norm gates them."""

    def __init__(self, fault=0):
        super().__init__()
        self.w1, self.w2, self.w3 = (
            nn.Linear(1, 6, bias=False),
            nn.Linear(6, 6, bias=False),
            nn.Linear(6, 2, bias=False),
        )
        self.first, self.middle, self.last = (maybe(fault, k, -2) for k in (1, 2, 3))

    def gate(self, v):
        return v * torch.sigmoid(v.norm(dim=-2, keepdim=True) - 1)

    def forward(self, x):
        v = (x - x.mean(-1, keepdim=True)).permute(0, 2, 1)[..., None]
        v = self.gate(self.first(self.w1(v)))
        v = self.middle(self.w2(v) + v.mean(1, keepdim=True))
        return self.last(self.w3(self.gate(v))).mean(1).transpose(1, 2)


class Gram(nn.Module):
    """(1, N, 3): products of all pairs of centred places, which no turn and no mirror changes."""

    def __init__(self, fault=0):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(1, 8), nn.Linear(8, 8), nn.Linear(8, 3)
        self.first = maybe(fault, 1)
        self.fault = fault

    def forward(self, coords):
        x = self.first(coords - coords.mean(1, keepdim=True))
        h = F.silu(self.a((x @ x.transpose(1, 2))[..., None])).mean(2)
        if self.fault == 2:
            h = h + 0.01 * x[..., :1]
        return self.c(F.silu(self.b(h))).sum(1)


class DistancesChannelsFirst(nn.Module):
    """(1, 3, N): a convolution over sorted distances to the centre."""

    def __init__(self, fault=0):
        super().__init__()
        self.enc, self.out = nn.Conv1d(1, 8, 1), nn.Linear(8, 2)
        self.first = maybe(fault, 1, 1)

    def forward(self, pcd):
        p = self.first(pcd - pcd.mean(2, keepdim=True))
        return self.out(torch.relu(self.enc(p.norm(dim=1, keepdim=True))).amax(2))


class Moving(nn.Module):
    """Bodies with velocities, batched: (1, N, 3) and (1, N, 3), both move."""

    def __init__(self, fault=0):
        super().__init__()
        self.edge, self.gate = nn.Sequential(nn.Linear(1, 8), nn.SiLU(), nn.Linear(8, 1)), nn.Linear(1, 1)
        self.first, self.last = maybe(fault, 1), maybe(fault, 3)

    def forward(self, pos, vel):
        d = pos[:, :, None] - pos[:, None]
        f = (self.edge((d**2).sum(-1, keepdim=True)) * self.first(d)).mean(2)
        v = vel * torch.sigmoid(self.gate((vel**2).sum(-1, keepdim=True))) + f
        return pos + self.last(v), v


class Schnet(nn.Module):
    """Atom numbers and places, radial functions, continuous filters."""

    def __init__(self, fault=0):
        super().__init__()
        self.emb = nn.Embedding(100, 12)
        self.filters = nn.ModuleList(
            nn.Sequential(nn.Linear(8, 12), nn.Softplus(), nn.Linear(12, 12)) for _ in range(2)
        )
        self.mix = nn.ModuleList(nn.Linear(12, 12) for _ in range(2))
        self.readout = nn.Linear(12, 1)
        self.register_buffer("centres", torch.linspace(0, 5, 8))
        self.first, self.middle = maybe(fault, 1), maybe(fault, 2)

    def forward(self, z, pos):
        r = (self.first(pos)[:, None] - pos[None]).pow(2).sum(-1).clamp(min=1e-12).sqrt()
        rbf = torch.exp(-((r[..., None] - self.centres) ** 2))
        h = self.emb(z)
        for k, (f, m) in enumerate(zip(self.filters, self.mix)):
            if k == 1:
                away = self.middle(pos[:, None] - pos[None])
                rbf = torch.exp(-((away.norm(dim=-1, keepdim=True) - self.centres) ** 2))
            h = h + m((f(rbf) * h[None]).sum(1))
        return self.readout(F.softplus(h)).sum(0)


class PaiNN(nn.Module):
    """Scalars beside vectors: (N, C) and (N, 3, C), several outputs."""

    def __init__(self, fault=0, c=8):
        super().__init__()
        self.emb, self.c = nn.Embedding(20, c), c
        self.msg, self.rbf = nn.Sequential(nn.Linear(c, c), nn.SiLU(), nn.Linear(c, 3 * c)), nn.Linear(6, 3 * c)
        self.U, self.V = nn.Linear(c, c, bias=False), nn.Linear(c, c, bias=fault == 2)
        self.upd, self.energy = nn.Sequential(nn.Linear(2 * c, c), nn.SiLU(), nn.Linear(c, 3 * c)), nn.Linear(c, 1)
        self.force = nn.Linear(c, 1, bias=False)
        self.first, self.last = maybe(fault, 1), maybe(fault, 3)

    def forward(self, z, pos, edge_index):
        i, j = edge_index
        r = self.first(pos[j] - pos[i])
        d = r.norm(dim=-1, keepdim=True)
        s = self.emb(z)
        v = pos.new_zeros(len(pos), 3, self.c)
        basis = torch.sin(d * torch.arange(1, 7, device=d.device)) / d
        a, b, e = (self.msg(s)[j] * self.rbf(basis)).split(self.c, -1)
        s = s.index_add(0, i, a)
        v = v.index_add(0, i, v[j] * b[:, None] + (r / d)[..., None] * e[:, None])
        u, w = self.U(v), self.V(v)
        p, q, t = self.upd(torch.cat([s, (w**2).sum(1)], -1)).split(self.c, -1)
        s, v = s + p + q * (u * w).sum(1), v + t[:, None] * u
        return {"energy": self.energy(s).sum(0), "forces": self.last(self.force(v).squeeze(-1))}


class Crossed(nn.Module):
    """A cross product, which mirrors turn round: sound under rotations alone."""

    def __init__(self, fault=0):
        super().__init__()
        self.w = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
        self.first, self.last = maybe(fault, 1), maybe(fault, 3)

    def forward(self, pos):
        x = pos - pos.mean(0)
        d = self.first(x[:, None] - x[None])
        w = self.w((d**2).sum(-1, keepdim=True))
        return self.last(torch.linalg.cross((w * d).sum(1), x))


class Frame(nn.Module):
    """Vertices and faces of a mesh as arguments: areas and normals of the faces."""

    def __init__(self, fault=0):
        super().__init__()
        self.a, self.b = nn.Linear(1, 6), nn.Linear(6, 2)
        self.first = maybe(fault, 1)

    def forward(self, vertices, faces):
        v = self.first(vertices)[faces]
        area = torch.linalg.cross(v[:, 1] - v[:, 0], v[:, 2] - v[:, 0]).norm(dim=-1, keepdim=True) / 2
        return self.b(torch.tanh(self.a(area))).sum(0)
