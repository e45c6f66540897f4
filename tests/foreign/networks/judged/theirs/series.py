"""Somebody's networks on series: causal, recurrent, U-shaped; `fault` plants one."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrizations, weight_norm


class Ramp(nn.Module):
    """Weighs steps by their number, on one axis: the planted fault."""

    def __init__(self, axis, size=1e-2):
        super().__init__()
        self.axis, self.size = axis, size

    def forward(self, x):
        ramp = 1 + self.size * torch.arange(x.shape[self.axis], dtype=x.dtype)
        return x * ramp.view([-1 if k == self.axis % x.ndim else 1 for k in range(x.ndim)])


def maybe(fault, here, axis=2):
    return Ramp(axis) if fault == here else nn.Identity()


class Chomp1d(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def forward(self, x):
        return x[:, :, : -self.size].contiguous()


class Block(nn.Module):
    def __init__(self, i, o, d, norm, p=0.2):
        super().__init__()
        self.conv1 = norm(nn.Conv1d(i, o, 3, padding=2 * d, dilation=d))
        self.conv2 = norm(nn.Conv1d(o, o, 3, padding=2 * d, dilation=d))
        self.net = nn.Sequential(
            self.conv1, Chomp1d(2 * d), nn.ReLU(), nn.Dropout(p), self.conv2, Chomp1d(2 * d), nn.ReLU()
        )
        self.down = nn.Conv1d(i, o, 1) if i != o else None

    def forward(self, x):
        return F.relu(self.net(x) + (x if self.down is None else self.down(x)))


class TCN(nn.Module):
    """A temporal convolutional network with the old weight_norm."""

    def __init__(self, fault=0, norm=weight_norm):
        super().__init__()
        self.b1, self.b2, self.head = Block(1, 6, 1, norm), Block(6, 6, 2, norm), nn.Conv1d(6, 2, 1)
        self.first, self.middle, self.last = (maybe(fault, k) for k in (1, 2, 3))

    def forward(self, x):
        return self.last(self.head(self.b2(self.middle(self.b1(self.first(x))))))


class TCNParametrized(TCN):
    def __init__(self, fault=0):
        super().__init__(fault, parametrizations.weight_norm)


class WaveNet(nn.Module):
    """Gates, residual and skip connections, padded by hand on the left."""

    def __init__(self, fault=0):
        super().__init__()
        self.front = nn.Conv1d(1, 8, 2)
        self.filters = nn.ModuleList(nn.Conv1d(8, 8, 2, dilation=2**k) for k in range(3))
        self.gates = nn.ModuleList(nn.Conv1d(8, 8, 2, dilation=2**k) for k in range(3))
        self.skips = nn.ModuleList(nn.Conv1d(8, 8, 1) for _ in range(3))
        self.end = nn.Sequential(nn.ReLU(), nn.Conv1d(8, 8, 1), nn.ReLU(), nn.Conv1d(8, 1, 1))
        self.middle, self.last = maybe(fault, 2), maybe(fault, 3)
        self.fault = fault

    def forward(self, x):
        h = self.front(F.pad(x, (1, 0)))
        total = 0.0
        for k, (f, g, s) in enumerate(zip(self.filters, self.gates, self.skips)):
            p = F.pad(h, (2**k, 0))
            z = torch.tanh(f(p)) * torch.sigmoid(g(p))
            if k == 1:
                z = self.middle(z)
            h, total = h + z, total + s(z)
        return self.last(self.end(total))


class UNet1d(nn.Module):
    """Down by two and back up, skip connections by concatenation."""

    def __init__(self, fault=0):
        super().__init__()
        self.d1, self.d2 = nn.Conv1d(1, 6, 3, padding=1, bias=False), nn.Conv1d(6, 8, 3, padding=1, bias=False)
        self.pool, self.up = nn.MaxPool1d(2), nn.ConvTranspose1d(8, 6, 2, stride=2, bias=False)
        self.u1, self.out = nn.Conv1d(12, 6, 3, padding=1, bias=False), nn.Conv1d(6, 1, 1, bias=False)
        self.first, self.middle, self.last = (maybe(fault, k) for k in (1, 2, 3))

    def forward(self, x):
        a = self.first(torch.relu(self.d1(x)))
        b = self.middle(torch.relu(self.d2(self.pool(a))))
        return self.out(self.last(torch.relu(self.u1(torch.cat([self.up(b), a], 1)))))


class GatedRecurrent(nn.Module):
    """A GRU that starts from zero and keeps still without input: no biases."""

    def __init__(self, fault=0):
        super().__init__()
        self.rnn, self.out = nn.GRU(1, 8, 2, bias=False), nn.Linear(8, 1, bias=False)
        self.first, self.last = maybe(fault, 1, 0), maybe(fault, 3, 0)

    def forward(self, x):
        return self.last(self.out(self.rnn(self.first(x))[0]))


class Palindromes(nn.Module):
    """Reads a series both ways round with one network and adds the two: reversal changes nothing but the order."""

    def __init__(self, fault=0):
        super().__init__()
        self.lstm, self.out = nn.LSTM(1, 6, batch_first=True), nn.Linear(6, 2)
        self.first, self.last = maybe(fault, 1, 1), maybe(fault, 3, 1)

    def forward(self, x):
        x = self.first(x)
        y = self.lstm(x)[0] + self.lstm(x.flip(1))[0].flip(1)
        return self.last(self.out(torch.tanh(y)))


class Squeezed(nn.Module):
    """Depthwise blocks with squeeze and excitation over the past alone."""

    def __init__(self, fault=0):
        super().__init__()
        self.point, self.depth = nn.Conv1d(1, 8, 1, bias=False), nn.Conv1d(8, 8, 5, groups=8, bias=False)
        self.out = nn.Conv1d(8, 1, 1, bias=False)
        self.first, self.last = maybe(fault, 1), maybe(fault, 3)

    def forward(self, x):
        h = self.depth(F.pad(self.first(self.point(x)), (4, 0)))
        s = h.cumsum(-1).abs()
        return self.out(self.last(h * torch.sigmoid(s)))


class CausalAttention(nn.Module):
    """Attention to the last five steps with a bias by distance."""

    def __init__(self, fault=0):
        super().__init__()
        self.inp, self.qkv, self.out = (
            nn.Linear(1, 8, bias=False),
            nn.Linear(8, 24, bias=False),
            nn.Linear(8, 1, bias=False),
        )
        self.by_distance = nn.Parameter(torch.randn(5))
        self.first, self.last = maybe(fault, 1, 1), maybe(fault, 3, 1)

    def forward(self, x):
        h = self.first(self.inp(x))
        q, k, v = self.qkv(h).chunk(3, -1)
        t = torch.arange(x.shape[1])
        far = t[:, None] - t[None]
        allowed = (far >= 0) & (far < 5)
        s = torch.exp(-((q[:, :, None] - k[:, None]) ** 2).sum(-1) + self.by_distance[far.clamp(0, 4)]) * allowed
        return self.out(self.last(h + s @ v))


class Strands(nn.Module):
    """DNA read on both strands: one-hot A C G T."""

    def __init__(self, fault=0):
        super().__init__()
        self.conv, self.out = nn.Conv1d(4, 8, 5, padding=2), nn.Linear(8, 1)
        self.first, self.last = maybe(fault, 1), maybe(fault, 3)

    def forward(self, x):
        def one(s):
            return torch.relu(self.conv(s))

        x = self.first(x)
        y = one(x).amax(-1) + one(x.flip(1, 2)).amax(-1)
        return self.out(
            self.last(y[..., None]).squeeze(-1) if isinstance(self.last, nn.Identity) else self.last(one(x)).mean(-1)
        )


class Lazy(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.a, self.b = nn.LazyConv1d(6, 3, padding=1), nn.LazyConv1d(2, 1)
        self.first, self.last = maybe(fault, 1), maybe(fault, 3)

    def forward(self, x):
        return self.last(self.b(torch.relu(self.a(self.first(x)))))


class Band(nn.Module):
    """Filters made in the forward, as of SincNet: of the widths that layers take none is that of the series."""

    def __init__(self, fault=0):
        super().__init__()
        self.low, self.wide = nn.Parameter(0.2 * torch.rand(6)), nn.Parameter(0.05 + 0.2 * torch.rand(6))
        self.register_buffer("at", torch.arange(-7, 8).float())
        self.norm, self.conv = nn.BatchNorm1d(6), nn.Conv1d(6, 8, 3, padding=1)
        self.last = maybe(fault, 3)

    def forward(self, x):
        low, high = (2 * f[:, None] * torch.sinc(2 * f[:, None] * self.at) for f in (self.low, self.low + self.wide))
        h = nn.functional.conv1d(x, (high - low)[:, None], padding=7)
        return self.last(torch.relu(self.conv(self.norm(h.abs()))))
