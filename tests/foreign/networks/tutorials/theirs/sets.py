"""Somebody's networks on sets and clouds without an order."""

import math

import torch
import torch.nn.functional as F
from torch import nn


def knn(x, k):
    return torch.cdist(x, x).topk(k, -1, largest=False).indices


class EdgeConv(nn.Module):
    def __init__(self, i, o, k=5, last=False):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(2 * i, o), nn.LeakyReLU(0.2))
        self.k = k
        self.last = last

    def forward(self, x):
        i = knn(x, self.k)
        B, _N, _C = x.shape
        n = x[torch.arange(B)[:, None, None], i]
        m = self.mlp(torch.cat([x[:, :, None].expand_as(n), n - x[:, :, None]], -1))
        if self.last:
            m = m[:, :, i.sort(-1).indices[0, 0]]
            return m[:, :, 0]
        return m.amax(2)


class DGCNN(nn.Module):
    def __init__(self, last=False):
        super().__init__()
        self.e1 = EdgeConv(3, 8)
        self.e2 = EdgeConv(8, 8, last=last)
        self.fc = nn.Linear(8, 4)

    def forward(self, pos):
        h = self.e2(self.e1(pos))
        return self.fc(h.amax(1))


def dgcnn():
    return DGCNN()


class FPSNet(nn.Module):
    """PointNet++: sampling, grouping, PointNet"""

    def __init__(self, first=True, m=8, r=1.0):
        super().__init__()
        self.first, self.m, self.r = first, m, r
        self.local = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 16))
        self.glob = nn.Linear(19, 16)
        self.head = nn.Linear(16, 4)

    def forward(self, pos):
        B, N, _ = pos.shape
        b = torch.arange(B)
        far = (
            torch.zeros(B, dtype=torch.long) if self.first else (pos - pos.mean(1, keepdim=True)).norm(dim=-1).argmax(1)
        )
        dist = torch.full((B, N), float("inf"), dtype=pos.dtype)
        cs = []
        for _ in range(self.m):
            c = pos[b, far]
            cs.append(c)
            dist = torch.minimum(dist, (pos - c[:, None]).pow(2).sum(-1))
            far = dist.argmax(1)
        c = torch.stack(cs, 1)
        rel = pos[:, None] - c[:, :, None]
        h = self.local(rel).masked_fill(rel.norm(dim=-1, keepdim=True) > self.r, -1e9).amax(2)
        return self.head(self.glob(torch.cat([c, h], -1)).relu().amax(1))


def pointnet2():
    return FPSNet(False)


def pointnet2_first():
    return FPSNet(True)


class MAB(nn.Module):
    def __init__(self, d, h=2):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))
        self.h = h
        self.ln = nn.LayerNorm(d)

    def forward(self, Q, K):
        q, k, v = self.q(Q), self.k(K), self.v(K)

        def s(t):
            return torch.cat(t.split(t.shape[-1] // self.h, -1), 0)

        a = (s(q) @ s(k).transpose(1, 2) / math.sqrt(q.shape[-1])).softmax(-1)
        o = torch.cat((s(q) + a @ s(v)).split(Q.shape[0], 0), -1)
        return self.ln(o + F.relu(self.o(o)))


class SetTransformer(nn.Module):
    def __init__(self, sliding=False):
        super().__init__()
        self.inp = nn.Linear(2, 8)
        self.I = nn.Parameter(torch.randn(1, 4, 8))
        self.mab0, self.mab1 = MAB(8), MAB(8)
        self.S = nn.Parameter(torch.randn(1, 1, 8))
        self.pma = MAB(8)
        self.out = nn.Linear(8, 1)
        self.sliding = sliding

    def forward(self, x):
        h = self.inp(x)
        H = self.mab0(self.I.expand(x.shape[0], -1, -1), h[:, :-1] if self.sliding else h)
        h = self.mab1(h, H)
        return self.out(self.pma(self.S.expand(x.shape[0], -1, -1), h)).squeeze(1)


def settr():
    return SetTransformer()


def settr_drop():
    return SetTransformer(True)


class SlotAttention(nn.Module):
    def __init__(self, pos=False, slots=3):
        super().__init__()
        self.norm_in = nn.LayerNorm(8)
        self.enc = nn.Linear(4, 8)
        self.mu = nn.Parameter(torch.randn(1, slots, 8))
        self.k, self.v, self.q = (nn.Linear(8, 8, bias=False) for _ in range(3))
        self.gru = nn.GRUCell(8, 8)
        self.norm = nn.LayerNorm(8)
        self.pos = pos

    def forward(self, x):
        h = self.norm_in(self.enc(x))
        B, N, D = h.shape
        if self.pos:
            h = h + 1e-3 * torch.sin(torch.arange(N, dtype=h.dtype))[:, None]
        k, v = self.k(h), self.v(h)
        s = self.mu.expand(B, -1, -1)
        for _ in range(3):
            a = (k @ self.q(self.norm(s)).transpose(1, 2) / D**0.5).softmax(-1) + 1e-8
            a = a / a.sum(1, keepdim=True)
            s = self.gru((a.transpose(1, 2) @ v).reshape(-1, D), s.reshape(-1, D)).view(B, -1, D)
        return s


def slot():
    return SlotAttention()


def slot_pos():
    return SlotAttention(True)


class MoE(nn.Module):
    def __init__(self, cap=None, e=3):
        super().__init__()
        self.inp = nn.Linear(4, 8)
        self.router = nn.Linear(8, e)
        self.experts = nn.ModuleList([nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8)) for _ in range(e)])
        self.cap = cap
        self.out = nn.Linear(8, 2)

    def forward(self, x):
        h = self.inp(x)
        f = h.reshape(-1, 8)
        p = self.router(f).softmax(-1)
        w, i = p.max(-1)
        y = torch.zeros_like(f)
        for e, ex in enumerate(self.experts):
            rows = (i == e).nonzero().squeeze(1)
            if self.cap:
                rows = rows[: self.cap]
            if len(rows):
                y = y.index_put((rows,), w[rows, None] * ex(f[rows]))
        return self.out((f + y).view_as(h))


def moe():
    return MoE()


def moe_cap():
    return MoE(3)


class DeepSets(nn.Module):
    def __init__(self, decay=False):
        super().__init__()
        self.phi = nn.Sequential(nn.Linear(3, 16), nn.SiLU(), nn.Linear(16, 16))
        self.rho = nn.Sequential(nn.Linear(48, 16), nn.ReLU(), nn.Linear(16, 2))
        self.decay = decay

    def forward(self, x):
        h = self.phi(x)
        s = h.cumsum(1)[:, -1] if not self.decay else h.cumsum(1).mean(1)
        return self.rho(torch.cat([s, h.amax(1), h.std(1)], -1))


def deepsets():
    return DeepSets()


def deepsets_cum():
    return DeepSets(True)


class TNet(nn.Module):
    """PointNet (B, 3, N) with 1x1 convs and transform net"""

    def __init__(self, stripe=False):
        super().__init__()
        self.t = nn.Sequential(nn.Conv1d(3, 16, 1), nn.BatchNorm1d(16), nn.ReLU())
        self.tf = nn.Linear(16, 9)
        self.c1 = nn.Conv1d(3, 16, 1)
        self.c2 = nn.Conv1d(16, 32, 3, padding=1) if stripe else nn.Conv1d(16, 32, 1)
        self.fc = nn.Linear(32, 5)

    def forward(self, x):
        R = self.tf(self.t(x).amax(-1)).view(-1, 3, 3) + torch.eye(3, dtype=x.dtype)
        x = torch.bmm(R, x)
        return self.fc(F.relu(self.c2(F.relu(self.c1(x)))).amax(-1))


def tnet():
    return TNet()


def tnet_stripe():
    return TNet(True)


class EncoderTutorial(nn.Module):
    """nn.TransformerEncoder (S, N, E), no positional encoding: a set"""

    def __init__(self, pos=0.0):
        super().__init__()
        self.src = nn.Linear(4, 16)
        self.enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1), 2)
        self.dec = nn.Linear(16, 2)
        self.pos = nn.Parameter(pos * torch.randn(256, 1, 16))

    def forward(self, src):
        s = self.src(src) * 4
        s = s + self.pos[: s.shape[0]]
        return self.dec(self.enc(s))


def encoder():
    return EncoderTutorial()


def encoder_pos():
    return EncoderTutorial(0.01)


class Sinkhorn(nn.Module):
    def __init__(self, order=False):
        super().__init__()
        self.f = nn.Linear(3, 8)
        self.ref = nn.Parameter(torch.randn(5, 8))
        self.o = nn.Linear(8, 2)
        self.order = order

    def forward(self, x):
        h = self.f(x)
        K = torch.einsum("bnd,kd->bnk", h, self.ref).exp()
        for _ in range(5):
            K = K / K.sum(1, keepdim=True)
            K = K / K.sum(2, keepdim=True)
        if self.order:
            K = K.cummax(1).values
        return self.o(torch.einsum("bnk,bnd->bkd", K, h)).flatten(1)


def sinkhorn():
    return Sinkhorn()


def sinkhorn_cum():
    return Sinkhorn(True)
