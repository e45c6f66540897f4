"""Networks on points without edges in many hands: slots, neighbours, ranks, plans, encoders, forces."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import nn

from tests.foreign.case import Case, Given, drawn
from tests.foreign.networks.on_graphs.graphs import graph, scatter


def points(count=12, channels=3):
    return Given((drawn(count, channels, seed=21),), ("nodes",))


def mlp(*sizes, act=nn.ReLU):
    layers = []
    for a, b in pairwise(sizes):
        layers += [nn.Linear(a, b), act()]
    return nn.Sequential(*layers[:-1])


class Slots(nn.Module):
    """Slot attention: one cell, three rounds."""

    def __init__(self, few=False):
        super().__init__()
        self.slots = nn.Parameter(torch.randn(4, 6))
        self.k, self.v, self.q = (nn.Linear(6, 6, bias=False) for _ in range(3))
        self.cell, self.norm, self.few = nn.GRUCell(6, 6), nn.LayerNorm(6), few

    def forward(self, x):
        x = self.norm(x[: len(x) - 1] if self.few else x)
        k, v, slots = self.k(x), self.v(x), self.slots
        for _ in range(3):
            w = (self.q(slots) @ k.t()).softmax(0)
            w = w / w.sum(1, keepdim=True)
            slots = self.cell(w @ v, slots)
        return slots


class Objects(nn.Module):
    def __init__(self, few=False):
        super().__init__()
        self.encoder, self.attend, self.read = mlp(3, 8, 6), Slots(few), nn.Linear(24, 2)

    def forward(self, x):
        return self.read(self.attend(self.encoder(x)).flatten())


class EdgeConv(nn.Module):
    def __init__(self, cin, cout, k=4, near=0.0):
        super().__init__()
        self.net, self.k, self.near = mlp(2 * cin, cout, cout), k, near

    def forward(self, x):
        d = torch.cdist(x, x)
        if self.near:
            at = torch.arange(len(x), dtype=x.dtype)
            d = d + self.near * (at[:, None] - at).abs()
        index = d.topk(self.k, largest=False).indices
        near = x[index]
        return self.net(torch.cat([x[:, None].expand_as(near), near - x[:, None]], -1)).amax(1)


class DGCNN(nn.Module):
    def __init__(self, near=0.0):
        super().__init__()
        self.conv1, self.conv2 = EdgeConv(3, 8), EdgeConv(8, 8, near=near)
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        a = self.conv1(x)
        b = self.conv2(a)
        return {"points": self.head(torch.cat([a, b], 1)), "cloud": b.amax(0)}


class Farthest(nn.Module):
    """Takes a few points far from each other, beginning at the one farthest from the mean or at the first."""

    def __init__(self, count=4, first=False):
        super().__init__()
        self.count, self.first = count, first

    def forward(self, x):
        chosen = [torch.tensor(0) if self.first else (x - x.mean(0)).norm(dim=1).argmax()]
        for _ in range(self.count - 1):
            d = torch.cdist(x, x[torch.stack(chosen)]).amin(1)
            chosen.append(d.argmax())
        return x[torch.stack(chosen)]


class Sampled(nn.Module):
    def __init__(self, first=False):
        super().__init__()
        self.lift, self.sample, self.head = nn.Linear(3, 6), Farthest(first=first), mlp(6, 8, 2)

    def forward(self, x):
        return self.head(self.sample(self.lift(x))).mean(0)


class SortPool(nn.Module):
    """Sorts each feature by itself and weighs the ranks; or does not sort."""

    def __init__(self, c, count=12, sort=True):
        super().__init__()
        self.weight, self.sort = nn.Parameter(torch.randn(count, c)), sort

    def forward(self, x):
        ranked = x.sort(0).values if self.sort else x
        return (ranked * self.weight).sum(0)


class Ranked(nn.Module):
    def __init__(self, sort=True):
        super().__init__()
        self.f, self.pool, self.g = mlp(3, 8, 6, act=nn.Softplus), SortPool(6, sort=sort), mlp(6, 4, 1)

    def forward(self, x):
        return self.g(self.pool(self.f(x)))


class Mixer(nn.Module):
    def __init__(self, tokens=False):
        super().__init__()
        self.embed = nn.Linear(3, 8)
        self.norms = nn.ModuleList(nn.LayerNorm(8) for _ in range(4))
        self.tokens = nn.ModuleList([nn.Identity(), nn.Linear(12, 12) if tokens else nn.Identity()])
        self.channels = nn.ModuleList(mlp(8, 16, 8, act=nn.GELU) for _ in range(2))
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        h = self.embed(x)
        for k in range(2):
            t = self.norms[2 * k](h)
            h = h + self.tokens[k](t.t()).t() + t.mean(0)
            h = h + self.channels[k](self.norms[2 * k + 1](h))
        return self.head(h)


class Janossy(nn.Module):
    def __init__(self, half=False):
        super().__init__()
        self.f, self.rho, self.half = mlp(6, 10, 6), nn.Linear(6, 2), half

    def forward(self, x):
        n = len(x)
        both = torch.cat([x[:, None].expand(n, n, -1), x.expand(n, n, -1)], -1)
        y = self.f(both)
        if self.half:
            y = y * torch.ones(n, n, dtype=x.dtype).tril(-1)[..., None]
        return self.rho(y.sum((0, 1)))


class Sinkhorn(nn.Module):
    def __init__(self, band=False):
        super().__init__()
        self.q, self.k, self.band = nn.Linear(3, 5), nn.Linear(3, 5), band

    def forward(self, x):
        log = self.q(x) @ self.k(x).t()
        if self.band:
            at = torch.arange(len(x), dtype=x.dtype)
            log = log - 1e-2 * (at[:, None] - at).abs()
        for _ in range(5):
            log = log - log.logsumexp(1, keepdim=True)
            log = log - log.logsumexp(0, keepdim=True)
        return log.exp() @ x


class Matched(nn.Module):
    def __init__(self, band=False):
        super().__init__()
        self.norm, self.plan, self.out = nn.LayerNorm(3), Sinkhorn(band), nn.Linear(3, 2)

    def forward(self, x):
        return self.out(self.plan(self.norm(x)))


class Masked(nn.Module):
    """An encoder that does not listen to small tokens; or to the last two."""

    def __init__(self, last=False):
        super().__init__()
        self.embed = nn.Linear(3, 8)
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.0), 2, enable_nested_tensor=False
        )
        self.last, self.out = last, nn.Linear(8, 2)

    def forward(self, x):
        small = x[:, 0].abs() < 0.3
        if self.last:
            small = torch.arange(len(x)) >= len(x) - 2
        h = self.encoder(self.embed(x)[None], src_key_padding_mask=small[None])
        return self.out(h[0])


class TiedWeights(nn.Module):
    def __init__(self, places=False):
        super().__init__()
        self.enc, self.table = nn.Linear(3, 6, bias=False), nn.Parameter(torch.randn(12, 6) / 50)
        self.places = places

    def forward(self, x):
        code = torch.sigmoid(F.linear(x, self.enc.weight))
        if self.places:
            code = code + self.table
        return F.linear(code, self.enc.weight.t()), code


class SegmentSoftmax(nn.Module):
    def __init__(self, c, heads=2, running=False):
        super().__init__()
        self.lin, self.att, self.heads, self.running = nn.Linear(c, c), nn.Linear(2 * c, heads), heads, running

    def forward(self, x, edge_index):
        src, dst = edge_index
        h = self.lin(x)
        a = F.leaky_relu(self.att(torch.cat([h[src], h[dst]], 1)), 0.2).exp()
        total = scatter(a, dst, len(x))[dst]
        if self.running:
            total = total + 1e-3 * a.cumsum(0)
        a = a / total
        return scatter((h[src].view(len(src), self.heads, -1) * a[..., None]).flatten(1), dst, len(x))


class Attentive(nn.Module):
    def __init__(self, running=False):
        super().__init__()
        self.embed = nn.Linear(3, 8)
        self.convs = nn.ModuleList([SegmentSoftmax(8), SegmentSoftmax(8, running=running)])
        self.norms = nn.ModuleList(nn.BatchNorm1d(8) for _ in range(2))

    def forward(self, x, edge_index):
        x = self.embed(x)
        for conv, norm in zip(self.convs, self.norms):
            x = x + F.gelu(norm(conv(x, edge_index)))
        return x


class Geometric(nn.Module):
    """Layers of torch_geometric that a long short-term memory reads, layer by layer."""

    def __init__(self, numbers=False):
        super().__init__()
        from torch_geometric import nn as gnn

        self.convs = nn.ModuleList([gnn.GCNConv(3, 8), gnn.SAGEConv(8, 8), gnn.GATv2Conv(8, 8)])
        self.jump, self.lin = gnn.JumpingKnowledge("lstm", 8, 3), nn.Linear(8, 2)
        self.numbers = nn.Embedding(11, 8) if numbers else None

    def forward(self, x, edge_index):
        found = []
        for k, conv in enumerate(self.convs):
            x = conv(x, edge_index).relu()
            if self.numbers is not None and k == 1:
                x = x + 0.1 * self.numbers(torch.arange(len(x)))
            found.append(x)
        return self.lin(self.jump(found))


def messages(fault=False):
    from torch_geometric.nn import MessagePassing

    class Strongest(MessagePassing):
        """Weighs messages by their rank among all those that come to a node."""

        def __init__(self):
            super().__init__(aggr=None)
            self.lin = nn.Linear(3, 4)

        def forward(self, x, edge_index):
            return self.propagate(edge_index, x=self.lin(x))

        def message(self, x_i, x_j):
            return x_j * (x_i - x_j).sigmoid()

        def aggregate(self, inputs, index, dim_size=None):
            out = inputs.new_zeros(dim_size, inputs.shape[1])
            if fault:  # the last message wins
                for row, to in zip(inputs, index):
                    out = out.index_copy(0, to[None], row[None])
                return out
            high = out.scatter_reduce(0, index[:, None].expand_as(inputs), inputs, "amax", include_self=False)
            return high + out.index_add(0, index, inputs)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.pre, self.conv, self.post = nn.Linear(3, 3), Strongest(), nn.Linear(4, 2)

        def forward(self, x, edge_index):
            return self.post(self.conv(self.pre(x).tanh(), edge_index))

    return Net()


class Forces(nn.Module):
    """An energy and its forces, taken with autograd inside."""

    def __init__(self, numbered=False):
        super().__init__()
        self.f, self.g, self.numbered = mlp(3, 8, 8, act=nn.SiLU), mlp(8, 8, 1, act=nn.SiLU), numbered

    def forward(self, x):
        with torch.enable_grad():
            at = x.detach().requires_grad_(True)
            each = self.g(self.f(at) + torch.exp(-torch.cdist(at, at).square()) @ self.f(at))
            if self.numbered:
                each = each * (1 + 0.01 * torch.arange(len(x), dtype=x.dtype))[:, None]
            energy = each.sum()
            force = -torch.autograd.grad(energy, at)[0]
        return energy.detach().view(1), force


class Equivariant(nn.Module):
    """Linear layers on sets: a number for each, a number for their mean; or one more that looks at the next."""

    def __init__(self, roll=0.0):
        super().__init__()
        self.a, self.b = (nn.ModuleList(nn.Linear(*s) for s in ((3, 8), (8, 8), (8, 2))) for _ in range(2))
        self.roll = roll

    def forward(self, x):
        for k, (a, b) in enumerate(zip(self.a, self.b)):
            y = a(x) + b(x.mean(0, keepdim=True))
            if k == 1 and self.roll:
                y = y + self.roll * y.roll(1, 0)
            x = F.leaky_relu(y) if k < 2 else y
        return x


def pair(name, make, faulty, culprit, given, out=("nodes",), **more):
    sound = Case(name, make, given, "permutation", out, **more)
    return [sound, sound.broken("a fault", faulty, *culprit)]


CASES = (
    *pair("slots", Objects, partial(Objects, True), ["attend"], points, ("fixed",), hooks=False),
    *pair("convolutions of edges", DGCNN, partial(DGCNN, 0.05), ["conv2"], points, ("nodes", "fixed")),
    *pair("far from each other", Sampled, partial(Sampled, True), ["sample"], points, ("fixed",)),
    *pair("features sorted one by one", Ranked, partial(Ranked, False), ["pool"], points, ("fixed",)),
    *pair("a mixer of points", Mixer, partial(Mixer, True), ["tokens.1"], points, hooks=False),
    *pair("all pairs", Janossy, partial(Janossy, True), [], points, ("fixed",), hooks=False),
    *pair("a plan of transport", Matched, partial(Matched, True), ["plan"], points),
    *pair("an encoder that overhears", Masked, partial(Masked, True), [], points, hooks=False),
    *pair("tied weights", TiedWeights, partial(TiedWeights, True), [], points, ("nodes", "nodes"), hooks=False),
    *pair("softmax of segments", Attentive, partial(Attentive, True), ["convs.1"], graph, hooks=False),
    *pair("layers read by an LSTM", Geometric, partial(Geometric, True), [], graph, hooks=False),
    *pair("messages weighed", messages, partial(messages, True), ["conv"], graph),
    *pair("energy and forces", Forces, partial(Forces, True), [], points, ("fixed", "nodes"), hooks=False),
    *pair("linear layers of sets", Equivariant, partial(Equivariant, 0.02), [], points, hooks=False),
)  # fmt: skip
