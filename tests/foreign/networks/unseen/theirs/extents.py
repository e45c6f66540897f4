"""Series with their lengths or a mask beside them, and a graph whose last block hands on what belongs to all of it."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def scatter_add(src, index, n):
    return src.new_zeros(n, *src.shape[1:]).index_add(0, index, src)


class PackedTagger(nn.Module):
    """x (B, T, C), lengths (B,): packed GRU in both directions summed: reversal"""

    def __init__(self, fault=0):
        super().__init__()
        self.gru = nn.GRU(4, 8, batch_first=True)
        self.back = nn.GRU(4, 8, batch_first=True) if fault else self.gru
        self.out = nn.Linear(8, 3)

    def forward(self, x, lengths):
        p = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        f, _ = pad_packed_sequence(self.gru(p)[0], batch_first=True)
        p = pack_padded_sequence(x.flip(1), lengths.cpu(), batch_first=True, enforce_sorted=False)
        b, _ = pad_packed_sequence(self.back(p)[0], batch_first=True)
        return self.out(f + b.flip(1))


class LengthConv(nn.Module):
    """x (B, C, T), x_lengths: masked conv encoder as in TTS"""

    def __init__(self, fault=0):
        super().__init__()
        self.pre = nn.Conv1d(4, 8, 1)
        self.convs = nn.ModuleList([nn.Conv1d(8, 8, 5, padding=2) for _ in range(2)])
        self.fault = fault
        self.proj = nn.Conv1d(8, 2, 1)

    def forward(self, x, x_lengths):
        m = (torch.arange(x.size(2), device=x.device)[None] < x_lengths[:, None]).unsqueeze(1).to(x.dtype)
        x = self.pre(x) * m
        for i, c in enumerate(self.convs):
            r = x
            x = F.relu(c(x * m))
            if self.fault and i == 1:
                x = x * (1 + 0.01 * torch.arange(x.size(2), device=x.device, dtype=x.dtype))
            x = x + r
        return self.proj(x * m)


class MaskedEncoder(nn.Module):
    """src (B, T, D), src_mask (B, 1, T): annotated transformer's style; no positions"""

    def __init__(self, fault=0, d=16, h=2):
        super().__init__()
        self.inp = nn.Linear(5, d)
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))
        self.ff = nn.Sequential(nn.Linear(d, 32), nn.ReLU(), nn.Linear(32, d))
        self.h = h
        self.fault = fault
        self.norm = nn.LayerNorm(d)

    def forward(self, src, src_mask):
        x = self.inp(src)
        b, t, d = x.shape
        q, k, v = (l(x).view(b, t, self.h, -1).transpose(1, 2) for l in (self.q, self.k, self.v))
        s = q @ k.transpose(-2, -1) / math.sqrt(d // self.h)
        if self.fault:
            s = s + torch.tril(torch.ones(t, t, device=s.device, dtype=s.dtype)) * 0.1
        s = s.masked_fill(src_mask.unsqueeze(1) == 0, -1e9)
        x = x + self.o((s.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d))
        return self.norm(x + self.ff(x))


class GlobalBlock(nn.Module):
    """edges, nodes, global (Battaglia)"""

    def __init__(self, n, e, u, wrong=False):
        super().__init__()
        self.fe = nn.Linear(2 * n + e + u, e)
        self.fn = nn.Linear(n + e + u, n)
        self.fu = nn.Linear(n + e + u, u)
        self.wrong = wrong

    def forward(self, x, ei, ea, u):
        s, t = ei
        ea = F.relu(self.fe(torch.cat([x[s], x[t], ea, u.expand(len(ea), -1)], 1)))
        agg = scatter_add(ea, t, len(x))
        x = F.relu(self.fn(torch.cat([x, agg, u.expand(len(x), -1)], 1)))
        pe = ea[: len(ea) // 2].mean(0, keepdim=True) if self.wrong else ea.mean(0, keepdim=True)
        u = self.fu(torch.cat([x.mean(0, keepdim=True), pe, u], 1))
        return x, ea, u


class GraphNet(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.enc_n, self.enc_e = nn.Linear(4, 8), nn.Linear(2, 8)
        self.u0 = nn.Parameter(torch.randn(1, 8))
        self.b1 = GlobalBlock(8, 8, 8)
        self.b2 = GlobalBlock(8, 8, 8, bool(fault))
        self.dec = nn.Linear(8, 3)

    def forward(self, x, edge_index, edge_attr):
        x, e, u = self.enc_n(x), self.enc_e(edge_attr), self.u0
        x, e, u = self.b1(x, edge_index, e, u)
        x, e, u = self.b2(x, edge_index, e, u)
        return self.dec(x + u)
