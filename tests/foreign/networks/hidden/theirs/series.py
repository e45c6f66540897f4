"""Networks on series with a fault that the usual data may hide."""

import torch
import torch.nn.functional as F
from torch import nn


class Autoformer(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.emb = nn.Conv1d(3, 8, 3, padding=1, padding_mode="circular")
        self.q, self.k, self.v = (nn.Linear(8, 8) for _ in range(3))
        self.out = nn.Linear(8, 3)
        self.fault = fault

    def trend(self, x):
        y = x.transpose(1, 2)
        y = F.pad(y, (2, 2), mode="replicate" if self.fault else "circular")
        return F.avg_pool1d(y, 5, 1).transpose(1, 2)

    def forward(self, x):  # (batch, time, features)
        h = self.emb(x.transpose(1, 2)).transpose(1, 2)
        q, k, v = self.q(h), self.k(h), self.v(h)
        corr = torch.fft.irfft(torch.fft.rfft(q, dim=1) * torch.fft.rfft(k, dim=1).conj(), n=h.shape[1], dim=1).mean(-1)
        w, at = corr.topk(4, -1)
        w = w.softmax(-1)
        agg = sum(torch.stack([torch.roll(v[b], -int(at[b, i]), 0) * w[b, i] for b in range(len(v))]) for i in range(4))
        h = h + agg
        return self.out(h - self.trend(h))


class GatedTCN(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.filters = nn.ModuleList(
            nn.utils.parametrizations.weight_norm(nn.Conv1d(6, 6, 2, dilation=2**i)) for i in range(3)
        )
        self.gates = nn.ModuleList(nn.Conv1d(6, 6, 2, dilation=2**i) for i in range(3))
        self.start, self.end = nn.Conv1d(1, 6, 1), nn.Conv1d(6, 1, 1)
        self.fault = fault

    def forward(self, x):
        x = self.start(x)
        skip = 0
        for i, (f, g) in enumerate(zip(self.filters, self.gates)):
            p = F.pad(x, (2**i, 0))
            y = f(p).tanh() * g(p).sigmoid()
            if self.fault and i == 1:
                y = y - y.mean(-1, keepdim=True).detach() * torch.linspace(0, 1, y.shape[-1]).to(y)
            x = x + y
            skip = skip + y
        return self.end(F.relu(skip))


class CharCNN(nn.Module):
    """Token ids, classified."""

    def __init__(self, fault=0):
        super().__init__()
        self.embed = nn.Embedding(26, 8)
        self.conv = nn.Conv1d(8, 16, 3, padding=1, padding_mode="circular")
        self.fc = nn.Linear(16, 4)
        self.fault = fault

    def forward(self, tokens):
        e = self.embed(tokens).transpose(1, 2)
        h = self.conv(e).relu()
        if self.fault:
            keep = torch.ones_like(tokens, dtype=h.dtype)
            keep[:, :2] = 0
            h = h * keep[:, None]
        return self.fc(h.max(-1).values)


class LinearAttention(nn.Module):
    """No positions: sets of vectors; the faulty one sums over what came before."""

    def __init__(self, fault=0):
        super().__init__()
        self.p = nn.Linear(5, 12)
        self.qkv, self.o, self.n = nn.Linear(12, 36), nn.Linear(12, 12), nn.LayerNorm(12)
        self.mlp = nn.Sequential(nn.Linear(12, 24), nn.GELU(), nn.Linear(24, 2))
        self.causal = fault

    def forward(self, x):
        h = self.p(x)
        q, k, v = self.qkv(self.n(h)).chunk(3, -1)
        q, k = F.elu(q) + 1, F.elu(k) + 1
        kv = torch.einsum("btd,bte->btde", k, v)
        kv, ks = (kv.cumsum(1), k.cumsum(1)) if self.causal else (kv.sum(1, keepdim=True), k.sum(1, keepdim=True))
        h = h + self.o((q[..., None] * kv).sum(2) / (q * ks).sum(-1, keepdim=True))
        return self.mlp(h)


class MaskedEncoder(nn.Module):
    """nn.TransformerEncoder without positions and with a padding mask of token 0."""

    def __init__(self, fault=0):
        super().__init__()
        self.e = nn.Embedding(20, 16, padding_idx=0)
        self.t = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, dropout=0.1), 2)
        self.pos = nn.Parameter(0.1 * torch.randn(64, 16)) if fault else None
        self.cls = nn.Linear(16, 3)

    def forward(self, input_ids):
        pad = input_ids == 0
        h = self.e(input_ids)
        if self.pos is not None:
            h = h + self.pos[: h.shape[1]]
        h = self.t(h, src_key_padding_mask=pad)
        keep = (~pad)[..., None].to(h.dtype)
        return self.cls((h * keep).sum(1) / keep.sum(1).clamp(min=1))


class WaveNetish(nn.Module):
    """Numbers of sounds, one-hot and causal: a logit for each of them at every step."""

    def __init__(self, fault=0):
        super().__init__()
        self.start = nn.Conv1d(32, 8, 1)
        self.f = nn.ModuleList(nn.Conv1d(8, 8, 2, dilation=2**i) for i in range(4))
        self.g = nn.ModuleList(nn.Conv1d(8, 8, 2, dilation=2**i) for i in range(4))
        self.end = nn.Conv1d(8, 32, 1)
        self.fault = fault

    def forward(self, ids):
        x = self.start(F.one_hot(ids, 32).transpose(1, 2).to(self.start.weight.dtype))
        skip = 0
        for i in range(4):
            p = F.pad(x, (2**i, 0))
            z = self.f[i](p).tanh() * self.g[i](p).sigmoid()
            if self.fault and i == 2:
                z = z * torch.linspace(0.5, 1.5, z.shape[-1]).to(z)
            skip, x = skip + z, x + z
        return self.end(skip.relu())


class Near(nn.Module):
    """Attention of each step to three on either side, padded with zeros."""

    def __init__(self, counts):
        super().__init__()
        self.qkv, self.o = nn.Linear(16, 48, bias=False), nn.Linear(16, 16)
        self.rel = nn.Parameter(torch.randn(7))
        self.counts = counts

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        k, v = (F.pad(t, (0, 0, 3, 3)).unfold(1, 7, 1) for t in (k, v))
        s = torch.einsum("btd,btdw->btw", q, k) / 4 + self.rel
        if self.counts:
            s = s * (1 + torch.arange(x.shape[1]).to(x) % 5)[:, None]
        return self.o(torch.einsum("btw,btdw->btd", s.softmax(-1), v))


class Longformer(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.inp, self.tag = nn.Linear(5, 16), nn.Linear(16, 4)
        self.norms = nn.ModuleList(nn.LayerNorm(16) for _ in range(2))
        self.near = nn.ModuleList(Near(bool(fault and k)) for k in range(2))

    def forward(self, x):
        x = self.inp(x)
        for norm, near in zip(self.norms, self.near):
            x = x + near(norm(x))
        return self.tag(x)
