"""Graph networks in plain torch: messages, attention, readouts, edge states, adjacency matrices."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from tests.foreign.case import Case, Given, drawn


def edges(nodes=9, count=26, seed=0):
    """Return edges without loops, no two of them alike."""
    pairs = [(i, j) for i in range(nodes) for j in range(nodes) if i != j]
    order = torch.randperm(len(pairs), generator=torch.Generator().manual_seed(seed))[:count]
    return torch.tensor([pairs[k] for k in order]).t().contiguous()


def graph(nodes=11, channels=3, count=30):
    return Given((drawn(nodes, channels), edges(nodes, count)), ("nodes", "index"))


def ring(nodes=12, channels=3):
    there = torch.arange(nodes)
    return Given((drawn(nodes, channels), torch.stack([there, (there + 1) % nodes])), ("nodes", "index"))


def matrix(nodes=11, channels=3):
    a = (drawn(nodes, nodes, seed=5) > 0.3).float()
    return Given((drawn(nodes, channels), ((a + a.t()) > 0).float()), ("nodes", "pairs"))


def scatter(values, index, nodes, how="sum"):
    out = values.new_zeros(nodes, values.shape[1])
    if how == "sum":
        return out.index_add(0, index, values)
    rows = index[:, None].expand_as(values)
    return out.scatter_reduce(0, rows, values, {"mean": "mean", "max": "amax"}[how], include_self=False)


class Message(nn.Module):
    def __init__(self, cin, cout, how="sum", fault=""):
        super().__init__()
        self.how, self.fault = how, fault
        self.msg, self.upd = nn.Linear(2 * cin, cout), nn.Linear(cin + cout, cout)

    def forward(self, x, edge_index):
        src, dst = edge_index
        m = self.msg(torch.cat([x[src], x[dst]], -1))
        if self.fault == "cap":
            m, dst = m[:20], dst[:20]
        elif self.fault == "numbers of edges":
            m = m * (1 + 0.1 * torch.arange(len(m), dtype=m.dtype))[:, None]
        elif self.fault == "earlier nodes":
            m = m * (src < dst)[:, None]
        h = scatter(m, dst, len(x), self.how)
        if self.fault == "first node":
            h = torch.cat([h[:1] * 2, h[1:]])
        elif self.fault == "numbers of nodes":
            h = h + torch.sin(torch.arange(len(h), dtype=h.dtype))[:, None]
        elif self.fault == "neighbour":
            h = h + 0.2 * h.roll(1, 0)
        elif self.fault == "alternate":
            h = torch.where((torch.arange(len(h)) % 2 == 0)[:, None], h, -h)
        return self.upd(torch.cat([x, h], -1))


FAULTS = ("cap", "numbers of edges", "earlier nodes", "first node", "numbers of nodes", "neighbour", "alternate")


class Net(nn.Module):
    def __init__(self, how="sum", fault="", at=1, act=nn.ReLU, norm=nn.Identity, read="nodes", depth=3, cin=3, c=6):
        super().__init__()
        self.convs = nn.ModuleList(Message(c if k else cin, c, how, fault if k == at else "") for k in range(depth))
        self.norms = nn.ModuleList(norm(c) if norm is not nn.Identity else norm() for _ in range(depth))
        self.act = act()
        self.head = nn.Linear(c, 2)
        self.read = read

    def forward(self, x, edge_index):
        for conv, norm in zip(self.convs, self.norms):
            x = self.act(norm(conv(x, edge_index)))
        if self.read == "nodes":
            return self.head(x)
        if self.read == "vector":
            return self.head(x.mean(0))
        if self.read == "row":
            return self.head(x.sum(0, keepdim=True))
        if self.read == "number":
            return self.head(x.amax(0))[0].view(1)
        if self.read == "first":
            return self.head(x[0])
        return self.head(x.flatten()[: self.head.in_features])


def message_cases():
    found = []
    for k, fault in enumerate(FAULTS):
        how = ("sum", "mean", "max")[k % 3]
        act = (nn.ReLU, nn.Mish, nn.Hardswish, nn.PReLU)[k % 4]
        norm = (nn.Identity, nn.LayerNorm, nn.BatchNorm1d)[k % 3]
        sound = Case(
            f"messages, {how}, {act.__name__}, {norm.__name__}", partial(Net, how, act=act, norm=norm), graph,
            "permutation", ("nodes",),
        )  # fmt: skip
        found.append(sound)
        for at in (k % 3, (k + 1) % 3):
            found.append(sound.broken(f"{fault} in {at}", partial(Net, how, fault, at, act, norm), f"convs.{at}"))
    for read in ("vector", "row", "number"):
        found.append(Case(f"readout, {read}", partial(Net, read=read), graph, "permutation", ("fixed",)))
    whole = found[-3]
    found += [
        whole.broken("first node read", partial(Net, read="first")),
        whole.broken("cap in 2", partial(Net, fault="cap", at=2, read="vector"), "convs.2"),
        whole.broken("flattened", partial(Net, read="flat")),
    ]
    on_ring = Case("as many edges as nodes", Net, ring, "permutation", ("nodes",))
    equal = Case("as many channels as nodes", partial(Net, c=11), graph, "permutation", ("nodes",))
    thirty = Case(
        "30 channels on 30 nodes",
        partial(Net, cin=30, c=30, depth=2),
        partial(graph, 30, 30, 80),
        "permutation",
        ("nodes",),
    )
    for case, more in ((on_ring, {}), (equal, {"c": 11}), (thirty, {"cin": 30, "c": 30, "depth": 2})):
        made = partial(Net, fault="first node", **more)
        found += [case, case.broken("first node in 1", made, "convs.1", hooks=False)]
    # 3 + 6 channels joined, on 9 nodes
    for how, fault in (("mean", "neighbour"), ("max", "numbers of nodes")):
        joined = Case(
            f"joined channels as many as nodes, {how}", partial(Net, how), partial(graph, 9), "permutation", ("nodes",)
        )
        found += [joined, joined.broken(f"{fault} in 1", partial(Net, how, fault), "convs.1", hooks=False)]
    return found


class Attention(nn.Module):
    def __init__(self, c, heads, fault=""):
        super().__init__()
        self.heads, self.fault = heads, fault
        self.lin = nn.Linear(c, c, bias=False)
        self.att = nn.Parameter(torch.randn(2, heads, c // heads))

    def forward(self, x, edge_index):
        src, dst = edge_index
        h = self.lin(x).view(len(x), self.heads, -1)
        score = F.leaky_relu((h[src] * self.att[0]).sum(-1) + (h[dst] * self.att[1]).sum(-1), 0.2)
        if self.fault == "order":
            score = score + 1e-2 * torch.arange(len(score), dtype=x.dtype)[:, None]
        weight = (score - score.max()).exp()
        total = torch.zeros(len(x), self.heads, dtype=x.dtype).index_add(0, dst, weight)
        if self.fault == "not normalised":
            total = total.cumsum(0)
        weight = weight / total[dst]
        out = torch.zeros_like(h).index_add(0, dst, weight[..., None] * h[src])
        return out.flatten(1)


class GAT(nn.Module):
    def __init__(self, fault="", at=1, act=nn.ELU):
        super().__init__()
        self.enter = nn.Linear(3, 8)
        self.layers = nn.ModuleList(Attention(8, 2, fault if k == at else "") for k in range(3))
        self.act, self.out = act(), nn.Linear(8, 2)

    def forward(self, x, edge_index):
        x = self.enter(x)
        for layer in self.layers:
            x = x + self.act(layer(x, edge_index))
        return self.out(x)


class EdgeState(nn.Module):
    """Keeps a state at every edge beside that at every node."""

    def __init__(self, c, fault=""):
        super().__init__()
        self.edge, self.node = nn.Linear(3 * c, c), nn.Linear(2 * c, c)
        self.fault = fault

    def forward(self, x, e, edge_index):
        src, dst = edge_index
        e = e + torch.relu(self.edge(torch.cat([x[src], x[dst], e], 1)))
        if self.fault == "edges":
            e = e * torch.linspace(0.5, 1, len(e), dtype=e.dtype)[:, None]
        x = x + torch.tanh(self.node(torch.cat([x, scatter(e, dst, len(x))], 1)))
        if self.fault == "nodes":
            x = x + torch.linspace(0, 1, len(x), dtype=x.dtype)[:, None]
        return x, e


class EdgeNet(nn.Module):
    def __init__(self, fault="", at=1, read="both"):
        super().__init__()
        self.node, self.edge = nn.Linear(3, 5), nn.Linear(6, 5)
        self.blocks = nn.ModuleList(EdgeState(5, fault if k == at else "") for k in range(3))
        self.read = read

    def forward(self, x, edge_index):
        e = self.edge(torch.cat([x[edge_index[0]], x[edge_index[1]]], 1))
        x = self.node(x)
        for block in self.blocks:
            x, e = block(x, e, edge_index)
        return {"both": (x, e), "edges": e, "nodes": x, "turned": (e, x)}[self.read]


class Decoder(nn.Module):
    """Says how likely an edge is."""

    def __init__(self, how="dot", c=6):
        super().__init__()
        self.conv, self.pair = Message(3, c), nn.Linear(2 * c, 1)
        self.how = how

    def forward(self, x, edge_index):
        z = self.conv(x, edge_index)
        if self.how == "all pairs":
            return z @ z.t()
        if self.how == "triangle":
            return (z @ z.t()).triu()
        if self.how == "dot":
            return (z[edge_index[0]] * z[edge_index[1]]).sum(-1)
        return self.pair(torch.cat([z[edge_index[0]], z[edge_index[1]]], 1)).squeeze(-1)


def edge_cases():
    gat = Case("attention by hand", GAT, graph, "permutation", ("nodes",))
    found = [gat, replace(gat, name="attention by hand, mish", make=partial(GAT, act=nn.Mish))]
    for at, fault in enumerate(("order", "not normalised")):
        found.append(gat.broken(f"{fault} in {at + 1}", partial(GAT, fault, at + 1), f"layers.{at + 1}"))
    for read, out in (
        ("both", ("nodes", "edges")),
        ("edges", ("edges",)),
        ("nodes", ("nodes",)),
        ("turned", ("edges", "nodes")),
    ):
        sound = Case(f"edge states, {read}", partial(EdgeNet, read=read), graph, "permutation", out)
        found.append(sound)
        for at, fault in ((0, "edges"), (2, "edges"), (1, "nodes")):
            if (fault, at, read) != ("edges", 0, "both"):
                found.append(
                    sound.broken(f"{fault} in {at}", partial(EdgeNet, fault, at, read), f"blocks.{at}", hooks=False)
                )
    found = [c for c in found if not (c.name.endswith("edge states, nodes, edges in 2"))]
    on_ring = Case("edge states on a ring", EdgeNet, ring, "permutation", ("nodes", "edges"))
    found += [on_ring, on_ring.broken("edges in 1", partial(EdgeNet, "edges"), "blocks.1", hooks=False)]
    for how, out in (("dot", "edges"), ("mlp", "edges"), ("all pairs", "pairs")):
        found.append(Case(f"link decoder, {how}", partial(Decoder, how), graph, "permutation", (out,)))
    found.append(found[-1].broken("triangle", partial(Decoder, "triangle")))
    return found


class Dense(nn.Module):
    def __init__(self, cin, cout, norm="row", fault=""):
        super().__init__()
        self.lin, self.own = nn.Linear(cin, cout), nn.Linear(cin, cout, bias=False)
        self.norm, self.fault = norm, fault

    def forward(self, x, adj):
        if self.norm == "symmetric":
            d = (adj.sum(1) + 1).rsqrt()
            adj = d[:, None] * (adj + torch.eye(len(adj), dtype=adj.dtype)) * d
        elif self.norm == "row":
            adj = adj / adj.sum(1, keepdim=True).clamp(min=1)
        if self.fault == "triangle":
            adj = adj.triu() + 0.5 * adj.tril()
        elif self.fault == "banded":
            adj = adj * ((torch.arange(len(adj))[:, None] - torch.arange(len(adj))).abs() < 4)
        return self.lin(adj @ x) + self.own(x)


class DenseNet(nn.Module):
    def __init__(self, norm="row", fault="", at=1, c=5, act=nn.SiLU):
        super().__init__()
        self.layers = nn.ModuleList(Dense(c if k else 3, c, norm, fault if k == at else "") for k in range(3))
        self.act = act()

    def forward(self, x, adj):
        for layer in self.layers:
            x = self.act(layer(x, adj))
        return x


class Laplace(nn.Module):
    """A filter of powers of the Laplacian, made inside."""

    def __init__(self, order=3, fault=False):
        super().__init__()
        self.taps = nn.Parameter(torch.randn(order) / 3)
        self.out = nn.Linear(3, 2)
        self.fault = fault

    def forward(self, x, adj):
        lap = torch.diag(adj.sum(1)) - adj
        y, power = torch.zeros_like(x), x
        for k, tap in enumerate(self.taps):
            y = y + tap * power
            power = (lap.cumsum(0) if self.fault and k == 1 else lap) @ power / 5
        return self.out(y)


def dense_cases():
    found = []
    for k, norm in enumerate(("row", "symmetric", "none")):
        sound = Case(
            f"adjacency, {norm}",
            partial(DenseNet, norm, act=(nn.SiLU, nn.Mish, nn.CELU)[k]),
            matrix,
            "permutation",
            ("nodes",),
        )
        found.append(sound)
        for at, fault in ((k, "triangle"), ((k + 1) % 3, "banded")):
            found.append(sound.broken(f"{fault} in {at}", partial(DenseNet, norm, fault, at), f"layers.{at}"))
    nine = Case("adjacency, as many channels as nodes", partial(DenseNet, c=11), matrix, "permutation", ("nodes",))
    lap = Case("powers of the Laplacian", Laplace, matrix, "permutation", ("nodes",))
    return [
        *found, nine, nine.broken("banded in 1", partial(DenseNet, fault="banded", c=11), "layers.1", hooks=False),
        lap, lap.broken("a sum over rows", partial(Laplace, 3, True)),
    ]  # fmt: skip


CASES = (*message_cases(), *edge_cases(), *dense_cases())
