"""Somebody's networks on series: causal, recurrent, in state space, read both ways."""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils import weight_norm


class CausalConv(nn.Module):
    def __init__(self, i, o, k, d=1, mode="constant", wn=False, **kw):
        super().__init__()
        c = nn.Conv1d(i, o, k, dilation=d, **kw)
        self.conv = weight_norm(c) if wn else c
        self.left = (k - 1) * d
        self.mode = mode

    def forward(self, x):
        return self.conv(F.pad(x, (self.left, 0), mode=self.mode))


class WaveBlock(nn.Module):
    def __init__(self, c, d, norm=None):
        super().__init__()
        self.filt = CausalConv(c, c, 2, d)
        self.gate = CausalConv(c, c, 2, d)
        self.res = nn.Conv1d(c, c, 1)
        self.skip = nn.Conv1d(c, c, 1)
        self.norm = norm or nn.Identity()

    def forward(self, x):
        z = self.norm(torch.tanh(self.filt(x)) * torch.sigmoid(self.gate(x)))
        return x + self.res(z), self.skip(z)


class CumNorm(nn.Module):
    def forward(self, x):
        t = torch.arange(1, x.shape[-1] + 1, dtype=x.dtype)
        m = x.mean(1, keepdim=True).cumsum(-1) / t
        return x - m


class WaveNet(nn.Module):
    INPUT = "NCT"

    def __init__(self, cum=False):
        super().__init__()
        self.start = nn.Conv1d(1, 8, 1)
        self.blocks = nn.ModuleList([WaveBlock(8, 2**i, CumNorm() if cum and i == 1 else None) for i in range(3)])
        self.end1 = nn.Conv1d(8, 8, 1)
        self.end2 = nn.Conv1d(8, 4, 1)

    def forward(self, x):
        x = self.start(x)
        s = 0
        for b in self.blocks:
            x, k = b(x)
            s = s + k
        return self.end2(F.relu(self.end1(F.relu(s))))


def wavenet():
    return WaveNet()


def wavenet_cum():
    return WaveNet(True)


class TCNBlock(nn.Module):
    def __init__(self, i, o, d, mode="constant"):
        super().__init__()
        self.c1 = CausalConv(i, o, 3, d, wn=True)
        self.drop = nn.Dropout(0.2)
        self.c2 = CausalConv(o, o, 3, d, mode=mode, wn=True)
        self.down = nn.Conv1d(i, o, 1) if i != o else None

    def forward(self, x):
        y = self.drop(F.relu(self.c1(x)))
        y = self.drop(F.relu(self.c2(y)))
        return F.relu(y + (x if self.down is None else self.down(x)))


def tcn():
    return nn.Sequential(TCNBlock(2, 8, 1), TCNBlock(8, 8, 2), TCNBlock(8, 8, 4), nn.Conv1d(8, 3, 1))


def tcn_circ():
    return nn.Sequential(TCNBlock(2, 8, 1), TCNBlock(8, 8, 2, "circular"), TCNBlock(8, 8, 4), nn.Conv1d(8, 3, 1))


class SelectiveScan(nn.Module):
    def __init__(self, d, n=4, ramp=False):
        super().__init__()
        self.A = nn.Parameter(torch.log(torch.arange(1, n + 1).float()).repeat(d, 1))
        self.x_proj = nn.Linear(d, 2 * n + 1, bias=False)
        self.dt = nn.Linear(1, d)
        self.D = nn.Parameter(torch.ones(d))
        self.n = n
        self.ramp = ramp

    def forward(self, u):
        B, L, D = u.shape
        dt, Bm, Cm = self.x_proj(u).split([1, self.n, self.n], -1)
        dt = F.softplus(self.dt(dt))
        A = -self.A.exp()
        h = torch.zeros(B, D, self.n, dtype=u.dtype, device=u.device)
        ys = []
        for t in range(L):
            step = dt[:, t, :, None] * (1 + 1e-3 * t if self.ramp else 1)
            h = torch.exp(step * A) * h + step * Bm[:, t, None] * u[:, t, :, None]
            ys.append((h * Cm[:, t, None]).sum(-1))
        return torch.stack(ys, 1) + u * self.D


class Mamba(nn.Module):
    def __init__(self, d=8, ramp=False):
        super().__init__()
        self.in_proj = nn.Linear(3, 2 * d, bias=False)
        self.conv = nn.Conv1d(d, d, 3, padding=2, groups=d, bias=False)
        self.ssm = SelectiveScan(d, ramp=ramp)
        self.out_proj = nn.Linear(d, 3, bias=False)

    def forward(self, x):
        a, z = self.in_proj(x).chunk(2, -1)
        a = F.silu(self.conv(a.transpose(1, 2))[..., : x.shape[1]].transpose(1, 2))
        return self.out_proj(self.ssm(a) * F.silu(z))


def mamba():
    return Mamba()


def mamba_ramp():
    return Mamba(ramp=True)


class LongConv(nn.Module):
    def __init__(self, d, L=64, wrap=False):
        super().__init__()
        self.k = nn.Parameter(torch.randn(d, L) * torch.exp(-torch.arange(L) / 8.0))
        self.wrap = wrap

    def forward(self, x):  # (B, L, D)
        L = x.shape[1]
        n = L if self.wrap else 2 * L
        k = self.k[:, :L]
        y = torch.fft.irfft(torch.fft.rfft(x.transpose(1, 2), n=n) * torch.fft.rfft(k, n=n), n=n)[..., :L]
        return y.transpose(1, 2)


class Hyena(nn.Module):
    def __init__(self, wrap=False):
        super().__init__()
        self.inp = nn.Linear(2, 16)
        self.long = LongConv(8, wrap=wrap)
        self.out = nn.Linear(8, 2)

    def forward(self, x):
        v, g = self.inp(x).chunk(2, -1)
        return self.out(self.long(v * 1.0 - self.inp.bias[:8]) * torch.sigmoid(g))


def hyena():
    return Hyena()


def hyena_wrap():
    return Hyena(True)


class LocalAttention(nn.Module):
    def __init__(self, d, w=6):
        super().__init__()
        self.qkv = nn.Linear(d, 3 * d)
        self.o = nn.Linear(d, d)
        self.w = w

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        L = x.shape[1]
        i = torch.arange(L)
        dist = i[:, None] - i[None]
        s = torch.einsum("bid,bjd->bij", q, k) / q.shape[-1] ** 0.5 - 0.3 * dist.to(x.dtype)
        s = s.masked_fill((dist < 0) | (dist >= self.w), float("-inf"))
        return self.o(s.softmax(-1) @ v)


class Decoder(nn.Module):
    def __init__(self, pe=0.0):
        super().__init__()
        self.embed = nn.Linear(4, 16)
        self.ln1 = nn.LayerNorm(16)
        self.attn = LocalAttention(16)
        self.ln2 = nn.LayerNorm(16)
        self.ff = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Dropout(0.1), nn.Linear(32, 16))
        self.head = nn.Linear(16, 4)
        p = torch.arange(512)[:, None] * torch.exp(torch.arange(0, 16, 2) * (-math.log(1e4) / 16))
        self.register_buffer("pe", pe * torch.cat([p.sin(), p.cos()], -1))

    def forward(self, x):
        h = self.embed(x)
        h = h + self.attn(self.ln1(h))
        h = h + self.pe[: h.shape[1]].to(h.dtype)
        h = h + self.ff(self.ln2(h))
        return self.head(h)


def local_decoder():
    return Decoder()


def local_decoder_pe():
    return Decoder(1e-3)


class GRUNet(nn.Module):
    def __init__(self, h0=False):
        super().__init__()
        self.gru = nn.GRU(3, 8, bias=False, batch_first=True)
        self.h0 = nn.Parameter(0.1 * torch.randn(1, 1, 8)) if h0 else None
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        y, _h = self.gru(x, None if self.h0 is None else self.h0.expand(-1, x.shape[0], -1).contiguous())
        return self.head(y)


def gru():
    return GRUNet()


def gru_h0():
    return GRUNet(True)


class TiedBiGRU(nn.Module):
    def __init__(self, off=0):
        super().__init__()
        self.cell = nn.GRU(3, 8, batch_first=True)
        self.off = off
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        a, _ = self.cell(x)
        b, _ = self.cell(x.flip(1))
        return self.head(a + b.flip(1).roll(self.off, 1))


def tied():
    return TiedBiGRU()


def tied_off():
    return TiedBiGRU(1)


class SymConv1d(nn.Module):
    def __init__(self, i, o, k, stride=1):
        super().__init__()
        self.w = nn.Parameter(torch.randn(o, i, k) / k)
        self.stride = stride
        self.k = k

    def forward(self, x):
        return F.conv1d(x, self.w + self.w.flip(-1), padding=self.k // 2, stride=self.stride)


class Palindrome(nn.Module):
    def __init__(self, stride=1):
        super().__init__()
        self.a = SymConv1d(2, 8, 5)
        self.b = SymConv1d(8, 8, 3, stride)
        self.c = SymConv1d(8, 4, 3)
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        x = F.elu(self.a(x))
        x = F.elu(self.b(x))
        return self.fc(self.c(x).mean(-1))


INPUT_STEPS = 64


def palindrome():
    return Palindrome()


def palindrome_stride():
    return Palindrome(2)


class UNet1d(nn.Module):
    def __init__(self, align=False):
        super().__init__()

        def c(i, o):
            return nn.Conv1d(i, o, 3, padding=1, padding_mode="circular")

        self.e1, self.e2, self.d1 = c(2, 8), c(8, 8), c(16, 4)
        self.pool = nn.AvgPool1d(2)
        self.up = (
            nn.Upsample(scale_factor=2, mode="linear", align_corners=True) if align else nn.Upsample(scale_factor=2)
        )

    def forward(self, x):
        a = F.relu(self.e1(x))
        b = F.relu(self.e2(self.pool(a)))
        return self.d1(torch.cat([a, self.up(b)], 1))


def unet1d():
    return UNet1d()


def unet1d_align():
    return UNet1d(True)


class SwinDNA(nn.Module):
    def __init__(self, wrong=False):
        super().__init__()
        self.conv = nn.Conv1d(4, 8, 7, padding=3)
        self.conv2 = nn.Conv1d(8, 8, 3, padding=1)
        self.head = nn.Linear(8, 1)
        self.wrong = wrong

    def body(self, x):
        return F.relu(self.conv2(F.relu(self.conv(x)))).amax(-1)

    def forward(self, x):  # (N, 4, L)
        rc = x.flip(1, 2)
        if self.wrong:
            rc = rc[:, [1, 0, 2, 3]]
        return self.head(torch.maximum(self.body(x), self.body(rc)))


def rc():
    return SwinDNA()


def rc_wrong():
    return SwinDNA(True)


class TimeFirst(nn.Module):
    """(T, B, C) as in the tutorial; QRNN pooling with fo gates"""

    def __init__(self, cut=False):
        super().__init__()
        self.proj = nn.Linear(3 * 2, 3 * 8)
        self.out = nn.Linear(8, 3)
        self.cut = cut

    def forward(self, x):
        prev = torch.cat([torch.zeros_like(x[:1]), x[:-1]], 0)
        z, f, o = self.proj(torch.cat([prev, x], -1)).chunk(3, -1)
        z = z.tanh() - self.proj.bias[:8].tanh()
        f = f.sigmoid()
        o = o.sigmoid()
        c = torch.zeros_like(z[0])
        hs = []
        for t in range(x.shape[0]):
            if self.cut and t % 8 == 0:
                c = c * 0.0
            c = f[t] * c + (1 - f[t]) * z[t]
            hs.append(o[t] * c)
        return self.out(torch.stack(hs))


def qrnn():
    return TimeFirst()


def qrnn_cut():
    return TimeFirst(True)


class Pred(NamedTuple):
    logits: Tensor
    state: Tensor


class EMA(nn.Module):
    def __init__(self, debias=False):
        super().__init__()
        self.mix = CausalConv(2, 6, 3, bias=False)
        self.a = nn.Parameter(torch.rand(6))
        self.head = nn.Conv1d(6, 2, 1)
        self.debias = debias

    def forward(self, x):
        h = F.gelu(self.mix(x))
        a = self.a.sigmoid()[None]
        s = torch.zeros_like(h[..., 0])
        o = []
        for t in range(h.shape[-1]):
            s = a * s + (1 - a) * h[..., t]
            o.append(s / (1 - a ** (t + 1)) if self.debias else s)
        y = torch.stack(o, -1)
        return Pred(self.head(h), y)


def ema():
    return EMA()


def ema_debias():
    return EMA(True)
