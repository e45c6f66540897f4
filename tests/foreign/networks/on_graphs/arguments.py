"""Graph networks whose arguments have other names, orders and kinds, or are given by name."""

from __future__ import annotations

from functools import partial

import torch
from torch import nn

from tests.foreign.case import Case, Given, drawn
from tests.foreign.networks.on_graphs.graphs import edges, scatter


class Weighted(nn.Module):
    """Takes what lies on edges and nodes in any order of arguments."""

    def __init__(self, fault="", wide=1):
        super().__init__()
        self.enter = nn.Linear(3, 5)
        self.gate = nn.Linear(wide, 5)
        self.mix = nn.Linear(5, 5)
        self.out = nn.Linear(5, 2)
        self.fault = fault

    def go(self, x, edge_index, w):
        w = w if w.ndim > 1 else w[:, None]
        x = self.enter(x)
        for _ in range(2):
            m = torch.sigmoid(self.gate(w)) * x[edge_index[0]]
            x = x + scatter(m, edge_index[1], len(x))
            if self.fault == "numbers":
                x = x + 0.1 * torch.arange(len(x), dtype=x.dtype)[:, None]
            elif self.fault == "weights in order":
                w = w.sort(0).values
        return self.out(torch.relu(self.mix(x)))


class EdgeWeight(Weighted):
    def forward(self, x, edge_index, edge_weight):
        return self.go(x, edge_index, edge_weight)


class EdgeAttr(Weighted):
    def forward(self, x, edge_index, edge_attr):
        return self.go(x, edge_index, edge_attr)


class Optional(Weighted):
    """Has weights that nobody passes."""

    def forward(self, x, edge_index, edge_weight=None):
        w = torch.ones(edge_index.shape[1], dtype=x.dtype) if edge_weight is None else edge_weight
        return self.go(x, edge_index, w)


class OtherNames(Weighted):
    def forward(self, feats, adj_list, e_feat):
        return self.go(feats, adj_list, e_feat)


class EdgesBefore(Weighted):
    def forward(self, x, w, edge_index):
        return self.go(x, edge_index, w)


class IndexFirst(Weighted):
    def forward(self, edge_index, x, w):
        return self.go(x, edge_index, w)


class KeywordOnly(Weighted):
    def forward(self, x, *, edge_index, edge_weight):
        return self.go(x, edge_index, edge_weight)


class ListOfEdges(Weighted):
    """Takes (edges, 2)."""

    def forward(self, x, pairs, w):
        return self.go(x, pairs.t(), w)


class Positions(nn.Module):
    def __init__(self, fault=""):
        super().__init__()
        self.phi = nn.Sequential(nn.Linear(7, 8), nn.SiLU(), nn.Linear(8, 4))
        self.out = nn.Linear(4, 1)
        self.fault = fault

    def forward(self, x, edge_index, pos):
        src, dst = edge_index
        far = (pos[src] - pos[dst]).square().sum(1, keepdim=True)
        m = self.phi(torch.cat([x[src], x[dst], far], 1))
        h = scatter(m, dst, len(x), "max" if self.fault != "first" else "sum")
        if self.fault == "first":
            h = h - h[0]
        return self.out(h)


class Batched(nn.Module):
    """Several graphs in one, with the number of its graph at each node."""

    def __init__(self, fault=False):
        super().__init__()
        self.enter, self.out = nn.Linear(3, 4), nn.Linear(4, 2)
        self.fault = fault

    def forward(self, x, edge_index, batch):
        x = torch.relu(self.enter(x))
        x = x + scatter(x[edge_index[0]], edge_index[1], len(x))
        if self.fault:
            x = x * torch.linspace(0, 1, len(x), dtype=x.dtype)[:, None]
        return self.out(scatter(x, batch, 3, "mean"))


class Global(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        self.enter, self.out = nn.Linear(5, 4), nn.Linear(4, 2)
        self.fault = fault

    def forward(self, x, edge_index, u):
        h = torch.tanh(self.enter(torch.cat([x, u.expand(len(x), -1)], 1)))
        h = h + scatter(h[edge_index[0]], edge_index[1], len(h))
        if self.fault:
            h = h + h[-1:]
        return self.out(h)


class Atoms(nn.Module):
    """Begins with the numbers of atoms."""

    def __init__(self, fault=False):
        super().__init__()
        self.table, self.out = nn.Embedding(10, 4), nn.Linear(4, 1)
        self.fault = fault

    def forward(self, z, edge_index):
        h = self.table(z)
        if self.fault:
            h = h + self.table.weight[torch.arange(len(z)) % 10]
        h = h + scatter(h[edge_index[0]], edge_index[1], len(h))
        return self.out(h)


class Masked(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        self.enter, self.out = nn.Linear(3, 4), nn.Linear(4, 2)
        self.fault = fault

    def forward(self, x, edge_index, mask):
        h = torch.relu(self.enter(x)) * mask[:, None]
        h = h + scatter(h[edge_index[0]], edge_index[1], len(h))
        return self.out(h[1:].sum(0) if self.fault else h.sum(0))


def given(*more, acts=(), order=None, names=(), form="call", nodes=9, count=26):
    args = [drawn(nodes, 3), edges(nodes, count), *(m(nodes, count) for m in more)]
    how = ["nodes", "index", *acts]
    order = order or range(len(args))
    return Given(tuple(args[k] for k in order), tuple(how[k] for k in order), form=form, names=names)


def weight(nodes, count):
    return drawn(count, seed=4).abs()


def attribute(nodes, count):
    return drawn(count, 2, seed=4)


def column(nodes, count):
    return drawn(count, 1, seed=4)


def positions(nodes, count):
    return drawn(nodes, 3, seed=4)


def batch(nodes, count):
    return torch.tensor([0, 0, 0, 1, 1, 1, 1, 2, 2])


def mask(nodes, count):
    return (drawn(nodes, seed=6) > -0.5).float()


def state(nodes, count):
    return drawn(1, 2, seed=6)


def atoms():
    return Given((torch.tensor([1, 6, 6, 8, 1, 1, 7, 3, 1]), edges()), ("nodes", "index"))


def listed():
    return Given((drawn(9, 3), edges().t().contiguous(), weight(9, 26)), ("nodes", "ends", "edges"))


def pair(name, network, data, out, culprit=(), fault=True, refusable=False, **more):
    """Return a sound network and its twin."""
    sound = Case(name, partial(network, **more), data, "permutation", (out,), refusable=refusable)
    return [sound, sound.broken("a fault", partial(network, fault, **more), *culprit, hooks=False)]


CASES = (
    *pair("edge_weight, 1-D", EdgeWeight, partial(given, weight, acts=("edges",)), "nodes", fault="numbers"),
    *pair(
        "edge_weight, column", EdgeWeight, partial(given, column, acts=("edges",)), "nodes", fault="weights in order"
    ),
    *pair("edge_attr", EdgeAttr, partial(given, attribute, acts=("edges",)), "nodes", fault="weights in order", wide=2),
    *pair("edge_weight left out", Optional, given, "nodes", fault="numbers"),
    *pair(
        "edge_weight that may be left out",
        Optional,
        partial(given, weight, acts=("edges",)),
        "nodes",
        fault="weights in order",
    ),
    *pair("other names", OtherNames, partial(given, attribute, acts=("edges",)), "nodes", fault="numbers", wide=2),
    *pair(
        "weights before edges",
        EdgesBefore,
        partial(given, weight, acts=("edges",), order=(0, 2, 1)),
        "nodes",
        fault="numbers",
    ),
    *pair(
        "edges before nodes",
        IndexFirst,
        partial(given, weight, acts=("edges",), order=(1, 0, 2)),
        "nodes",
        fault="numbers",
    ),
    *pair(
        "by keyword",
        KeywordOnly,
        partial(given, weight, acts=("edges",), form="mapping", names=("x", "edge_index", "edge_weight")),
        "nodes",
        fault="numbers",
    ),
    *pair(
        "all by name",
        EdgeAttr,
        partial(given, attribute, acts=("edges",), form="mapping", names=("x", "edge_index", "edge_attr")),
        "nodes",
        fault="numbers",
        wide=2,
    ),
    *pair(
        "other names by name",
        OtherNames,
        partial(given, weight, acts=("edges",), form="mapping", names=("feats", "adj_list", "e_feat")),
        "nodes",
        fault="numbers",
    ),
    *pair("edges as rows", ListOfEdges, listed, "nodes", fault="numbers", refusable=True),
    *pair("positions", Positions, partial(given, positions, acts=("nodes",)), "nodes", fault="first"),
    *pair(
        "as many edges as nodes, weights",
        EdgeWeight,
        partial(given, weight, acts=("edges",), nodes=14, count=14),
        "nodes",
        fault="weights in order",
    ),
    *pair(
        "as many edges as nodes, attributes",
        EdgeAttr,
        partial(given, attribute, acts=("edges",), nodes=11, count=11),
        "nodes",
        fault="weights in order",
        wide=2,
    ),
    *pair(
        "as many edges as nodes, positions",
        Positions,
        partial(given, positions, acts=("nodes",), nodes=13, count=13),
        "nodes",
        fault="first",
    ),
    *pair("numbers of graphs", Batched, partial(given, batch, acts=("nodes",)), "fixed"),
    *pair("what belongs to the graph", Global, partial(given, state, acts=("fixed",)), "nodes"),
    *pair("a mask of nodes", Masked, partial(given, mask, acts=("nodes",)), "fixed"),
    *pair("numbers of atoms", Atoms, atoms, "nodes"),
)
