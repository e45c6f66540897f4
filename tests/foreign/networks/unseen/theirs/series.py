"""Networks on sequences: long filters, relative angles, gates, chunks, cumulative sums."""

import torch
import torch.nn.functional as F
from torch import nn


class LongFilter(nn.Module):
    """A causal filter as long as the sequence, by transforms; the fault: too few zeros, so that the end comes round."""

    def __init__(self, c, fault=False):
        super().__init__()
        self.rate, self.turn, self.gain, self.fault = (
            nn.Parameter(torch.rand(c, 4) + 0.2),
            nn.Parameter(torch.randn(c, 4)),
            nn.Parameter(torch.randn(c, 4)),
            fault,
        )

    def forward(self, x):  # (B, C, T)
        t = x.shape[-1]
        at = torch.arange(t, dtype=x.dtype, device=x.device)
        k = (
            self.gain[..., None] * torch.exp(-self.rate[..., None] * at * 0.3) * torch.cos(self.turn[..., None] * at)
        ).sum(1)
        n = t if self.fault else 2 * t
        return torch.fft.irfft(torch.fft.rfft(x, n) * torch.fft.rfft(k, n), n)[..., :t]


class HyenaBlock(nn.Module):
    def __init__(self, c, fault=False):
        super().__init__()
        self.proj, self.short = nn.Conv1d(c, 3 * c, 1, bias=False), nn.Conv1d(3 * c, 3 * c, 3, groups=3 * c, bias=False)
        self.long, self.out = LongFilter(c, fault), nn.Conv1d(c, c, 1, bias=False)

    def forward(self, x):
        v, a, b = self.short(F.pad(self.proj(x), (2, 0))).chunk(3, 1)
        return x + self.out(b * self.long(a * v))


class Hyena(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.inp, self.b1, self.b2, self.b3 = (
            nn.Conv1d(2, 6, 1, bias=False),
            HyenaBlock(6),
            HyenaBlock(6, bool(fault)),
            HyenaBlock(6),
        )

    def forward(self, x):
        return self.b3(self.b2(self.b1(self.inp(x))))


def rotate(x, base=50.0):
    t, c = x.shape[-2:]
    f = base ** (-torch.arange(0, c, 2, dtype=x.dtype, device=x.device) / c)
    a = torch.arange(t, dtype=x.dtype, device=x.device)[:, None] * f
    p, q = x[..., ::2], x[..., 1::2]
    return torch.stack([p * a.cos() - q * a.sin(), p * a.sin() + q * a.cos()], -1).flatten(-2)


class LocalRotary(nn.Module):
    """Attention to the last few steps, with rotary angles (Su et al. 2021); the fault: values are turned as well."""

    def __init__(self, c, heads=2, window=5, fault=False):
        super().__init__()
        self.qkv, self.o, self.norm = nn.Linear(c, 3 * c), nn.Linear(c, c), nn.LayerNorm(c)
        self.heads, self.window, self.fault = heads, window, fault

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (y.view(b, t, self.heads, -1).transpose(1, 2) for y in self.qkv(self.norm(x)).chunk(3, -1))
        q, k = rotate(q), rotate(k)
        if self.fault:
            v = rotate(v, 1e6)
        s = q @ k.transpose(-1, -2) / (c // self.heads) ** 0.5
        at = torch.arange(t, device=x.device)
        far = at[:, None] - at[None]
        s = s.masked_fill((far < 0) | (far >= self.window), -torch.inf)
        return x + self.o((s.softmax(-1) @ v).transpose(1, 2).flatten(2))


class RotaryNet(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.inp = nn.Linear(3, 8)
        self.a1, self.a2, self.a3 = LocalRotary(8), LocalRotary(8, fault=bool(fault)), LocalRotary(8)
        self.out = nn.Linear(8, 2)

    def forward(self, x):
        return self.out(self.a3(self.a2(self.a1(self.inp(x)))))


class Quasi(nn.Module):
    """Gates by convolutions, a running state (Bradbury et al. 2017); the fault: forgets all at the end of a chunk."""

    def __init__(self, cin, cout, chunk=0):
        super().__init__()
        self.conv, self.chunk = nn.Conv1d(cin, 3 * cout, 2, bias=False), chunk

    def forward(self, x):
        z, f, o = self.conv(F.pad(x, (1, 0))).chunk(3, 1)
        z, f, o = torch.tanh(z), torch.sigmoid(f), torch.sigmoid(o)
        c, out = torch.zeros_like(z[..., 0]), []
        for t in range(x.shape[-1]):
            if self.chunk and t and t % self.chunk == 0:
                c = torch.zeros_like(c)
            c = f[..., t] * c + (1 - f[..., t]) * z[..., t]
            out.append(o[..., t] * c)
        return torch.stack(out, -1)


class QRNN(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.q1, self.q2, self.q3 = Quasi(2, 6), Quasi(6, 6, 16 if fault else 0), Quasi(6, 3)

    def forward(self, seq):
        return self.q3(self.q2(self.q1(seq)))


class Decay(nn.Module):
    """An exponential mean as a ratio of cumulative sums; the fault: its weights are cut where they would be largest."""

    def __init__(self, c, fault=False):
        super().__init__()
        self.rate, self.mix, self.fault = nn.Parameter(torch.linspace(0.02, 0.2, c)), nn.Linear(c, c, bias=False), fault

    def forward(self, x):  # (B, T, C)
        t = torch.arange(x.shape[1], dtype=x.dtype, device=x.device)[:, None]
        up = torch.exp(self.rate * t)
        if self.fault:
            up = up.clamp(max=20.0)
        return torch.tanh(self.mix((up * x).cumsum(1) / up)) + x


class DecayNet(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.inp, self.d1, self.d2, self.d3 = nn.Linear(3, 6, bias=False), Decay(6), Decay(6, bool(fault)), Decay(6)

    def forward(self, x):
        return self.d3(self.d2(self.d1(self.inp(x))))


class Mirror(nn.Module):
    """A convolution whose filters read the same from behind; the fault: one tap of one filter."""

    def __init__(self, cin, cout, fault=False):
        super().__init__()
        self.w, self.fault = nn.Parameter(torch.randn(cout, cin, 5) / 5), fault

    def forward(self, x):
        w = (self.w + self.w.flip(-1)) / 2
        if self.fault:
            w = w.clone()
            w[0, 0, 0] = w[0, 0, 0] * 1.05
        return F.conv1d(x, w, padding=2)


class Reversible(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.m1, self.n1, self.m2, self.m3 = Mirror(2, 6), nn.GroupNorm(2, 6), Mirror(6, 6, bool(fault)), Mirror(6, 6)
        self.att = nn.Conv1d(6, 1, 1)

    def forward(self, x):
        h = F.gelu(self.n1(self.m1(x)))
        h = self.m3(F.gelu(self.m2(h)))
        w = self.att(h).softmax(-1)
        return (w * h).sum(-1), h


class Quantise(nn.Module):
    """The nearest of some codes; a fault moves every other step a little before it is asked."""

    def __init__(self, codes, c, fault=False):
        super().__init__()
        self.book, self.fault = nn.Parameter(torch.randn(codes, c)), fault

    def forward(self, x):  # (B, C, T)
        y = x.transpose(1, 2)
        if self.fault:
            y = y + 0.3 * (torch.arange(y.shape[1], device=x.device) % 2).to(y)[:, None]
        d = (y[:, :, None] - self.book).square().sum(-1)
        w = (-d * 4).softmax(-1)
        return (w @ self.book).transpose(1, 2)


class Codec(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv1d(1, 8, 4, 2), nn.ELU(), nn.Conv1d(8, 8, 4, 2))
        self.q = nn.ModuleList([Quantise(16, 8), Quantise(16, 8, bool(fault)), Quantise(16, 8)])
        self.dec = nn.Sequential(nn.ConvTranspose1d(8, 8, 4, 2), nn.ELU(), nn.ConvTranspose1d(8, 1, 4, 2))

    def forward(self, wave):
        z = self.enc(wave)
        total = torch.zeros_like(z)
        for q in self.q:
            total = total + q(z - total)
        return {"wave": self.dec(total)}
