"""Layers on images in many hands: masks, couplings, experts, lists of weights, readers of rows, trees of containers."""

from __future__ import annotations

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from tests.foreign.case import Case, Given, drawn


def pictures(side=8, channels=2, step=1):
    return Given((drawn(2, channels, side, side, seed=11),), ("grid",), step=step)


def two_pictures():
    return Given((drawn(1, 2, 8, 8, seed=12), drawn(1, 2, 8, 8, seed=13)), ("grid", "grid"))


def conv(cin, cout, k=3, mode="circular", **more):
    return nn.Conv2d(cin, cout, k, padding=k // 2, padding_mode=mode, **more)


class MaskedConv(nn.Conv2d):
    """Sees what is above and to the left, as an autoregressive model does."""

    def forward(self, x):
        mask = torch.ones_like(self.weight)
        mask[:, :, 1, 2:] = 0
        mask[:, :, 2:] = 0
        padded = F.pad(x, (1, 1, 1, 1), mode=self.padding_mode if self.padding_mode != "zeros" else "constant")
        return F.conv2d(padded, self.weight * mask, self.bias)


class PixelCNN(nn.Module):
    def __init__(self, mode="circular"):
        super().__init__()
        self.layers = nn.ModuleList(
            MaskedConv(2 if k == 0 else 4, 4, 3, padding=1, padding_mode=mode if k == 1 else "circular")
            for k in range(3)
        )

    def forward(self, x):
        for layer in self.layers:
            x = F.silu(layer(x))
        return x


class Coupling(nn.Module):
    def __init__(self, mode="circular"):
        super().__init__()
        self.f = nn.Sequential(conv(2, 4), nn.Tanh(), conv(4, 2))
        self.g = nn.Sequential(conv(2, 4, mode=mode), nn.Tanh(), conv(4, 2))

    def forward(self, x):
        a, b = x.chunk(2, 1)
        a = a + self.f(b)
        return torch.cat([b + self.g(a), a], 1)


class Flow(nn.Module):
    def __init__(self, mode="circular"):
        super().__init__()
        self.steps = nn.ModuleList([Coupling(), Coupling(mode)])

    def forward(self, x):
        x = torch.cat([x, x.square()], 1)
        total = 0.0
        for step in self.steps:
            x = step(x)
            total = total + x.square().sum((1, 2, 3), keepdim=False)[:, None]
        return x, total


class Checkerboard(nn.Module):
    def __init__(self, board=False):
        super().__init__()
        self.net, self.board = conv(2, 2), board
        at = torch.arange(8)
        self.register_buffer("mask", ((at[:, None] + at) % 2).float() if board else torch.full((8, 8), 0.5))

    def forward(self, x):
        return x * self.mask + (1 - self.mask) * self.net(x * self.mask)


class Autoencoder(nn.Module):
    """A variational one: a picture, a mean and a spread."""

    def __init__(self, weights=False):
        super().__init__()
        self.encoder = nn.Sequential(conv(2, 4, stride=2), nn.ReLU(), conv(4, 6), nn.ReLU())
        self.mu, self.logvar = nn.Conv2d(6, 3, 1), nn.Conv2d(6, 3, 1)
        self.decoder = nn.Sequential(nn.Upsample(scale_factor=2), conv(3, 4), nn.ReLU(), nn.Conv2d(4, 2, 1))
        self.focus = nn.Parameter(torch.rand(4, 4)) if weights else None

    def forward(self, x):
        h = self.encoder(x)
        mu, logvar = self.mu(h), self.logvar(h)
        if self.focus is not None:
            logvar = logvar * self.focus
        return self.decoder(mu), mu, logvar


class Experts(nn.Module):
    def __init__(self, lines=False):
        super().__init__()
        self.enter, self.router = conv(2, 4), nn.Conv2d(4 + lines, 3, 1)
        self.experts = nn.ModuleList(conv(4, 4) for _ in range(3))
        self.lines = lines

    def forward(self, x):
        h = self.enter(x)
        seen = h
        if self.lines:
            seen = torch.cat([h, torch.linspace(-1, 1, 8, dtype=h.dtype).expand_as(h[:, :1])], 1)
        which = self.router(seen).argmax(1, keepdim=True)
        return sum(torch.where(which == k, e(h), torch.zeros_like(h)) for k, e in enumerate(self.experts))


class Parameters(nn.Module):
    """No layers at all: a list of weights and a loop."""

    def __init__(self, zero=-1):
        super().__init__()
        self.w = nn.ParameterList(nn.Parameter(torch.randn(4, 2 if k == 0 else 4, 3, 3) / 4) for k in range(3))
        self.zero = zero

    def forward(self, x):
        for k, w in enumerate(self.w):
            x = F.conv2d(F.pad(x, (1, 1, 1, 1), mode="constant" if k == self.zero else "circular"), w).relu()
        return x


class Siamese(nn.Module):
    def __init__(self, mode="circular"):
        super().__init__()
        self.trunk = nn.Sequential(conv(2, 4), nn.ReLU(), conv(4, 4))
        self.compare = conv(8, 1, mode=mode)

    def forward(self, before, after):
        a, b = self.trunk(before), self.trunk(after)
        return self.compare(torch.cat([a * b, (a - b).abs()], 1))


class RowReader(nn.Module):
    """Reads each row with an LSTM, from left to right; or takes its mean."""

    def __init__(self, read=False):
        super().__init__()
        self.enter = conv(2, 4)
        self.lstm = nn.LSTM(4, 4, batch_first=True) if read else None
        self.out = nn.Conv2d(4, 2, 1)

    def forward(self, x):
        h = self.enter(x)
        n, c, r, w = h.shape
        if self.lstm is not None:
            rows, _ = self.lstm(h.permute(0, 2, 3, 1).reshape(n * r, w, c))
            h = rows.reshape(n, r, w, c).permute(0, 3, 1, 2)
        else:
            h = h + h.mean(-1, keepdim=True)
        return self.out(h)


class WeightedPool(nn.Module):
    def __init__(self, uneven=0.0):
        super().__init__()
        self.weight = nn.Parameter(torch.full((8, 8), 1 / 64) * (1 + uneven * torch.randn(8, 8)))

    def forward(self, x):
        return torch.einsum("nchw,hw->nc", x, self.weight)


class Pooled(nn.Module):
    def __init__(self, uneven=0.0):
        super().__init__()
        self.body = nn.Sequential(conv(2, 6), nn.ReLU(), conv(6, 6), nn.ReLU())
        self.pool, self.fc = WeightedPool(uneven), nn.Linear(6, 3)

    def forward(self, x):
        return self.fc(self.pool(self.body(x)))


class TorusBias(nn.Module):
    """Attention over pixels with a bias by the way between two of them, round the edge or not."""

    def __init__(self, c, wrap=True, side=8):
        super().__init__()
        self.qkv, self.out = nn.Linear(c, 3 * c), nn.Linear(c, c)
        y, x = torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij")
        dy, dx = (v.flatten()[:, None] - v.flatten() for v in (y, x))
        size = 2 * side
        self.register_buffer("index", (dy % side) * side + dx % side if wrap else (dy + side) * size + dx + side)
        self.table = nn.Parameter(torch.randn(size * size) / 2)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        score = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5 + self.table[self.index]
        return x + self.out(score.softmax(-1) @ v)


class PixelTransformer(nn.Module):
    def __init__(self, wrap=True):
        super().__init__()
        self.embed = nn.Conv2d(2, 6, 1)
        self.blocks = nn.ModuleList([TorusBias(6), TorusBias(6, wrap)])
        self.norm, self.head = nn.LayerNorm(6), nn.Linear(6, 2)

    def forward(self, x):
        n, _, h, w = x.shape
        t = self.embed(x).flatten(2).transpose(1, 2)
        for b in self.blocks:
            t = b(self.norm(t))
        return self.head(t).transpose(1, 2).view(n, 2, h, w)


class Nested(nn.Module):
    def __init__(self, fault=""):
        super().__init__()

        def block(name):
            mode = "replicate" if name == fault else "circular"
            inner = nn.Sequential(nn.Softplus(), nn.Sequential(nn.Conv2d(4, 4, 1)))
            return nn.ModuleList([nn.Sequential(conv(4, 4, mode=mode), inner)])

        self.enter = nn.Conv2d(2, 4, 1)
        self.tree = nn.ModuleDict({
            "left": nn.ModuleDict({"a": block("la"), "b": block("lb")}),
            "right": nn.ModuleDict({"a": block("ra"), "b": block("rb")}),
        })  # fmt: skip

    def forward(self, x):
        x = self.enter(x)
        found = []
        for side in self.tree.values():
            y = x
            for part in side.values():
                for layer in part:
                    y = layer(y)
            found.append(y)
        return torch.stack(found).logsumexp(0)


class Routing(nn.Module):
    """Capsules: each place votes, agreement is found in three rounds."""

    def __init__(self, prior=False):
        super().__init__()
        self.vote = nn.Conv2d(4, 6, 1)
        self.prior = nn.Parameter(torch.randn(1, 2, 1, 64)) if prior else None

    def forward(self, x):
        votes = self.vote(x).flatten(2).view(len(x), 2, 3, -1)
        logits = torch.zeros_like(votes[:, :, :1])
        if self.prior is not None:
            logits = logits + self.prior
        for _ in range(3):
            s = (logits.softmax(-1) * votes).sum(-1, keepdim=True)
            logits = logits + (s * votes).sum(2, keepdim=True)
        return s[..., 0].norm(dim=-1)


class Capsules(nn.Module):
    def __init__(self, prior=False):
        super().__init__()
        self.features, self.route = nn.Sequential(conv(2, 4), nn.ReLU()), Routing(prior)

    def forward(self, x):
        return self.route(self.features(x))


class Memory(nn.Module):
    """Writes to a buffer of its own in every call, which changes nothing; or adds the noise map that lies there."""

    def __init__(self, noise=False):
        super().__init__()
        self.a, self.b, self.use = conv(2, 4), conv(4, 2), noise
        self.register_buffer("noise", torch.randn(1, 1, 8, 8))
        self.register_buffer("seen", torch.zeros(()))
        self.strength = nn.Parameter(torch.tensor(0.01))

    def forward(self, x):
        self.seen += len(x)
        h = self.a(x)
        if self.use:
            h = h + self.strength * self.noise
        return self.b(F.leaky_relu(h, 0.2))


def pair(name, make, faulty, culprit, given=pictures, out=("grid",), group="translation", **more):
    sound = Case(name, make, given, group, out, **more)
    return [sound, sound.broken("a fault", faulty, *culprit)]


CASES = (
    *pair("an autoregressive mask", PixelCNN, partial(PixelCNN, "zeros"), ["layers.1"]),
    *pair("a reversible flow", Flow, partial(Flow, "zeros"), ["steps.1.g.0"], out=("grid", "fixed")),
    *pair("a mask by place", Checkerboard, partial(Checkerboard, True), [], hooks=False),
    *pair("a variational autoencoder", Autoencoder, partial(Autoencoder, True), [], partial(pictures, step=2),
          ("grid", "grid@2", "grid@2"), hooks=False),
    *pair("experts for each pixel", Experts, partial(Experts, True), [], hooks=False),
    *pair("a list of weights", Parameters, partial(Parameters, 1), [], hooks=False),
    *pair("two pictures are compared", Siamese, partial(Siamese, "zeros"), ["compare"], two_pictures),
    *pair("rows that are read", RowReader, partial(RowReader, True), [], hooks=False),
    *pair("a weighted mean", Pooled, partial(Pooled, 0.01), ["pool"], out=("fixed",)),
    *pair("attention round the edge", PixelTransformer, partial(PixelTransformer, False), ["blocks.1"], hooks=False),
    *pair("a tree of containers", Nested, partial(Nested, "rb"), ["tree.right.b.0.0"]),
    *pair("capsules", Capsules, partial(Capsules, True), ["route"], out=("fixed",), hooks=False),
    *pair("a faint map of noise", Memory, partial(Memory, True), [], hooks=False),
)  # fmt: skip
