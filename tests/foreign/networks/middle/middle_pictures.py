"""Networks on pictures with one fault in the middle: in a shared block, between modules, in a loop, in a filter."""

from __future__ import annotations

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from tests.foreign.case import Case, Given, drawn


def pictures(step=1, side=12, channels=2):
    return Given((drawn(2, channels, side, side, seed=41),), ("grid",), step=step)


def conv(c_in, c_out, **more):
    return nn.Conv2d(c_in, c_out, 3, padding=1, **{"padding_mode": "circular", **more})


class Block(nn.Module):
    """A residual block; a fault adds a table of the rows between its two convolutions."""

    def __init__(self, c, table=False):
        super().__init__()
        self.one, self.norm, self.two = conv(c, c), nn.BatchNorm2d(c), conv(c, c)
        self.rows = nn.Parameter(0.1 * torch.randn(12)) if table else None

    def forward(self, x):
        h = F.relu(self.norm(self.one(x)))
        if self.rows is not None:
            h = h + self.rows[:, None]
        return F.relu(x + self.two(h))


class ResNet(nn.Module):
    def __init__(self, table=False):
        super().__init__()
        self.stem = conv(2, 4)
        self.stages = nn.Sequential(Block(4), Block(4, table), Block(4))
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        return self.head(self.stages(self.stem(x)).mean((2, 3)))


class Strided(nn.Module):
    """Every second pixel is kept; a fault keeps those with an odd sum of both numbers in the second of the blocks."""

    def __init__(self, fault=False):
        super().__init__()
        self.a, self.b, self.c, self.fault = conv(2, 4), conv(4, 4), conv(4, 2), fault

    def forward(self, x):
        h = F.gelu(self.a(x))[..., ::2, ::2]
        if self.fault:
            h = torch.cat([h[..., :-1, :], h[..., -1:, :] * 0.9], -2)
        return self.c(F.gelu(self.b(h)))


class Squeeze(nn.Module):
    """Squeeze and excitation; a fault squeezes over rows alone and takes the first column."""

    def __init__(self, c, rows=False):
        super().__init__()
        self.down, self.up, self.rows = nn.Linear(c, 2), nn.Linear(2, c), rows

    def forward(self, x):
        s = x.mean(2)[..., 0] if self.rows else x.mean((2, 3))
        return x * torch.sigmoid(self.up(F.silu(self.down(s))))[..., None, None]


class Excited(nn.Module):
    def __init__(self, rows=False):
        super().__init__()
        self.net = nn.Sequential(conv(2, 4), Squeeze(4), nn.SiLU(), conv(4, 4), Squeeze(4, rows), nn.SiLU(), conv(4, 2))

    def forward(self, x):
        return self.net(x)


class AutoEncoder(nn.Module):
    """Down by pooling, up by repeating; a fault pads the transposed way up with zeros."""

    def __init__(self, zeros=False):
        super().__init__()
        self.down = nn.Sequential(conv(2, 4), nn.ReLU(), nn.AvgPool2d(2), conv(4, 8), nn.ReLU(), nn.AvgPool2d(2))
        self.up = nn.ModuleList([conv(8, 4), conv(4, 4, padding_mode="zeros" if zeros else "circular"), conv(4, 2)])

    def forward(self, x):
        h = self.down(x)
        for k, layer in enumerate(self.up):
            h = layer(h if k == 2 else F.interpolate(h, scale_factor=2))
            h = h if k == 2 else F.relu(h)
        return h


class Viewed(nn.Module):
    """A view is changed in place; a fault changes that of the first row."""

    def __init__(self, fault=False):
        super().__init__()
        self.a, self.b, self.fault = conv(2, 4), conv(4, 2), fault

    def forward(self, x):
        h = self.a(x).clone()
        view = h[:, :, 0] if self.fault else h[:, 0]
        view.mul_(0.5)
        return self.b(torch.tanh(h))


class Shared(nn.Module):
    """One block is called three times; a fault rolls its answer the second time, and fills with zeros."""

    def __init__(self, fault=False):
        super().__init__()
        self.enter, self.block, self.out, self.fault = nn.Conv2d(2, 4, 1), conv(4, 4), nn.Conv2d(4, 2, 1), fault

    def forward(self, x):
        h = self.enter(x)
        for k in range(3):
            moved = h.roll(1, -1)
            if self.fault and k == 1:
                moved = torch.cat([torch.zeros_like(moved[..., :1]), moved[..., 1:]], -1)
            h = h + torch.tanh(self.block(moved))
        return self.out(h)


class Patches(nn.Module):
    """A vision transformer without positions; a fault adds them to its second block's keys."""

    def __init__(self, fault=False):
        super().__init__()
        self.embed = nn.Conv2d(2, 8, 3, stride=3)
        self.blocks = nn.ModuleList([Attention(8), Attention(8, fault), Attention(8)])
        self.norm, self.head = nn.LayerNorm(8), nn.Linear(8, 3)

    def forward(self, x):
        h = self.embed(x).flatten(2).transpose(1, 2)
        for block in self.blocks:
            h = h + block(h)
        return self.head(self.norm(h).mean(1))


class Attention(nn.Module):
    def __init__(self, c, fault=False):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(c, c) for _ in range(4))
        self.places = nn.Parameter(0.3 * torch.randn(16, c)) if fault else None

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        if self.places is not None:
            k = k + self.places
        return self.o(F.scaled_dot_product_attention(q, k, v))


class Mixer(nn.Module):
    """Mixes patches by a circulant matrix; a fault changes one number of it."""

    def __init__(self, fault=False):
        super().__init__()
        self.enter, self.channels, self.out = nn.Conv2d(2, 4, 1), nn.Conv2d(4, 4, 1), nn.Conv2d(4, 2, 1)
        row = torch.randn(12) / 4
        matrix = torch.stack([row.roll(k) for k in range(12)])
        if fault:
            matrix[5, 7] += 0.2
        self.register_buffer("matrix", matrix)

    def forward(self, x):
        h = self.enter(x)
        h = h + torch.einsum("ij,nchj->nchi", self.matrix, F.gelu(h))
        h = h + torch.einsum("ij,ncjw->nciw", self.matrix, F.gelu(self.channels(h)))
        return self.out(h)


class Symmetric(nn.Module):
    """Filters that quarter turns leave alone; a fault makes one of them lean."""

    def __init__(self, lean=0.0):
        super().__init__()
        self.layers = nn.ModuleList([conv(2, 3), conv(3, 3), conv(3, 2)])
        with torch.no_grad():
            for k, layer in enumerate(self.layers):
                w = layer.weight
                w.copy_(sum(torch.rot90(v, t, (2, 3)) for v in (w, w.flip(3)) for t in range(4)) / 8)
                if k == 1:
                    w[0, 0, 0, 1] += lean

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return x


class Highest(nn.Module):
    """The highest value is taken out everywhere; a fault takes the first of all that are nearly as high."""

    def __init__(self, fault=False):
        super().__init__()
        self.a, self.b, self.fault = conv(2, 4), conv(4, 2), fault

    def forward(self, x):
        h = self.a(x)
        flat = h.flatten(2)
        if self.fault:
            near = (flat > flat.amax(-1, keepdim=True) - 0.8).to(flat)
            at = near.argmax(-1, keepdim=True)
        else:
            at = flat.argmax(-1, keepdim=True)
        h = flat.scatter(2, at, 0.0).view_as(h)
        return self.b(torch.relu(h))


class Statistics(nn.Module):
    """Normalises by the statistics of all pixels; a fault those of each column."""

    def __init__(self, axes=(2, 3)):
        super().__init__()
        self.net = nn.Sequential(conv(2, 4), Normed(), nn.ReLU(), conv(4, 4), Normed(axes), nn.ReLU(), conv(4, 2))

    def forward(self, x):
        return self.net(x).amax((2, 3))


class Normed(nn.Module):
    """Turned about by a quarter where its axes are not both."""

    def __init__(self, axes=(2, 3)):
        super().__init__()
        self.axes = axes

    def forward(self, x):
        if len(self.axes) == 1:
            return x - x.mean(self.axes, keepdim=True)[:, :, :, :1]
        return (x - x.mean(self.axes, keepdim=True)) / (x.var(self.axes, keepdim=True) + 1e-3).sqrt()


def pair(name, make, faulty, culprit, given=pictures, out=("grid",), group="translation", **more):
    sound = Case(name, make, given, group, out, **more)
    return [sound, sound.broken("a fault", faulty, *culprit)]


COARSE = partial(pictures, step=2)
CASES = (
    *pair("a table of rows in a block", ResNet, partial(ResNet, True), ["stages.1", "stages.1.two"], out=("fixed",)),
    *pair("a row that is weaker", Strided, partial(Strided, True), [], COARSE, ("grid@2",), hooks=False),
    *pair("squeezed by rows", Excited, partial(Excited, True), ["net.4", "net.4.down"], hooks=False),
    *pair("one padding on the way up", AutoEncoder, partial(AutoEncoder, True), ["up.1"], partial(pictures, 4)),
    *pair("a view in place", Viewed, partial(Viewed, True), [], hooks=False),
    *pair("a roll that is cut in a loop", Shared, partial(Shared, True), [], hooks=False),
    *pair("places in one block's keys", Patches, partial(Patches, True), ["blocks.1"], partial(pictures, 3),
          ("fixed",), hooks=False),
    *pair("one number of a circulant matrix", Mixer, partial(Mixer, True), [], hooks=False),
    *pair("a filter that leans", Symmetric, partial(Symmetric, 0.02), ["layers.1"], group="D4", hooks=False,
          limit=1e-6),
    *pair("the first of the highest", Highest, partial(Highest, True), [], hooks=False),
    *pair("a mean over the wrong axis", Statistics, partial(Statistics, (2,)), ["net.4"], out=("fixed",)),
)  # fmt: skip
