"""Networks that turns and mirrors leave alone, in many hands: separable filters, tensors of structure, orientations."""

from __future__ import annotations

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from tests.foreign.case import Case, Given, drawn


def pictures(side=9, channels=2):
    return Given((drawn(2, channels, side, side, seed=41),), ("grid",))


class Separable(nn.Module):
    """A filter along rows and the same along columns."""

    def __init__(self, c, k=5, even=True):
        super().__init__()
        self.taps, self.k, self.even = nn.Parameter(torch.randn(c, k)), k, even

    def forward(self, x):
        w = (self.taps + self.taps.flip(-1)) / 2 if self.even else self.taps
        pad = self.k // 2
        y = F.conv2d(x, w[:, None, :, None], padding=(pad, 0), groups=len(w))
        return F.conv2d(y, w[:, None, None, :], padding=(0, pad), groups=len(w))


class Stack(nn.Module):
    def __init__(self, even=True):
        super().__init__()
        self.enter = nn.Conv2d(2, 4, 1)
        self.blocks = nn.ModuleList(
            nn.Sequential(Separable(4, even=e), nn.InstanceNorm2d(4), nn.Softplus(), nn.Conv2d(4, 4, 1))
            for e in (True, even)
        )

    def forward(self, x):
        x = self.enter(x)
        for block in self.blocks:
            x = x + block(x)
        return x


class Structure(nn.Module):
    """The trace and the determinant of the tensor of structure."""

    def __init__(self, k=1.0):
        super().__init__()
        self.k = k

    def forward(self, x):
        p = F.pad(x, (1, 1, 1, 1), mode="replicate")
        dx, dy = (p[..., 1:-1, 2:] - p[..., 1:-1, :-2]) / 2, (p[..., 2:, 1:-1] - p[..., :-2, 1:-1]) / 2
        xx, yy, xy = (F.avg_pool2d(v, 3, 1, 1) for v in (dx * dx, dy * dy, dx * dy))
        return torch.cat([self.k * xx + yy, xx * yy - xy * xy], 1)


class Corners(nn.Module):
    def __init__(self, k=1.0):
        super().__init__()
        self.structure, self.read = Structure(k), nn.Sequential(nn.Conv2d(4, 6, 1), nn.Tanh(), nn.Conv2d(6, 1, 1))

    def forward(self, x):
        return self.read(self.structure(x))


class Pooling(nn.Module):
    """The largest answer of a filter over its turns."""

    def __init__(self, cin, cout, turns=4):
        super().__init__()
        self.weight, self.turns = nn.Parameter(torch.randn(cout, cin, 3, 3) / 3), turns

    def forward(self, x):
        return torch.stack([F.conv2d(x, self.weight.rot90(k, (2, 3)), padding=1) for k in range(self.turns)]).amax(0)


class TIPooling(nn.Module):
    def __init__(self, turns=4):
        super().__init__()
        self.net = nn.Sequential(Pooling(2, 4), nn.BatchNorm2d(4), Pooling(4, 4, turns), nn.Hardtanh())
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(self.net(x).mean((2, 3)))


class Rings(nn.Module):
    """Means over the rings round the centre; a fault has a bent ring."""

    def __init__(self, bent=False):
        super().__init__()
        at = torch.arange(9.0) - 4
        r = (at[:, None].square() * (1.6 if bent else 1.0) + at.square()).sqrt().round().long().clamp(max=5)
        self.register_buffer("rings", F.one_hot(r, 6).permute(2, 0, 1).float())
        self.fc = nn.Linear(12, 3)

    def forward(self, x):
        m = torch.einsum("nchw,rhw->ncr", x, self.rings / self.rings.sum((1, 2), keepdim=True).clamp(min=1))
        return self.fc(m.flatten(1))


class Polar(nn.Module):
    def __init__(self, bent=False):
        super().__init__()
        self.pre, self.rings = nn.Conv2d(2, 2, 1), Rings(bent)

    def forward(self, x):
        return self.rings(F.celu(self.pre(x)))


class Spectrum(nn.Module):
    """The power of frequencies, by their length."""

    def __init__(self, columns=False):
        super().__init__()
        self.columns, self.out = columns, nn.Linear(10, 2)

    def forward(self, x):
        p = torch.fft.fft2(x).abs().square()
        f = torch.fft.fftfreq(x.shape[-1], dtype=x.dtype)
        r = f[:, None].square() + (1.1 if self.columns else 1.0) * f.square()
        bins = torch.stack([torch.exp(-((r - c) ** 2) / 0.01) for c in (0, 0.05, 0.1, 0.2, 0.4)])
        return self.out((p[:, :, None] * bins).mean((-2, -1)).flatten(1).log1p())


class AxialAttention(nn.Module):
    """Attention along rows and, with the same weights, along columns; a fault has weights of its own for columns."""

    def __init__(self, c, own=False):
        super().__init__()
        self.rows = nn.MultiheadAttention(c, 2, batch_first=True)
        self.columns = nn.MultiheadAttention(c, 2, batch_first=True) if own else self.rows

    def along(self, attention, x):
        n, c, h, w = x.shape
        rows = x.permute(0, 2, 3, 1).reshape(n * h, w, c)
        return attention(rows, rows, rows, need_weights=False)[0].reshape(n, h, w, c).permute(0, 3, 1, 2)

    def forward(self, x):
        return x + self.along(self.rows, x) + self.along(self.columns, x.mT).mT


class Axial(nn.Module):
    def __init__(self, own=False):
        super().__init__()
        self.enter = nn.Conv2d(2, 4, 1)
        self.one, self.two, self.out = AxialAttention(4), AxialAttention(4, own), nn.Conv2d(4, 2, 1)

    def forward(self, x):
        return self.out(self.two(self.one(self.enter(x))))


class Spread(nn.Module):
    """Diffusion by hand, in time steps; a fault lets it flow faster along the rows."""

    def __init__(self, fast=1.0):
        super().__init__()
        self.rate, self.fast = nn.Parameter(torch.tensor(0.1)), fast

    def forward(self, x):
        for _ in range(3):
            p = F.pad(x, (1, 1, 1, 1), mode="replicate")
            rows = p[..., 1:-1, 2:] + p[..., 1:-1, :-2] - 2 * x
            columns = p[..., 2:, 1:-1] + p[..., :-2, 1:-1] - 2 * x
            x = x + self.rate * (self.fast * rows + columns)
        return x


class Diffused(nn.Module):
    def __init__(self, fast=1.0):
        super().__init__()
        self.steps = nn.ModuleList([Spread(), Spread(fast)])
        self.mix = nn.ModuleList(nn.Conv2d(2, 2, 1) for _ in range(2))

    def forward(self, x):
        found = []
        for step, mix in zip(self.steps, self.mix):
            x = mix(step(x)).tanh()
            found.append(x)
        return found


def pair(name, make, faulty, culprit, out=("grid",), group="D4", **more):
    sound = Case(name, make, pictures, group, out, **more)
    return [sound, sound.broken("a fault", faulty, *culprit)]


CASES = (
    *pair("separable filters", Stack, partial(Stack, False), ["blocks.1.0"]),
    *pair("corners", Corners, partial(Corners, 1.01), ["structure"]),
    *pair("the largest of four turns", TIPooling, partial(TIPooling, 3), ["net.2"], ("fixed",), "C4", hooks=False),
    *pair("rings", Polar, partial(Polar, True), ["rings"], ("fixed",)),
    *pair("the power of frequencies", Spectrum, partial(Spectrum, True), [], ("fixed",), hooks=False),
    *pair("attention along both axes", Axial, partial(Axial, True), ["two"], hooks=False),
    *pair("diffusion", Diffused, partial(Diffused, 1.02), ["steps.1"], ("grid", "grid")),
)
