"""Of every kind a few more: branches, pyramids, averages over a group, products of pairs, clouds by distance."""

from __future__ import annotations

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from tests.foreign.case import Given, drawn, pair
from tests.foreign.networks.on_graphs.graphs import edges

P, T = "permutation", "translation"


def pictures(high=13, wide=17, channels=3, step=1):
    return Given((drawn(2, channels, high, wide, seed=51),), ("grid",), step=step)


def dna(steps=22):
    letters = F.one_hot(drawn(steps, 4, seed=52).argmax(1), 4).float()
    return Given((letters.t()[None],), ("strands@2",), layout="NCT")


def dense(nodes=8, channels=3):
    a = (drawn(nodes, nodes, seed=53) > 0.1).float()
    return Given((drawn(nodes, channels, seed=54), ((a + a.t()) > 0).float().fill_diagonal_(0)), ("nodes", "pairs"))


def masked(members=9, channels=6):
    there = torch.tensor([[1.0, 0, 1, 1, 1, 1, 0, 1, 1]])
    return Given((drawn(1, members, channels, seed=55), there), ("nodes@1", "nodes@1"))


def atoms():
    return Given(
        (drawn(9, 3, seed=56), drawn(9, 4, seed=57)), ("places@1", "fixed"), form="mapping", names=("pos", "x")
    )


def data():
    return Given((drawn(10, 5, seed=58), edges(10, 27, seed=6)), ("nodes", "index"), form="data",
                 names=("x", "edge_index"))  # fmt: skip


def volumes(side=6, step=2):
    return Given((drawn(1, 2, side, side, side, seed=59),), ("volume",), step=step)


def conv(cin, cout, k=3, mode="circular", **more):
    return nn.Conv2d(cin, cout, k, padding=k // 2, padding_mode=mode, **more)


class Around(nn.Module):
    """The largest of nine, round the edge or not."""

    def __init__(self, wrap=True):
        super().__init__()
        self.wrap = wrap

    def forward(self, x):
        if self.wrap:
            return F.max_pool2d(F.pad(x, (1, 1, 1, 1), mode="circular"), 3, 1)
        return F.max_pool2d(x, 3, 1, 1)


class Inception(nn.Module):
    def __init__(self, wrap=True):
        super().__init__()
        self.b1, self.b3 = nn.Conv2d(3, 4, 1), nn.Sequential(nn.Conv2d(3, 3, 1), nn.ReLU6(), conv(3, 4))
        self.b5 = nn.Sequential(conv(3, 4, 5, groups=1), nn.CELU())
        self.pool = nn.Sequential(Around(wrap), nn.Conv2d(3, 4, 1))
        self.mix = nn.Sequential(nn.BatchNorm2d(16), conv(16, 5))

    def forward(self, x):
        y = torch.cat([branch(x) for branch in (self.b1, self.b3, self.b5, self.pool)], 1)
        return self.mix(y).sigmoid()


class Spatial(nn.Module):
    def __init__(self, mode="circular"):
        super().__init__()
        self.conv = conv(2, 1, 7, mode)

    def forward(self, x):
        seen = torch.stack([x.mean(1), x.amax(1)], 1)
        return x * self.conv(seen).sigmoid()


class Attentive(nn.Module):
    """Attention to channels, then to places."""

    def __init__(self, mode="circular"):
        super().__init__()
        self.enter, self.leave = conv(3, 8), nn.Conv2d(8, 2, 1)
        self.channel = nn.Sequential(nn.Linear(8, 3), nn.ReLU(), nn.Linear(3, 8))
        self.spatial = Spatial(mode)

    def forward(self, x):
        h = torch.relu(self.enter(x))
        w = self.channel(h.mean((-1, -2))) + self.channel(h.flatten(2).amax(-1))
        return self.leave(self.spatial(h * w.sigmoid()[..., None, None])).mean((2, 3))


class Averaging(nn.Module):
    """Any network, averaged over turns and mirrors of what it is given; `few` forgets one of them."""

    def __init__(self, few=False):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 5, 3), nn.ReLU(), nn.Flatten(), nn.LazyLinear(4))
        self.few = few
        self.net(torch.zeros(1, 3, 9, 9))

    def forward(self, x):
        seen = [v.rot90(k, (2, 3)) for v in (x, x.flip(3)) for k in range(4)]
        return torch.stack([self.net(v) for v in seen[: 7 if self.few else 8]]).mean(0)


class EitherStrand(nn.Module):
    def __init__(self, straight=False):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(4, 6, 5), nn.ReLU(), nn.Conv1d(6, 4, 3), nn.AdaptiveAvgPool1d(1), nn.Flatten()
        )
        self.head, self.straight = nn.Linear(4, 2), straight

    def forward(self, x):
        other = x.flip(1) if self.straight else x.flip(1, 2)
        return self.head((self.net(x) + self.net(other)).squeeze(-1) / 2)


class Pooling(nn.Module):
    """A learned question to all members; `asked` is added by the first of them."""

    def __init__(self, c, asked=False):
        super().__init__()
        self.query, self.asked = nn.Parameter(torch.randn(1, 1, c)), asked
        self.attn = nn.MultiheadAttention(c, 2, batch_first=True)

    def forward(self, h, mask):
        q = self.query.expand(len(h), -1, -1)
        if self.asked:
            q = q + 0.1 * h[:, :1]
        return self.attn(q, h, h, key_padding_mask=mask < 0.5, need_weights=False)[0][:, 0]


class Bag(nn.Module):
    def __init__(self, asked=False):
        super().__init__()
        self.phi, self.norm = nn.Linear(6, 8), nn.LayerNorm(8)
        self.pool, self.rho = Pooling(8, asked), nn.Sequential(nn.Linear(8, 5), nn.Hardswish(), nn.Linear(5, 1))

    def forward(self, x, mask):
        return self.rho(self.pool(self.norm(F.gelu(self.phi(x))), mask)).squeeze(-1)


class Product(nn.Module):
    """A matrix product of two maps of pairs; `lower` forgets a half of one."""

    def __init__(self, cin, cout, lower=False):
        super().__init__()
        self.a, self.b, self.skip = (nn.Conv2d(cin, cout, 1) for _ in range(3))
        self.lower = lower

    def forward(self, t):
        a, b = torch.tanh(self.a(t)), torch.tanh(self.b(t))
        return (a.tril() if self.lower else a) @ b / t.shape[-1] + self.skip(t)


class Powerful(nn.Module):
    def __init__(self, lower=False):
        super().__init__()
        self.one, self.two, self.out = Product(4, 5), Product(5, 5, lower), nn.Linear(10, 2)

    def forward(self, x, adj):
        t = torch.cat([adj[None], torch.diag_embed(x.t())])[None]
        t = self.two(torch.relu(self.one(t)))
        own = t.diagonal(dim1=2, dim2=3)
        return self.out(torch.cat([own.sum(-1), t.sum((2, 3)) - own.sum(-1)], 1))


class ByDistance(nn.Module):
    """Attention with a bias by distance; `tilted` also by who stands higher."""

    def __init__(self, c, tilted=0.0):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(c, c) for _ in range(3))
        self.far, self.tilted = nn.Sequential(nn.Linear(1, 6), nn.Softplus(), nn.Linear(6, 1)), tilted

    def forward(self, h, pos):
        d = (pos[:, None] - pos).square().sum(-1, keepdim=True)
        score = self.q(h) @ self.k(h).t() / h.shape[1] ** 0.5 - self.far(d).squeeze(-1)
        score = score + self.tilted * (pos[:, None, 2] - pos[:, 2])
        return h + score.softmax(-1) @ self.v(h)


class Molecule(nn.Module):
    def __init__(self, tilted=0.0):
        super().__init__()
        self.enter, self.one, self.two = nn.Linear(4, 6), ByDistance(6), ByDistance(6, tilted)
        self.out = nn.Linear(6, 1)

    def forward(self, pos, x):
        h = torch.relu(self.enter(x))
        return self.out(self.two(self.one(h, pos), pos)).sum(0)


class Ranked(nn.Module):
    """A gate for each node; `late` opens it wider for those at the end of the list."""

    def __init__(self, c, late=False):
        super().__init__()
        self.fc, self.late = nn.Linear(c, 1), late

    def forward(self, h):
        s = self.fc(h)
        if self.late:
            s = s + torch.linspace(0, 0.1, len(h), dtype=h.dtype)[:, None]
        return s.softmax(0)


class Readout(nn.Module):
    def __init__(self, late=False):
        super().__init__()
        self.lin, self.gate, self.out = nn.Linear(5, 6), Ranked(6, late), nn.Linear(6, 3)

    def forward(self, data):
        h, (i, j) = self.lin(data.x), data.edge_index
        deg = torch.ones(len(h), dtype=h.dtype).index_add(0, j, torch.ones(len(j), dtype=h.dtype))
        h = torch.relu(h + torch.zeros_like(h).index_add(0, j, h[i] / (deg[i] * deg[j]).sqrt()[:, None]))
        return self.out((self.gate(h) * h).sum(0, keepdim=True))


class Larger(nn.Module):
    def __init__(self, corners=False):
        super().__init__()
        self.corners = corners

    def forward(self, x):
        if self.corners:
            return F.interpolate(x, scale_factor=2, mode="trilinear", align_corners=True)
        return x.repeat_interleave(2, 2).repeat_interleave(2, 3).repeat_interleave(2, 4)


class Voxels(nn.Module):
    def __init__(self, corners=False):
        super().__init__()
        ring = {"padding": 1, "padding_mode": "circular"}
        self.a, self.b, self.c = nn.Conv3d(2, 4, 3, **ring), nn.Conv3d(4, 6, 3, **ring), nn.Conv3d(10, 2, 3, **ring)
        self.up = Larger(corners)

    def forward(self, x):
        a = F.elu(self.a(x))
        return self.c(torch.cat([self.up(F.elu(self.b(F.avg_pool3d(a, 2)))), a], 1))


CASES = (
    *pair("branches", Inception, partial(Inception, False), ["pool.0"], pictures, ("grid",), T),
    *pair("attention to places", Attentive, partial(Attentive, "reflect"), ["spatial.conv"], pictures, ("fixed",), T,
          hooks=False),
    *pair("an average over a group", Averaging, partial(Averaging, True), [], partial(pictures, 9, 9), ("fixed",),
          "D4"),
    *pair("an average of strands", EitherStrand, partial(EitherStrand, True), [], dna, ("fixed",),
          "reverse-complement"),
    *pair("a question to members", Bag, partial(Bag, True), ["pool"], masked, ("fixed",), P),
    *pair("products of pairs", Powerful, partial(Powerful, True), ["two"], dense, ("fixed",), P, hooks=False),
    *pair("attention by distance", Molecule, partial(Molecule, 0.05), ["two"], atoms, ("fixed",), "E3", hooks=False),
    *pair("gates of nodes", Readout, partial(Readout, True), ["gate"], data, ("fixed",), P, hooks=False),
    *pair("up by two in space", Voxels, partial(Voxels, True), ["up"], volumes, ("volume",), "Z3", hooks=False),
    *pair("attention to places, padded", Attentive, partial(Attentive, "zeros"), ["spatial.conv"],
          partial(pictures, 9, 11), ("fixed",), T, hooks=False),
)  # fmt: skip
