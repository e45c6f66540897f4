"""Unusual forms of calls and answers, in many hands: lists, keywords, closures, functions mapped over channels."""

from __future__ import annotations

import functools
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from tests.foreign.case import Case, Given, drawn
from tests.foreign.networks.on_graphs.graphs import graph, scatter


def pictures(side=8, channels=2, step=1):
    return Given((drawn(2, channels, side, side, seed=51),), ("grid",), step=step)


def points(count=10, channels=3):
    return Given((drawn(count, channels, seed=52),), ("nodes",))


def conv(cin, cout, k=3, mode="circular", **more):
    return nn.Conv2d(cin, cout, k, padding=k // 2, padding_mode=mode, **more)


class Keywords(nn.Module):
    """Layers are called with keywords, and pass on a dict."""

    class Inner(nn.Module):
        def __init__(self, mode):
            super().__init__()
            self.conv = conv(4, 4, mode=mode)

        def forward(self, *, features, scale=1.0):
            return {"features": self.conv(features) * scale, "scale": scale / 2}

    def __init__(self, mode="circular"):
        super().__init__()
        self.enter = conv(2, 4)
        self.one, self.two = self.Inner("circular"), self.Inner(mode)

    def forward(self, x):
        state = {"features": self.enter(x).relu(), "scale": 2.0}
        state = self.one(**state)
        return self.two(**state)["features"]


class Lists(nn.Module):
    """Each layer takes and returns a list of maps."""

    class Fuse(nn.Module):
        def __init__(self, mode):
            super().__init__()
            self.up, self.down = conv(3, 3, mode=mode), conv(3, 3, stride=2)

        def forward(self, maps):
            fine, coarse = maps
            return [fine + F.interpolate(coarse, scale_factor=2), coarse + self.down(self.up(fine))]

    def __init__(self, mode="circular"):
        super().__init__()
        self.stem, self.halved = conv(2, 3), conv(3, 3, stride=2)
        self.stages = nn.ModuleList([self.Fuse("circular"), self.Fuse(mode)])

    def forward(self, x):
        x = self.stem(x)
        maps = [x, self.halved(x)]
        for stage in self.stages:
            maps = stage(maps)
        return tuple(maps)


class Closures(nn.Module):
    """Layers behind functions: a partial, a lambda, functions in a list."""

    def __init__(self, slope=0.0):
        super().__init__()
        self.a, self.b = conv(2, 4), conv(4, 2)

        def tilt(x, slope):
            return x + slope * torch.arange(x.shape[-1], dtype=x.dtype)

        self.steps = [self.a, F.gelu, functools.partial(tilt, slope=slope), lambda x: self.b(x)]

    def forward(self, x):
        return functools.reduce(lambda value, step: step(value), self.steps, x)


class Vmapped(nn.Module):
    """The same function for each channel by vmap; one channel is filtered with zeros round it."""

    def __init__(self, border=False):
        super().__init__()
        self.taps, self.border, self.mix = nn.Parameter(torch.randn(2, 3)), border, nn.Conv2d(2, 2, 1)

    def forward(self, x):
        def one(channel, taps):  # (n, h, w)
            left = channel.roll(1, -1)
            if self.border:
                left = left * (torch.arange(channel.shape[-1]) > 0)
            return taps[0] * left + taps[1] * channel + taps[2] * channel.roll(-1, -1)

        return self.mix(torch.vmap(one, in_dims=(1, 0), out_dims=1)(x, self.taps))


class Einsum(nn.Module):
    """Channels last from the first line to the last, as other libraries have them."""

    class Mix(nn.Module):
        def __init__(self, c, window=False):
            super().__init__()
            self.norm, self.up, self.down = nn.LayerNorm(c), nn.Linear(c, 2 * c), nn.Linear(2 * c, c)
            self.window = nn.Parameter(torch.rand(8, 1, 1)) if window else None

        def forward(self, x):  # (n, h, w, c)
            y = self.down(F.silu(self.up(self.norm(x))))
            y = y + x.roll((1, 1), (1, 2))
            return x + (y if self.window is None else y * self.window)

    def __init__(self, window=False):
        super().__init__()
        self.embed = nn.Linear(2, 5)
        self.blocks = nn.Sequential(self.Mix(5), self.Mix(5, window))
        self.head = nn.Linear(5, 2)

    def forward(self, x):
        x = torch.einsum("nchw->nhwc", x)
        return torch.einsum("nhwc->nchw", self.head(self.blocks(self.embed(x))))


class Conditioned(nn.Module):
    """Scales and offsets from the picture as a whole, as FiLM and style networks have them."""

    def __init__(self, corner=False):
        super().__init__()
        self.body = nn.ModuleList(conv(2 if k == 0 else 4, 4) for k in range(3))
        self.style = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 24))
        self.corner = corner

    def forward(self, x):
        seen = x[:, :, 0, 0] if self.corner else x.amax((2, 3))
        for layer, film in zip(self.body, self.style(seen).chunk(3, 1)):
            scale, offset = film[..., None, None].chunk(2, 1)
            x = torch.relu(layer(x) * (1 + scale) + offset)
        return x


class Cascade(nn.Module):
    """Answers of every depth, early exits, and a switch that the picture turns."""

    def __init__(self, mode="circular"):
        super().__init__()
        self.stages = nn.ModuleList(conv(2 if k == 0 else 4, 4, mode=mode if k == 2 else "circular") for k in range(3))
        self.exits = nn.ModuleList(nn.Linear(4, 2) for _ in range(3))

    def forward(self, x):
        found = []
        for stage, leave in zip(self.stages, self.exits):
            x = F.elu(stage(x))
            found.append(leave(x.mean((2, 3))))
            if found[-1].abs().max() > 1e3:
                break
        return found


class Renormalised(nn.Module):
    """Weights that are made in the forward: unit length, centred, multiplied by a gain."""

    class Layer(nn.Module):
        def __init__(self, cin, cout, mode):
            super().__init__()
            self.v, self.g, self.mode = nn.Parameter(torch.randn(cout, cin, 3, 3)), nn.Parameter(torch.ones(cout)), mode

        def forward(self, x):
            w = self.v - self.v.mean((1, 2, 3), keepdim=True)
            w = self.g[:, None, None, None] * F.normalize(w.flatten(1)).view_as(w)
            return F.conv2d(F.pad(x, (1, 1, 1, 1), mode=self.mode), w)

    def __init__(self, mode="circular"):
        super().__init__()
        self.net = nn.Sequential(self.Layer(2, 4, "circular"), nn.Softplus(), self.Layer(4, 4, mode), nn.Softplus(),
                                 self.Layer(4, 1, "circular"))  # fmt: skip

    def forward(self, x):
        return self.net(x)


class Ensemble(nn.Module):
    """Members in a dict, copies of each other but for one; their mean and how far they differ."""

    def __init__(self, odd=False):
        super().__init__()
        self.members = nn.ModuleDict({
            name: nn.Sequential(conv(2, 3, mode="replicate" if odd and name == "c" else "circular"), nn.SELU(),
                                conv(3, 2))
            for name in "abcd"
        })  # fmt: skip

    def forward(self, x):
        found = torch.stack([m(x) for m in self.members.values()])
        return {"mean": found.mean(0), "spread": found.var(0)}


# points and graphs ------------------------------------------------------------------------------------------


class Batched(nn.Module):
    """Points as a batch of one, channels first, as PointNet has them; a fault normalises along the wrong axis."""

    def __init__(self, running=False):
        super().__init__()
        self.c1, self.c2, self.c3 = nn.Conv1d(3, 8, 1), nn.Conv1d(8, 8, 1), nn.Conv1d(16, 2, 1)
        self.running = running

    def forward(self, x):
        h = F.relu(self.c1(x.t()[None]))
        h = self.c2(h)
        if self.running:
            h = h - h.cummax(-1).values * 0.1
        whole = h.amax(-1, keepdim=True).expand_as(h)
        return self.c3(torch.cat([h, whole], 1))[0].t()


class Typed(nn.Module):
    """Edges of two kinds, told by their ends; a fault tells them by their place in the list."""

    def __init__(self, halves=False):
        super().__init__()
        self.kinds = nn.ModuleDict({"up": nn.Linear(3, 6), "down": nn.Linear(3, 6)})
        self.own, self.out, self.halves = nn.Linear(3, 6), nn.Linear(6, 2), halves

    def forward(self, x, edge_index):
        src, dst = edge_index
        up = x[src, 0] < x[dst, 0]
        if self.halves:
            up = torch.arange(len(src)) < len(src) // 2
        m = torch.where(up[:, None], self.kinds["up"](x[src]), self.kinds["down"](x[src]))
        return self.out(F.relu(self.own(x) + scatter(m, dst, len(x))))


class Residue(nn.Module):
    """Messages along edges until nothing changes; a fault starts them from the number of a node."""

    def __init__(self, start=0.0):
        super().__init__()
        self.w, self.u, self.start = nn.Linear(4, 4), nn.Linear(3, 4), start
        with torch.no_grad():
            self.w.weight.mul_(0.2)

    def forward(self, x, edge_index):
        src, dst = edge_index
        z = self.start * torch.arange(len(x), dtype=x.dtype)[:, None].expand(-1, 4)
        for _ in range(3):
            z = torch.tanh(self.w(scatter(z[src], dst, len(x), "mean")) + self.u(x))
        return z


class Spectral(nn.Module):
    """Filters of the Laplacian by its exponential; a fault breaks ties of degrees by the number of a node."""

    def __init__(self, ties=0.0):
        super().__init__()
        self.t, self.lin, self.out, self.ties = nn.Parameter(torch.tensor(0.4)), nn.Linear(3, 6), nn.Linear(6, 2), ties

    def forward(self, x, edge_index):
        n = len(x)
        a = x.new_zeros(n, n).index_put((edge_index[0], edge_index[1]), x.new_ones(edge_index.shape[1]), True)
        a = a + a.t()
        degree = a.sum(1) + self.ties * torch.arange(n, dtype=x.dtype)
        return self.out(torch.linalg.matrix_exp(-self.t.abs() * (torch.diag(degree) - a)) @ self.lin(x))


class Assigned(nn.Module):
    """Nodes are coloured by clustering in the forward; a fault starts the centres at the first nodes."""

    def __init__(self, first=False):
        super().__init__()
        self.embed, self.centres, self.first = nn.Linear(3, 4), nn.Parameter(torch.randn(3, 4)), first
        self.read = nn.Linear(4, 2)

    def forward(self, x):
        h = self.embed(x)
        c = h[:3] if self.first else self.centres
        for _ in range(4):
            w = (-torch.cdist(h, c)).softmax(1)
            c = (w.t() @ h) / w.sum(0)[:, None]
        return self.read(w @ c), c.norm(dim=1).sort().values


def pair(name, make, faulty, culprit, given=pictures, out=("grid",), group="translation", **more):
    sound = Case(name, make, given, group, out, **more)
    return [sound, sound.broken("a fault", faulty, *culprit)]


TWO = partial(pictures, step=2)
NODES = {"group": "permutation"}
CASES = (
    *pair("called by keywords", Keywords, partial(Keywords, "zeros"), ["two.conv"]),
    *pair("lists of maps", Lists, partial(Lists, "zeros"), ["stages.1.up"], TWO, ("grid", "grid@2")),
    *pair("functions in a list", Closures, partial(Closures, 0.01), [], hooks=False),
    *pair("channels by vmap", Vmapped, partial(Vmapped, True), [], hooks=False),
    *pair("channels last", Einsum, partial(Einsum, True), ["blocks.1"], hooks=False),
    *pair("styles", Conditioned, partial(Conditioned, True), [], hooks=False),
    *pair("answers of every depth", Cascade, partial(Cascade, "zeros"), ["stages.2"], out=("fixed",) * 3),
    *pair("weights made in the forward", Renormalised, partial(Renormalised, "constant"), ["net.2"]),
    *pair("an ensemble", Ensemble, partial(Ensemble, True), ["members.c.0"], out=("grid", "grid")),
    *pair("a batch of points", Batched, partial(Batched, True), [], points, ("nodes",), hooks=False, **NODES),
    *pair("edges of two kinds", Typed, partial(Typed, True), [], graph, ("nodes",), hooks=False, **NODES),
    *pair("until nothing changes", Residue, partial(Residue, 0.05), [], graph, ("nodes",), hooks=False, **NODES),
    *pair("the heat of a graph", Spectral, partial(Spectral, 1e-3), [], graph, ("nodes",), hooks=False, **NODES),
    *pair("clusters", Assigned, partial(Assigned, True), [], points, ("nodes", "fixed"), hooks=False, **NODES),
)  # fmt: skip
