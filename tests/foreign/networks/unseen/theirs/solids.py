"""Networks on volumes and on meshes."""

import torch
import torch.nn.functional as F
from torch import nn


class Tensors(nn.Module):
    """Numbers of the structure tensor that no turn changes; the fault: one derivative looks ahead only."""

    def __init__(self, cin, cout, fault=False):
        super().__init__()
        self.mix, self.fault = nn.Conv3d(4 * cin, cout, 1), fault

    def forward(self, x):
        d = [(x.roll(-1, a) - x.roll(1, a)) / 2 for a in (2, 3, 4)]
        if self.fault:
            d[1] = x.roll(-1, 3) - x
        j = torch.stack([torch.stack([p * q for q in d], -1) for p in d], -1)
        j = sum(j.roll(s, a) for a in (2, 3, 4) for s in (-1, 1)) / 6
        trace = j.diagonal(dim1=-2, dim2=-1).sum(-1)
        second = (trace**2 - (j @ j).diagonal(dim1=-2, dim2=-1).sum(-1)) / 2
        det = j[..., 0, 0] * (j[..., 1, 1] * j[..., 2, 2] - j[..., 1, 2] * j[..., 2, 1])
        det = det - j[..., 0, 1] * (j[..., 1, 0] * j[..., 2, 2] - j[..., 1, 2] * j[..., 2, 0])
        det = det + j[..., 0, 2] * (j[..., 1, 0] * j[..., 2, 1] - j[..., 1, 1] * j[..., 2, 0])
        return self.mix(torch.cat([x, trace, second, det], 1))


class StructureNet(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.t1, self.t2, self.t3 = Tensors(1, 4), Tensors(4, 4, bool(fault)), Tensors(4, 2)

    def forward(self, vol):
        return self.t3(torch.tanh(self.t2(torch.tanh(self.t1(vol))))).mean((2, 3, 4))


class Spectral3(nn.Module):
    """A filter of low frequencies; the fault: a mirror of the front at the back instead of round the end."""

    def __init__(self, c, modes=2, fault=False):
        super().__init__()
        self.w, self.m, self.fault = nn.Parameter(torch.randn(c, c, modes, modes, modes, 2) / c), modes, fault

    def forward(self, x):
        if self.fault:
            x = torch.cat([x, x.flip(2)], 2)
        n, m = x.shape[2:], self.m
        f = torch.fft.rfftn(x, dim=(2, 3, 4))
        out = torch.zeros_like(f)
        out[:, :, :m, :m, :m] = torch.einsum(
            "bixyz,ioxyz->boxyz", f[:, :, :m, :m, :m], torch.view_as_complex(self.w).to(f.dtype)
        )
        y = torch.fft.irfftn(out, n, dim=(2, 3, 4))
        return y[:, :, : n[0] // 2] if self.fault else y


class FNO3(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.lift, self.s1, self.w1 = nn.Conv3d(1, 4, 1), Spectral3(4), nn.Conv3d(4, 4, 1)
        self.s2, self.w2, self.s3, self.out = (
            Spectral3(4, fault=bool(fault)),
            nn.Conv3d(4, 4, 1),
            Spectral3(4),
            nn.Conv3d(4, 1, 1),
        )

    def forward(self, u):
        h = self.lift(u)
        h = F.gelu(self.s1(h) + self.w1(h))
        h = F.gelu(self.s2(h) + self.w2(h))
        return self.out(self.s3(h) + h)


class Bends(nn.Module):
    """Leaning of the faces around a vertex against it; the fault: against straight up."""

    def __init__(self, c, fault=False):
        super().__init__()
        self.lin, self.fault = nn.Linear(c + 2, c), fault

    def forward(self, h, verts, faces):
        a, b, c = verts[faces].unbind(1)
        n = torch.cross(b - a, c - a, dim=-1)
        normal = torch.zeros_like(verts)
        for k in range(3):
            normal = normal.index_add(0, faces[:, k], n)
        unit, face = F.normalize(normal, dim=-1), F.normalize(n, dim=-1)
        lean = torch.zeros(len(verts), 1, dtype=verts.dtype, device=verts.device)
        for k in range(3):
            lean = lean.index_add(0, faces[:, k], (face * unit[faces[:, k]]).sum(-1, keepdim=True))
        up = unit[:, 2:].abs() if self.fault else normal.norm(dim=-1, keepdim=True)
        return torch.tanh(self.lin(torch.cat([h, lean, up], 1)))


class Share(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.lin = nn.Linear(2 * c, c)

    def forward(self, h, faces):
        i = torch.cat([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]).t()
        i = torch.cat([i, i.flip(0)], 1)
        s = torch.zeros_like(h).index_add(0, i[1], h[i[0]])
        d = torch.zeros(len(h), 1, dtype=h.dtype, device=h.device).index_add(
            0, i[1], torch.ones(i.shape[1], 1, dtype=h.dtype, device=h.device)
        )
        return F.elu(self.lin(torch.cat([h, s / d.clamp(min=1)], 1)))


class MeshNet(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.b1, self.s1, self.b2, self.s2 = Bends(4), Share(4), Bends(4, bool(fault)), Share(4)
        self.out = nn.Linear(4, 3)

    def forward(self, verts, faces):
        h = torch.zeros(len(verts), 4, dtype=verts.dtype, device=verts.device)
        h = self.s1(self.b1(h, verts, faces), faces)
        h = self.s2(self.b2(h, verts, faces), faces)
        return {"seg": self.out(h), "shape": h.mean(0)}
