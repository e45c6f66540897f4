"""Networks on graphs and sets with one fault in the middle: order, ties, statistics, masks, what is left out."""

from __future__ import annotations

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from tests.foreign.case import Case, Given, drawn
from tests.foreign.networks.on_graphs.graphs import edges


def graph(nodes=13, channels=4, count=40):
    return Given((drawn(nodes, channels, seed=61), edges(nodes, count, seed=6)), ("nodes", "index"))


def matrix(nodes=11, channels=4):
    a = (drawn(nodes, nodes, seed=62) > 0.4).float()
    return Given((drawn(nodes, channels, seed=63), ((a + a.t()) > 0).float()), ("nodes", "pairs"))


def elements(nodes=10, channels=4):
    return Given((drawn(nodes, channels, seed=64),), ("nodes",))


def summed(messages, index, like):
    return torch.zeros(len(like), messages.shape[1], dtype=messages.dtype).index_add(0, index, messages)


class Conv(nn.Module):
    """A graph convolution by index_add; a fault leaves out the last of the listed edges."""

    def __init__(self, c_in, c_out, fault=False):
        super().__init__()
        self.own, self.other, self.fault = nn.Linear(c_in, c_out), nn.Linear(c_in, c_out), fault

    def forward(self, x, edge_index):
        i, j = edge_index[:, :-1] if self.fault else edge_index
        return self.own(x) + summed(self.other(x)[i], j, x)


class GCN(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        self.convs = nn.ModuleList([Conv(4, 8), Conv(8, 8, fault), Conv(8, 3)])

    def forward(self, x, edge_index):
        for conv in self.convs:
            x = torch.tanh(conv(x, edge_index))
        return x


class Heads(nn.Module):
    """Attention over neighbours; a fault prefers neighbours with larger numbers."""

    def __init__(self, c, fault=False):
        super().__init__()
        self.value, self.score, self.fault = nn.Linear(c, c), nn.Linear(2 * c, 1), fault

    def forward(self, x, edge_index):
        i, j = edge_index
        v = self.value(x)
        s = F.leaky_relu(self.score(torch.cat([v[i], v[j]], 1)), 0.2)
        if self.fault:
            s = s + 0.01 * (i > j).to(s)[:, None]
        w = s.exp()
        return F.elu(summed(w * v[i], j, x) / (summed(w, j, x) + 1e-9))


class GAT(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        self.enter, self.one, self.two, self.out = nn.Linear(4, 8), Heads(8), Heads(8, fault), nn.Linear(8, 2)

    def forward(self, x, edge_index):
        x = self.enter(x)
        x = x + self.one(x, edge_index)
        x = x + self.two(x, edge_index)
        return self.out(x)


class Transformer(nn.Module):
    """A transformer on a dense graph; a fault lets nodes attend to those before them alone, in the second layer."""

    def __init__(self, fault=False):
        super().__init__()
        self.enter = nn.Linear(4, 8)
        self.layers = nn.ModuleList([Dense(8), Dense(8, fault)])
        self.out = nn.Linear(8, 2)

    def forward(self, x, adj):
        x = self.enter(x)
        for layer in self.layers:
            x = layer(x, adj)
        return self.out(x)


class Dense(nn.Module):
    def __init__(self, c, fault=False):
        super().__init__()
        self.qkv, self.norm, self.fault = nn.Linear(c, 3 * c), nn.LayerNorm(c), fault

    def forward(self, x, adj):
        q, k, v = self.qkv(x).chunk(3, -1)
        s = (q @ k.t()) / 3 + adj
        if self.fault:
            s = s.masked_fill(torch.ones_like(s, dtype=torch.bool).triu(2), -1e9)
        return self.norm(x + s.softmax(-1) @ v)


class DeepSet(nn.Module):
    """A fault takes the running mean of the elements between two of its modules."""

    def __init__(self, fault=False):
        super().__init__()
        self.phi, self.mid, self.rho, self.fault = nn.Linear(4, 8), nn.Linear(16, 8), nn.Linear(8, 3), fault

    def forward(self, x):
        h = F.relu(self.phi(x))
        mean = h.mean(0, keepdim=True).expand_as(h)
        if self.fault:
            mean = h.cumsum(0) / torch.arange(1, len(h) + 1, dtype=h.dtype)[:, None]
        return self.rho(F.relu(self.mid(torch.cat([h, mean], 1))).amax(0))


class Ranked(nn.Module):
    """Keeps the three highest; a fault rounds their scores, so that the number of an element breaks ties."""

    def __init__(self, fault=False):
        super().__init__()
        self.embed, self.score, self.out, self.fault = nn.Linear(4, 8), nn.Linear(8, 1), nn.Linear(8, 2), fault

    def forward(self, x):
        h = torch.tanh(self.embed(x))
        s = self.score(h)[:, 0]
        order = torch.argsort((s * 2).round() if self.fault else s, descending=True, stable=True)[:3]
        return self.out(h[order].mean(0))


class Induced(nn.Module):
    """A set transformer with points of its own; a fault adds a table to the second block's queries."""

    def __init__(self, fault=False):
        super().__init__()
        self.enter, self.points = nn.Linear(4, 8), nn.Parameter(torch.randn(3, 8))
        self.read = nn.ModuleList(nn.MultiheadAttention(8, 2) for _ in range(2))
        self.table = nn.Parameter(0.2 * torch.randn(10, 8)) if fault else None
        self.out = nn.Linear(8, 2)

    def forward(self, x):
        h = self.enter(x)
        few = self.read[0](self.points, h, h)[0]
        if self.table is not None:
            h = h + self.table
        return self.out(h + self.read[1](h, few, few)[0])


class Shared(nn.Module):
    """One convolution is called three times; a fault scales the first node's answer in the second round."""

    def __init__(self, fault=False):
        super().__init__()
        self.enter, self.conv, self.out, self.fault = nn.Linear(4, 6), Conv(6, 6), nn.Linear(6, 2), fault

    def forward(self, x, edge_index):
        x = self.enter(x)
        for k in range(3):
            x = torch.tanh(self.conv(x, edge_index))
            if self.fault and k == 1:
                x[0].mul_(0.9)
        return self.out(x)


class Batched(nn.Module):
    """A fault normalises by the statistics of channels of a node's neighbours in the list, in training or not."""

    def __init__(self, fault=False):
        super().__init__()
        self.a, self.norm, self.b = Conv(4, 8), Grouped(fault), Conv(8, 2)

    def forward(self, x, edge_index):
        return self.b(F.relu(self.norm(self.a(x, edge_index))), edge_index)


class Grouped(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        self.fault = fault

    def forward(self, h):
        some = h[: len(h) // 2] if self.fault else h
        return (h - some.mean(0)) / (some.std(0) + 0.1)


class Read(nn.Module):
    """Reads out a graph; a fault concatenates a few nodes in their order after two convolutions."""

    def __init__(self, fault=False):
        super().__init__()
        self.one, self.two, self.fault = Conv(4, 6), Conv(6, 6), fault
        self.head = nn.Sequential(nn.Linear(12, 8), nn.ReLU(), nn.Linear(8, 3))

    def forward(self, x, edge_index):
        h = torch.relu(self.two(torch.relu(self.one(x, edge_index)), edge_index))
        pair = (h.mean(0), h[-1]) if self.fault else (h.mean(0), h.amax(0))
        return self.head(torch.cat(pair))


def pair(name, make, faulty, culprit, given, out=("nodes",), **more):
    sound = Case(name, make, given, "permutation", out, **{"hooks": False, **more})
    return [sound, sound.broken("a fault", faulty, *culprit)]


CASES = (
    *pair("the last edge is left out", GCN, partial(GCN, True), ["convs.1"], graph),
    *pair("larger numbers are preferred", GAT, partial(GAT, True), ["two"], graph),
    *pair("a causal mask in one layer", Transformer, partial(Transformer, True), ["layers.1", "layers.1.attention"],
          matrix),
    *pair("a running mean of a set", DeepSet, partial(DeepSet, True), [], elements, ("fixed",)),
    *pair("ties broken by number", Ranked, partial(Ranked, True), [], elements, ("fixed",)),
    *pair("a table between two attentions", Induced, partial(Induced, True), [], elements),
    *pair("the first node in the second round", Shared, partial(Shared, True), [], graph),
    *pair("statistics of half of the nodes", Batched, partial(Batched, True), ["norm"], graph),
    *pair("the last node is read", Read, partial(Read, True), [], graph, ("fixed",)),
)  # fmt: skip
