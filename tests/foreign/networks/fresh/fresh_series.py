"""Series: state spaces, both strands of DNA, filters by frequency, positions relative to each other."""

from __future__ import annotations

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from tests.foreign.case import Given, drawn, pair
from tests.foreign.networks.on_sequences.sequences import series


def dna(steps=25):
    letters = F.one_hot(drawn(steps, 4, seed=24).argmax(1), 4).float()
    return Given((letters.t()[None],), ("strands@2",), layout="NCT")


class Separable(nn.Module):
    """A causal depthwise convolution and a mix of channels; `ramp` weighs the steps."""

    def __init__(self, c, dilation, ramp=False):
        super().__init__()
        self.depth = nn.Conv1d(c, c, 3, dilation=dilation, groups=c, bias=False)
        self.mix, self.past = nn.Conv1d(c, c, 1, bias=False), 2 * dilation
        self.ramp = ramp

    def forward(self, x):
        left = F.pad(x, (self.past, 0))
        y = self.depth(left)
        if self.ramp:
            y = y * (1 + 0.01 * torch.arange(y.shape[-1], dtype=y.dtype))
        return x + self.mix(F.silu(y))


class Depthwise(nn.Module):
    def __init__(self, ramp=False):
        super().__init__()
        self.enter = nn.Conv1d(3, 6, 1, bias=False)
        self.blocks = nn.ModuleList([Separable(6, 1), Separable(6, 2, ramp), Separable(6, 4)])
        self.out = nn.Conv1d(6, 2, 1, bias=False)

    def forward(self, x):
        x = self.enter(x)
        for block in self.blocks:
            x = block(x)
        return self.out(x)


class Diagonal(nn.Module):
    """A linear state space with a diagonal, run step by step; `begun` starts it from a learned state."""

    def __init__(self, c, state=4, begun=False):
        super().__init__()
        self.a, self.b = nn.Parameter(-torch.rand(c, state) - 0.2), nn.Parameter(torch.randn(c, state))
        self.c = nn.Parameter(torch.randn(c, state) / 2)
        self.start = nn.Parameter(torch.randn(c, state) / 4) if begun else None

    def forward(self, x):  # (batch, steps, channels)
        h = torch.zeros(len(x), *self.a.shape, dtype=x.dtype)
        if self.start is not None:
            h = h + self.start
        found = []
        for t in range(x.shape[1]):
            h = h * self.a.exp() + self.b * x[:, t, :, None]
            found.append((h * self.c).sum(-1))
        return torch.stack(found, 1)


class StateSpace(nn.Module):
    def __init__(self, begun=False):
        super().__init__()
        self.enter, self.scan = nn.Linear(3, 5, bias=False), Diagonal(5, begun=begun)
        self.out = nn.Linear(5, 2, bias=False)

    def forward(self, x):
        h = self.enter(x)
        return self.out(h * torch.sigmoid(self.scan(h)) + self.scan(h))


class StrandConv(nn.Module):
    """Half of the filters are the others read on the other strand; `own` gives each its own bias."""

    def __init__(self, cin, cout, k=5, own=False):
        super().__init__()
        self.w = nn.Parameter(torch.randn(cout // 2, cin, k) / 4)
        self.b, self.own = nn.Parameter(torch.randn(cout if own else cout // 2) / 2), own

    def forward(self, x):
        w = torch.cat([self.w, self.w.flip(0, 1, 2)])
        b = self.b if self.own else torch.cat([self.b, self.b.flip(0)])
        return F.conv1d(x, w, b, padding=w.shape[-1] // 2)


class BothStrands(nn.Module):
    def __init__(self, own=False):
        super().__init__()
        self.conv1, self.conv2 = StrandConv(4, 8), StrandConv(8, 6, own=own)
        self.head = nn.Linear(3, 1)

    def forward(self, x):
        h = F.softplus(self.conv2(F.relu(self.conv1(x)))).amax(-1)
        return self.head(h[:, :3] + h[:, 3:].flip(1))


class Spectral(nn.Module):
    """A filter by frequency; `window` fades the ends first."""

    def __init__(self, c, steps, window=False):
        super().__init__()
        self.w = nn.Parameter(torch.randn(c, steps // 2 + 1, dtype=torch.cfloat) / 2)
        self.register_buffer("window", torch.hann_window(steps) if window else torch.ones(steps))

    def forward(self, x):
        return torch.fft.irfft(torch.fft.rfft(x * self.window) * self.w, n=x.shape[-1])


class Filters(nn.Module):
    def __init__(self, window=False):
        super().__init__()
        self.enter, self.spectral = nn.Conv1d(2, 5, 3, padding=1, padding_mode="circular"), Spectral(5, 23, window)
        self.norm, self.out = nn.GroupNorm(1, 5), nn.Conv1d(5, 2, 1)

    def forward(self, x):
        h = self.enter(x)
        return self.out(self.norm(F.gelu(h + self.spectral(h))))


class TwoWays(nn.Module):
    """One GRU reads both ways round; `other` reads back with another."""

    def __init__(self, c, h, other=False):
        super().__init__()
        self.there = nn.GRU(c, h, batch_first=True)
        self.back = nn.GRU(c, h, batch_first=True) if other else self.there

    def forward(self, x):
        return torch.maximum(self.there(x)[0], self.back(x.flip(1))[0].flip(1))


class Mirrored(nn.Module):
    def __init__(self, other=False):
        super().__init__()
        self.enter, self.rnn, self.out = nn.Linear(3, 4), TwoWays(4, 5, other), nn.Linear(5, 2)

    def forward(self, x):
        return self.out(self.rnn(torch.tanh(self.enter(x))))


class Relative(nn.Module):
    """Attention with a bias by distance; `signed` tells before from after."""

    def __init__(self, c, heads=2, signed=False, most=8):
        super().__init__()
        self.qkv, self.out, self.heads, self.signed, self.most = (
            nn.Linear(c, 3 * c),
            nn.Linear(c, c),
            heads,
            signed,
            most,
        )
        self.table = nn.Embedding(2 * most + 1, heads)

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = self.qkv(x).view(n, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        at = torch.arange(t)
        way = at[:, None] - at
        way = (way if self.signed else way.abs()).clamp(-self.most, self.most) + self.most
        score = q @ k.transpose(-1, -2) / (c / self.heads) ** 0.5 + self.table(way).permute(2, 0, 1)
        return self.out((score.softmax(-1) @ v).transpose(1, 2).reshape(n, t, c))


class Encoder(nn.Module):
    def __init__(self, signed=False):
        super().__init__()
        self.enter = nn.Linear(3, 8)
        self.attn1, self.attn2 = Relative(8), Relative(8, signed=signed)
        self.norm1, self.norm2, self.head = nn.LayerNorm(8), nn.LayerNorm(8), nn.Linear(8, 2)

    def forward(self, x):
        h = self.enter(x)
        h = h + self.attn1(self.norm1(h))
        h = h + self.attn2(self.norm2(h))
        return self.head(h.mean(1))


class Rings(nn.Module):
    """An autoencoder of a ring: every third step, and back; `edges` pads with zeros where it decodes."""

    def __init__(self, mode="circular"):
        super().__init__()
        self.encode = nn.Sequential(
            nn.Conv1d(2, 6, 3, stride=3, padding=1, padding_mode="circular"), nn.ELU(), nn.Conv1d(6, 3, 1)
        )
        self.decode = nn.Sequential(
            nn.Upsample(scale_factor=3), nn.Conv1d(3, 6, 3, padding=1, padding_mode=mode), nn.ELU(), nn.Conv1d(6, 2, 1)
        )

    def forward(self, x):
        return self.decode(self.encode(x))


CASES = (
    *pair("separable and causal", Depthwise, partial(Depthwise, True), ["blocks.1"],
          partial(series, "NCT", channels=3), ("steps@2",), "shift", inside=14),
    *pair("a state space", StateSpace, partial(StateSpace, True), ["scan", "scan#2"],
          partial(series, "NTC", channels=3), ("steps@1",), "shift", hooks=False),
    *pair("filters of both strands", BothStrands, partial(BothStrands, True), ["conv2"], dna, ("fixed",),
          "reverse-complement", hooks=False),
    *pair("a filter by frequency", Filters, partial(Filters, True), ["spectral"],
          partial(series, "NCT", channels=2, steps=23), ("steps@2",), "circular-shift", hooks=False),
    *pair("a mirrored reader", Mirrored, partial(Mirrored, True), ["rnn", "rnn.there", "rnn.back"],
          partial(series, "NTC", channels=3), ("steps@1",), "reversal", hooks=False),
    *pair("distances between steps", Encoder, partial(Encoder, True), ["attn2", "attn2.table"],
          partial(series, "NTC", channels=3), ("fixed",), "reversal", hooks=False),
    *pair("a ring by threes", Rings, partial(Rings, "zeros"), ["decode.1"],
          lambda: Given((drawn(1, 2, 21, seed=4),), ("steps@2",), layout="NCT", step=3), ("steps@2",),
          "circular-shift", hooks=False),
)  # fmt: skip
