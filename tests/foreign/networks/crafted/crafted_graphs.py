"""Networks on graphs and sets in many hands: virtual nodes, pooling, readers of edges, slots, clouds, decoders."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import nn

from tests.foreign.case import Case, Given, drawn
from tests.foreign.networks.on_graphs.graphs import edges, graph, matrix, scatter


def points(count=12, channels=3):
    return Given((drawn(count, channels, seed=21),), ("nodes",))


def placed():
    return Given((drawn(10, 3, seed=22), drawn(10, 3, seed=23), edges(10, 34, 2)), ("nodes", "nodes", "index"))


def mlp(*sizes, act=nn.ReLU):
    layers = []
    for a, b in pairwise(sizes):
        layers += [nn.Linear(a, b), act()]
    return nn.Sequential(*layers[:-1])


class VirtualNode(nn.Module):
    def __init__(self, first=False):
        super().__init__()
        self.embed, self.first = nn.Linear(3, 8), first
        self.msg = nn.ModuleList(mlp(16, 8, 8) for _ in range(2))
        self.talk = nn.ModuleList(nn.GRUCell(8, 8) for _ in range(2))
        self.out = nn.Linear(16, 2)

    def forward(self, x, edge_index):
        src, dst = edge_index
        h = self.embed(x)
        v = h[:1] * 0.5 if self.first else h.mean(0, keepdim=True)
        for msg, talk in zip(self.msg, self.talk):
            h = F.relu(scatter(msg(torch.cat([h[src], h[dst]], 1)), dst, len(h)) + v)
            v = talk(h.sum(0, keepdim=True), v)
        return self.out(torch.cat([h, v.expand_as(h)], 1))


class Neighbours(nn.Module):
    """A reader of the messages of each node, in one order or another."""

    def __init__(self, c, order="size", fault=False):
        super().__init__()
        self.order = "edges" if fault else order
        self.reader, self.size = nn.GRUCell(c, c), nn.Linear(c, 1, bias=False)

    def forward(self, x, edge_index):
        src, dst = edge_index
        key = self.size(x)[src, 0] if self.order == "size" else torch.arange(len(src), dtype=x.dtype)
        out = []
        for node in range(len(x)):
            here = (dst == node).nonzero()[:, 0]
            h = torch.zeros_like(x[:1])
            for e in here[key[here].argsort()]:
                h = self.reader(x[src[e]][None], h)
            out.append(h)
        return torch.cat(out)


class Reader(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        self.embed, self.agg, self.out = nn.Linear(3, 6), Neighbours(6, fault=fault), nn.Linear(12, 2)

    def forward(self, x, edge_index):
        h = torch.tanh(self.embed(x))
        return self.out(torch.cat([h, self.agg(h, edge_index)], 1))


class TopPool(nn.Module):
    """Keeps the nodes of the highest scores, or the first ones; gives them back at their places."""

    def __init__(self, c, keep=5, first=False):
        super().__init__()
        self.score, self.keep, self.first = nn.Linear(c, 1), keep, first

    def forward(self, x):
        s = self.score(x)[:, 0]
        kept = torch.arange(self.keep) if self.first else s.topk(self.keep).indices
        out = torch.zeros_like(x)
        return out.index_copy(0, kept, x[kept] * s[kept].sigmoid()[:, None])


class GraphUNet(nn.Module):
    def __init__(self, first=False):
        super().__init__()
        self.down, self.pool, self.up = mlp(3, 8), TopPool(8, first=first), mlp(16, 8, 2)

    def forward(self, x, edge_index):
        src, dst = edge_index
        h = self.down(x)
        h = F.elu(h + scatter(h[src], dst, len(h), "mean"))
        return self.up(torch.cat([h, self.pool(h)], 1))


class WalkFeatures(nn.Module):
    """Chances to be back after some steps of a random walk, and how often; or the number of a node's row."""

    def __init__(self, numbers=False):
        super().__init__()
        self.numbers = numbers

    def forward(self, x, edge_index):
        a = x.new_zeros(len(x), len(x)).index_put((edge_index[1], edge_index[0]), x.new_ones(edge_index.shape[1]), True)
        p = a / a.sum(1, keepdim=True).clamp(min=1)
        found, step = [], p
        for _ in range(3):
            step = step @ p
            found.append(step.diagonal()[:, None])
        if self.numbers:
            found[-1] = found[-1] + 1e-4 * torch.arange(len(x), dtype=x.dtype)[:, None]
        return torch.cat([x, *found], 1)


class Walker(nn.Module):
    def __init__(self, numbers=False):
        super().__init__()
        self.encode, self.lin = WalkFeatures(numbers), mlp(6, 8, 2)

    def forward(self, x, edge_index):
        h = self.encode(x, edge_index)
        return self.lin(h).sum(0)


class EGNNLayer(nn.Module):
    def __init__(self, c, anchor=False):
        super().__init__()
        self.edge, self.node, self.coord = mlp(2 * c + 1, c, c, act=nn.SiLU), mlp(2 * c, c, c), mlp(c, c, 1)
        self.anchor = anchor

    def forward(self, h, pos, edge_index):
        src, dst = edge_index
        d = pos[dst] - pos[src]
        m = self.edge(torch.cat([h[dst], h[src], d.square().sum(1, keepdim=True)], 1))
        pos = pos + scatter(d * self.coord(m), dst, len(h), "mean")
        if self.anchor:
            pos = pos - pos[0]
        return h + self.node(torch.cat([h, scatter(m, dst, len(h))], 1)), pos


class EGNN(nn.Module):
    def __init__(self, anchor=False):
        super().__init__()
        self.layers = nn.ModuleList([EGNNLayer(3), EGNNLayer(3, anchor)])

    def forward(self, x, pos, edge_index):
        for layer in self.layers:
            x, pos = layer(x, pos, edge_index)
        return x, pos


class Pairs(nn.Module):
    def __init__(self, upper=False):
        super().__init__()
        self.embed, self.a, self.b, self.upper = mlp(3, 8, 8), nn.Linear(8, 4), nn.Linear(8, 4), upper

    def forward(self, x):
        h = self.embed(x)
        score = self.a(h) @ self.b(h).t()
        return score.triu() + score.triu(1).t() if self.upper else score + score.t()


class DensePool(nn.Module):
    def __init__(self, c, k=3, tied=False):
        super().__init__()
        self.assign = nn.Linear(c, k)
        self.extra = nn.Parameter(torch.randn(11, k) / 3) if tied else None

    def forward(self, x, adj):
        s = self.assign(x)
        s = (s if self.extra is None else s + self.extra).softmax(-1)
        return s.t() @ x, s.t() @ adj @ s


class Hierarchical(nn.Module):
    def __init__(self, tied=False):
        super().__init__()
        self.gnn, self.pool, self.top = nn.Linear(6, 6), DensePool(6, tied=tied), nn.Linear(6, 2)

    def forward(self, x, adj):
        h = torch.relu(self.gnn(torch.cat([x, adj @ x / adj.sum(1, keepdim=True).clamp(min=1)], 1)))
        coarse, links = self.pool(h, adj)
        return self.top(links @ coarse).logsumexp(0)


def pair(name, make, faulty, culprit, given, out=("nodes",), **more):
    sound = Case(name, make, given, "permutation", out, **more)
    return [sound, sound.broken("a fault", faulty, *culprit)]


CASES = (
    *pair("a virtual node", VirtualNode, partial(VirtualNode, True), [], graph, hooks=False),
    *pair("neighbours that are read", Reader, partial(Reader, True), ["agg", "agg.reader"], graph, hooks=False),
    *pair("the best nodes kept", GraphUNet, partial(GraphUNet, True), ["pool"], graph),
    *pair("walks", Walker, partial(Walker, True), ["encode"], graph, ("fixed",)),
    *pair("points that move", EGNN, partial(EGNN, True), ["layers.1", "layers.1[1]"], placed, ("nodes", "nodes"),
          hooks=False),
    *pair("scores of pairs", Pairs, partial(Pairs, True), [], points, ("pairs",), hooks=False),
    *pair("pooled by assignment", Hierarchical, partial(Hierarchical, True), ["pool", "pool[1]"], matrix, ("fixed",)),
)  # fmt: skip
