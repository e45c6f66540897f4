"""Graphs and sets: messages passed by hand, masks of real numbers, slots, a third kind of argument."""

from __future__ import annotations

from functools import partial

import torch
from torch import nn

from tests.foreign.case import Given, drawn, pair
from tests.foreign.networks.on_graphs.graphs import edges

P = "permutation"


def graph(nodes=10, channels=4, count=28, attributes=0):
    found = (drawn(nodes, channels, seed=31), edges(nodes, count, seed=3))
    if attributes:
        return Given((*found, drawn(count, attributes, seed=32)), ("nodes", "index", "edges"))
    return Given(found, ("nodes", "index"))


def dense(nodes=9, channels=4):
    a = (drawn(nodes, nodes, seed=33) > 0.2).float()
    return Given((drawn(nodes, channels, seed=34), ((a + a.t()) > 0).float().fill_diagonal_(0)), ("nodes", "pairs"))


def masked(*more, members=8, channels=4):
    there = torch.tensor([[1.0, 1, 0, 1, 1, 1, 0, 1]])
    made = {
        "context": (drawn(1, 5, seed=36), "fixed"),
        "weights": (drawn(1, members, seed=37).abs(), "nodes@1"),
    }
    extra = [made[m] for m in more]
    return Given((drawn(1, members, channels, seed=35), there, *(v for v, _ in extra)),
                 ("nodes@1", "nodes@1", *(how for _, how in extra)))  # fmt: skip


def members(*shape, act="nodes@1"):
    return Given((drawn(*shape, seed=38),), (act,))


def incidence(nodes=9, groups=6):
    h = (drawn(nodes, groups, seed=39) > 0).float()
    return Given((drawn(nodes, 4, seed=40), h), ("nodes", "nodes"))


class GatedLayer(nn.Module):
    """Gates on edges that have a state of their own; `first` divides by what came before in the list."""

    def __init__(self, c, first=False):
        super().__init__()
        self.a, self.b, self.c, self.u, self.v = (nn.Linear(c, c) for _ in range(5))
        self.first = first

    def forward(self, h, e, edge_index):
        i, j = edge_index
        e = e + torch.relu(self.a(h)[i] + self.b(h)[j] + self.c(e))
        gate = torch.sigmoid(e)
        if self.first:
            gate = gate / (1 + 0.01 * torch.arange(len(gate), dtype=gate.dtype)[:, None])
        total = torch.zeros_like(h).index_add_(0, j, gate)
        told = torch.zeros_like(h).index_add_(0, j, gate * self.v(h)[i])
        return h + torch.relu(self.u(h) + told / (total + 1e-6)), e


class GatedGCN(nn.Module):
    def __init__(self, first=False):
        super().__init__()
        self.nodes, self.edges = nn.Linear(4, 6), nn.Linear(3, 6)
        self.layers = nn.ModuleList([GatedLayer(6), GatedLayer(6, first)])
        self.out, self.bond = nn.Linear(6, 2), nn.Linear(6, 1)

    def forward(self, x, edge_index, edge_attr):
        h, e = self.nodes(x), self.edges(edge_attr)
        for layer in self.layers:
            h, e = layer(h, e, edge_index)
        return self.out(h), self.bond(e)


class Aggregators(nn.Module):
    """Mean, largest, least and spread of the neighbours, scaled by degree; `last` takes whoever wrote last instead."""

    def __init__(self, cin, cout, last=False):
        super().__init__()
        self.pre, self.post, self.last = nn.Linear(2 * cin, cin), nn.Linear(13 * cin, cout), last

    def forward(self, x, edge_index):
        src, dst = edge_index[0], edge_index[1]
        m = self.pre(torch.cat([x[src], x[dst]], -1))
        at, n = dst[:, None].expand_as(m), len(x)
        empty = m.new_zeros(n, m.shape[1])
        mean = empty.scatter_reduce(0, at, m, "mean", include_self=False)
        high = empty.scatter_reduce(0, at, m, "amax", include_self=False)
        low = empty.scatter_reduce(0, at, m, "amin", include_self=False)
        square = empty.scatter_reduce(0, at, m * m, "mean", include_self=False)
        std = (torch.relu(square - mean * mean) + 1e-5).sqrt()
        if self.last:
            high = empty.clone()
            for k in range(len(m)):
                high[dst[k]] = m[k]
        seen = torch.cat([mean, high, low, std], -1)
        degree = torch.zeros(n, 1, dtype=x.dtype).index_add_(0, dst, torch.ones(len(dst), 1, dtype=x.dtype))
        scale = (degree + 1).log()
        return self.post(torch.cat([x, seen, seen * scale, seen / scale.clamp(min=0.5)], -1))


class Principal(nn.Module):
    def __init__(self, last=False):
        super().__init__()
        self.convs = nn.ModuleList([Aggregators(4, 5), Aggregators(5, 5, last)])
        self.norm, self.mlp = nn.BatchNorm1d(5), nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3))

    def forward(self, x, edge_index):
        for conv in self.convs:
            x = torch.relu(self.norm(conv(x, edge_index)))
        return self.mlp(x.sum(0, keepdim=True))


class Walks(nn.Module):
    """Chances to be back after k steps at random; `lower` walks only to nodes of lower numbers."""

    def __init__(self, steps=4, lower=False):
        super().__init__()
        self.fc, self.steps, self.lower = nn.Linear(steps, 6), steps, lower

    def forward(self, a):
        a = a.tril() + 0.99 * a.triu() if self.lower else a
        walk = a / a.sum(-1, keepdim=True).clamp(min=1)
        found, power = [], torch.eye(len(a), dtype=a.dtype)
        for _ in range(self.steps):
            power = power @ walk
            found.append(power.diagonal())
        return self.fc(torch.stack(found, -1))


class GraphTransformer(nn.Module):
    def __init__(self, lower=False):
        super().__init__()
        self.enter, self.walks = nn.Linear(4, 6), Walks(lower=lower)
        self.q, self.k, self.v = (nn.Linear(6, 6) for _ in range(3))
        self.near, self.out = nn.Parameter(torch.randn(2)), nn.Linear(6, 3)

    def forward(self, x, adj):
        h = self.enter(x) + self.walks(adj)
        score = self.q(h) @ self.k(h).t() / 6**0.5 + self.near[adj.long()]
        h = h + score.softmax(-1) @ self.v(h)
        return self.out(h)


class Rank(nn.Module):
    """Weighs the members that are there; `counted` by how many of them came before."""

    def __init__(self, c, counted=False):
        super().__init__()
        self.score, self.counted = nn.Linear(c, 1), counted

    def forward(self, h, mask):
        s = self.score(h).squeeze(-1)
        if self.counted:
            s = s + 0.05 * mask.cumsum(1)
        return (s.exp() * mask) / (s.exp() * mask).sum(1, keepdim=True)


class InContext(nn.Module):
    """A set with a mask of ones and zeros, and a vector beside it that has no members."""

    def __init__(self, counted=False):
        super().__init__()
        self.phi, self.told = nn.Sequential(nn.Linear(4, 7), nn.Softplus()), nn.Linear(5, 7)
        self.rank, self.rho = Rank(7, counted), nn.Linear(7, 2)

    def forward(self, x, mask, context):
        h = self.phi(x) + self.told(context)[:, None]
        return self.rho((self.rank(h, mask)[..., None] * h).sum(1))


class Measured(nn.Module):
    """A mean over members, each with a weight of its own; `before` also counts the weight of the one before."""

    def __init__(self, before=False):
        super().__init__()
        self.before = before

    def forward(self, h, mask, weights):
        w = mask * weights
        if self.before:
            w = w + 0.1 * w.roll(1, 1) * mask
        return (h * w[..., None]).sum(1) / w.sum(1, keepdim=True)


class WeightedSet(nn.Module):
    def __init__(self, before=False):
        super().__init__()
        self.phi, self.pool, self.rho = nn.Linear(4, 6), Measured(before), nn.Linear(6, 3)

    def forward(self, x, mask, weights):
        h = torch.tanh(self.phi(x)) * mask.unsqueeze(-1)
        return self.rho(self.pool(h, mask, weights))


class Slots(nn.Module):
    """Slots compete for the members; `ties` are broken by the number of a member."""

    def __init__(self, c, slots=3, ties=False):
        super().__init__()
        self.slots, self.ties = nn.Parameter(torch.randn(slots, c)), ties
        self.k, self.v, self.q = (nn.Linear(c, c, bias=False) for _ in range(3))
        self.gru, self.norm = nn.GRUCell(c, c), nn.LayerNorm(c)

    def forward(self, x):
        k, v = self.k(x), self.v(x)
        s = self.slots.expand(len(x), -1, -1)
        for _ in range(3):
            score = self.q(self.norm(s)) @ k.transpose(1, 2)
            a = score.softmax(1) + 1e-8
            if self.ties:
                a = a + 1e-4 * torch.arange(x.shape[1], dtype=x.dtype)
            told = (a / a.sum(-1, keepdim=True)) @ v
            s = self.gru(told.flatten(0, 1), s.flatten(0, 1)).view_as(s)
        return s


class SlotAttention(nn.Module):
    def __init__(self, ties=False):
        super().__init__()
        self.enter, self.attend, self.out = nn.Linear(4, 6), Slots(6, ties=ties), nn.Linear(6, 2)

    def forward(self, x):
        return self.out(self.attend(torch.relu(self.enter(x))))


class Inner(nn.Module):
    """Chances of edges from products of codes; `upper` leaves the half below to chance."""

    def __init__(self, upper=False):
        super().__init__()
        self.upper = upper

    def forward(self, z):
        a = z @ z.t()
        return torch.sigmoid(a.triu() if self.upper else a)


class GraphAutoencoder(nn.Module):
    def __init__(self, upper=False):
        super().__init__()
        self.a, self.mu, self.decoder = nn.Linear(4, 6), nn.Linear(6, 3), Inner(upper)

    def forward(self, x, adj):
        deg = adj.sum(1) + 1
        norm = (adj + torch.eye(len(adj), dtype=adj.dtype)) / (deg[:, None] * deg).sqrt()
        z = self.mu(norm @ torch.relu(norm @ self.a(x)))
        return self.decoder(z), z


class Reader(nn.Module):
    """A node for all: a sum, or what a GRU has read of the nodes in turn."""

    def __init__(self, c, read=False):
        super().__init__()
        self.fc, self.gru = nn.Linear(c, c), nn.GRU(c, c) if read else None

    def forward(self, h):
        if self.gru is not None:
            return self.fc(self.gru(h)[1][-1])
        return self.fc(h.mean(0))


class Virtual(nn.Module):
    def __init__(self, read=False):
        super().__init__()
        self.eps = nn.Parameter(torch.zeros(2))
        self.enter = nn.Linear(4, 5)
        self.mlps = nn.ModuleList(nn.Sequential(nn.Linear(5, 9), nn.PReLU(), nn.Linear(9, 5)) for _ in range(2))
        self.reader, self.out = Reader(5, read), nn.Linear(15, 2)

    def forward(self, x, edge_index):
        hs = [self.enter(x)]
        for k, mlp in enumerate(self.mlps):
            h = hs[-1]
            told = torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]])
            h = mlp((1 + self.eps[k]) * h + told)
            hs.append(h + self.reader(h) if k == 0 else h)
        return self.out(torch.cat(hs, -1))


class Incidence(nn.Module):
    """Tells groups of nodes, and nodes of groups; `head` lets the first member speak for a group."""

    def __init__(self, c, head=False):
        super().__init__()
        self.fc, self.head = nn.Linear(c, c), head

    def forward(self, x, h):
        groups = h.t() @ x / h.sum(0)[:, None].clamp(min=1)
        if self.head:
            groups = groups + 0.1 * x[h.argmax(0)]
        return torch.relu(self.fc(h @ groups / h.sum(1, keepdim=True).clamp(min=1))) + x


class Hypergraph(nn.Module):
    def __init__(self, head=False):
        super().__init__()
        self.one, self.two, self.out = Incidence(4), Incidence(4, head), nn.Linear(4, 2)

    def forward(self, x, h):
        return self.out(self.two(self.one(x, h), h))


CASES = (
    *pair("gated edges", GatedGCN, partial(GatedGCN, True), ["layers.1"], partial(graph, attributes=3),
          ("nodes", "edges"), P),
    *pair("principal neighbourhoods", Principal, partial(Principal, True), ["convs.1"], graph, ("fixed",), P),
    *pair("chances to be back", GraphTransformer, partial(GraphTransformer, True), ["walks"], dense, ("nodes",), P,
          hooks=False),
    *pair("a set in context", InContext, partial(InContext, True), ["rank"], partial(masked, "context"), ("fixed",), P),
    *pair("weights of members", WeightedSet, partial(WeightedSet, True), ["pool"], partial(masked, "weights"),
          ("fixed",), P),
    *pair("slots", SlotAttention, partial(SlotAttention, True), ["attend"], partial(members, 2, 9, 4), ("fixed",), P,
          hooks=False),
    *pair("edges from codes", GraphAutoencoder, partial(GraphAutoencoder, True), ["decoder"], dense,
          ("pairs", "nodes"), P),
    *pair("a node for all", Virtual, partial(Virtual, True), ["reader", "reader.gru"], graph, ("nodes",), P,
          hooks=False),
    *pair("groups of nodes", Hypergraph, partial(Hypergraph, True), ["two"], incidence, ("nodes",), P, hooks=False),
)  # fmt: skip
