"""Networks on sets and point clouds: sums and maxima, attention, neighbours, and what minds the order."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from tests.foreign.case import Case, Given, drawn


def points(count=10, channels=3):
    return Given((drawn(count, channels),), ("nodes",))


def batched(count=10, channels=3):
    return Given((drawn(1, count, channels),), ("nodes@1",))


class Exchangeable(nn.Module):
    """A x + B (mean or maximum over the set)."""

    def __init__(self, cin, cout, pool="mean", fault=""):
        super().__init__()
        self.each, self.all = nn.Linear(cin, cout), nn.Linear(cin, cout, bias=False)
        self.pool, self.fault = pool, fault

    def forward(self, x):
        if self.fault == "weights":
            pooled = (x * torch.linspace(0, 2, len(x), dtype=x.dtype)[:, None]).mean(0)
        elif self.fault == "half":
            pooled = x[: len(x) // 2].mean(0)
        elif self.fault == "last":
            pooled = x[-1]
        else:
            pooled = x.mean(0) if self.pool == "mean" else x.amax(0)
        y = self.each(x) + self.all(pooled)
        if self.fault == "sums":
            y = y + 0.1 * y.cumsum(0)
        elif self.fault == "one":
            y = torch.cat([y[:-1], y[-1:] * 1.01])
        return y


FAULTS = ("weights", "half", "last", "sums", "one")


class DeepSet(nn.Module):
    def __init__(self, pool="mean", fault="", at=1, act=nn.ReLU, read="each", c=6, depth=3):
        super().__init__()
        self.phi = nn.ModuleList(Exchangeable(c if k else 3, c, pool, fault if k == at else "") for k in range(depth))
        self.act = act()
        self.rho = nn.Sequential(nn.Linear(c, 8), act(), nn.Linear(8, 2))
        self.read = read

    def forward(self, x):
        for phi in self.phi:
            x = self.act(phi(x))
        pooled = {
            "each": x, "sum": x.sum(0), "mean": x.mean(0, keepdim=True), "max": x.amax(0), "first": x[0],
            "sorted": x.sort(0).values[:2].mean(0), "median": x.median(0).values, "std": x.std(0),
            "top": x[x.sum(1).topk(3).indices].mean(0), "lse": x.logsumexp(0), "product": x.tanh().prod(0),
            "third": x[::3].sum(0), "differences": (x[1:] - x[:-1]).abs().mean(0),
        }[self.read]  # fmt: skip
        return self.rho(pooled)


def deep_cases():
    found = []
    for k, fault in enumerate(FAULTS):
        act = (nn.ReLU, nn.Mish, nn.PReLU, nn.Softsign, nn.Hardswish)[k]
        pool = ("mean", "max")[k % 2]
        sound = Case(
            f"deep sets, {pool}, {act.__name__}", partial(DeepSet, pool, act=act), points, "permutation", ("nodes",)
        )
        found.append(sound)
        for at in (k % 3, (k + 2) % 3):
            found.append(sound.broken(f"{fault} in {at}", partial(DeepSet, pool, fault, at, act), f"phi.{at}"))
    for read in ("sum", "mean", "max", "sorted", "median", "std", "top", "lse", "product"):
        found.append(Case(f"a set read by {read}", partial(DeepSet, read=read), points, "permutation", ("fixed",)))
    total = next(c for c in found if c.name == "a set read by sum")
    for read in ("first", "third", "differences"):
        found.append(total.broken(read, partial(DeepSet, read=read)))
    square = Case("ten channels of ten points", partial(DeepSet, c=10), points, "permutation", ("nodes",))
    half = partial(DeepSet, fault="half", c=10)
    return [*found, square, square.broken("half in 1", half, "phi.1", hooks=False)]


class PointNet(nn.Module):
    """Takes (1, channels, points) inside, as most of its implementations do."""

    def __init__(self, fault="", read="max"):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv1d(3, 8, 1), nn.BatchNorm1d(8)
        self.conv2 = nn.Conv1d(8, 8, 3, padding=1) if fault == "wide" else nn.Conv1d(8, 8, 1)
        self.stn = nn.Linear(8, 9)
        self.fc = nn.Linear(8, 4)
        self.fault, self.read = fault, read

    def forward(self, x):
        x = x.t()[None]
        turn = self.stn(F.relu(self.conv1(x)).amax(-1)).view(1, 3, 3) + torch.eye(3, dtype=x.dtype)
        x = turn @ x
        x = self.conv2(F.relu(self.bn1(self.conv1(x))))
        if self.fault == "places":
            x = x + 0.1 * torch.arange(x.shape[-1], dtype=x.dtype)
        if self.read == "max":
            return self.fc(x.amax(-1))
        return self.fc(x[0].t())


class Neighbours(nn.Module):
    """Listens to the three nearest points."""

    def __init__(self, fault="", at=1):
        super().__init__()
        self.mlps = nn.ModuleList((nn.Linear(6, 6), nn.Linear(12, 6)))
        self.out = nn.Linear(6, 2)
        self.fault, self.at = fault, at

    def forward(self, x):
        for k, mlp in enumerate(self.mlps):
            d = torch.cdist(x, x)
            if self.fault == "earlier" and k == self.at:
                d = d + 100.0 * torch.ones_like(d).triu(1)
            near = d.topk(4, largest=False).indices[:, 1:]
            others = x[near]
            here = x[:, None].expand_as(others)
            h = mlp(torch.cat([here, others - here], -1))
            if self.fault == "first" and k == self.at:
                h = h[len(x) // 2]
                x = h.amax(0).expand(len(x), -1) + mlp(torch.cat([x, x], 1))
            else:
                x = F.leaky_relu(h.amax(1))
        return self.out(x)


class Induced(nn.Module):
    """An induced set attention block."""

    def __init__(self, c, m=3):
        super().__init__()
        self.seeds = nn.Parameter(torch.randn(1, m, c))
        self.one = nn.MultiheadAttention(c, 2, batch_first=True)
        self.two = nn.MultiheadAttention(c, 2, batch_first=True)

    def forward(self, x):
        h = self.one(self.seeds, x, x)[0]
        return x + self.two(x, h, h)[0]


class SetTransformer(nn.Module):
    def __init__(self, read="points", fault="", at=0):
        super().__init__()
        self.enter = nn.Linear(3, 8)
        self.isab = nn.ModuleList((Induced(8), Induced(8)))
        self.seed = nn.Parameter(torch.randn(1, 1, 8))
        self.pma = nn.MultiheadAttention(8, 2, batch_first=True)
        self.out = nn.Linear(8, 2)
        self.read = read
        self.order = nn.LSTM(8, 8, batch_first=True) if fault == "lstm" else None
        self.at, self.fault = at, fault

    def forward(self, x):
        x = self.enter(x)[None]
        for k, block in enumerate(self.isab):
            x = block(x)
            if k == self.at and self.order is not None:
                x = self.order(x)[0]
            elif k == self.at and self.fault == "roll":
                x = x + x.roll(1, 1)
        if self.read == "points":
            return self.out(x[0])
        return self.out(self.pma(self.seed, x, x)[0][:, 0])


class Janossy(nn.Module):
    """A recurrent network over the points in the order of a score of theirs."""

    def __init__(self, sort=True):
        super().__init__()
        self.score, self.rnn, self.out = nn.Linear(3, 1), nn.GRU(3, 6), nn.Linear(6, 2)
        self.sort = sort

    def forward(self, x):
        if self.sort:
            x = x[self.score(x)[:, 0].argsort()]
        return self.out(self.rnn(x)[1])


class Kernel(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        self.length = nn.Parameter(torch.tensor(0.7))
        self.v = nn.Linear(3, 4)
        self.fault = fault

    def forward(self, x):
        k = torch.exp(-torch.cdist(x, x).square() * self.length)
        if self.fault:
            k = k.tril()
        return torch.linalg.solve(k + torch.eye(len(x), dtype=x.dtype), self.v(x))


def other_cases():
    net = Case("PointNet", PointNet, points, "permutation", ("fixed",))
    segment = Case("PointNet, each point", partial(PointNet, read="each"), points, "permutation", ("nodes",))
    near = Case("three nearest", Neighbours, points, "permutation", ("nodes",))
    blocks = Case("set transformer, points", SetTransformer, points, "permutation", ("nodes",))
    pooled = Case("set transformer, pooled", partial(SetTransformer, "pooled"), points, "permutation", ("fixed",))
    order = Case("read in the order of a score", Janossy, points, "permutation", ("fixed",))
    kernel = Case("kernel regression", Kernel, points, "permutation", ("nodes",))
    axis = Case("a batch axis", lambda: nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), partial(batched, 10, 4),
                "permutation", ("nodes@1",), refusable=True)  # fmt: skip
    return [
        net, net.broken("a window of three", partial(PointNet, "wide"), "conv2"),
        net.broken("places", partial(PointNet, "places"), hooks=False),
        segment, segment.broken("a window of three", partial(PointNet, "wide", "each"), "conv2"),
        near, near.broken("earlier points in 1", partial(Neighbours, "earlier")),
        near.broken("one point's in 0", partial(Neighbours, "first", 0)),
        blocks, blocks.broken("LSTM after 0", partial(SetTransformer, fault="lstm"), "order"),
        blocks.broken("LSTM after 1", partial(SetTransformer, fault="lstm", at=1), "order"),
        blocks.broken("the one before", partial(SetTransformer, fault="roll")),
        pooled, pooled.broken("LSTM after 1", partial(SetTransformer, "pooled", "lstm", 1), "order"),
        order, order.broken("as it comes", partial(Janossy, False), "rnn"),
        kernel, kernel.broken("lower triangle", partial(Kernel, True)),
        axis, replace(axis, name="a batch axis, an encoder", make=partial(
            lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 2))),
    ]  # fmt: skip


CASES = (*deep_cases(), *other_cases())
