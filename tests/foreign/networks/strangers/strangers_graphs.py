"""Graphs: messages by hand and by torch_geometric, matrices, spectra, pooling, states of edges; renumbered."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.foreign.case import Case, Given, drawn, pair

N, E = 11, 30


def joined(seed: int = 4) -> Tensor:
    """Both directions of fifteen edges of a connected graph without loops."""
    generator = torch.Generator().manual_seed(seed)
    tree = [(k, int(torch.randint(k, (1,), generator=generator))) for k in range(1, N)]
    more = [(a, b) for a in range(N) for b in range(a) if (a, b) not in tree]
    extra = [more[int(k)] for k in torch.randperm(len(more), generator=generator)[: E // 2 - len(tree)]]
    both = [pair for a, b in tree + extra for pair in ((a, b), (b, a))]
    return torch.tensor(both)[torch.randperm(E, generator=generator)].t().contiguous()


def graph() -> Given:
    return Given((drawn(N, 5), joined()), ("nodes", "index"))


def with_edges() -> Given:
    return Given((drawn(N, 5), joined(), drawn(E, 4, seed=1)), ("nodes", "index", "edges"))


def dense() -> Given:
    index = joined()
    adj = torch.zeros(N, N)
    adj[index[0], index[1]] = 1.0
    return Given((drawn(N, 5), adj), ("nodes", "pairs"))


class GCNLayer(nn.Module):
    def __init__(self, i: int, o: int) -> None:
        super().__init__()
        self.linear = nn.Linear(i, o, bias=False)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        row, col = edge_index
        deg = torch.zeros(len(x), dtype=x.dtype, device=x.device).index_add_(0, col, torch.ones_like(x[row, 0])) + 1
        norm = deg[row].rsqrt() * deg[col].rsqrt()
        h = self.linear(x)
        return (h / deg[:, None]).index_add(0, col, norm[:, None] * h[row])


class NodeNorm(nn.Module):
    """BatchNorm over nodes, as it should be; or over a transposed matrix, where each node has numbers of its own."""

    def __init__(self, dim: int, across: bool) -> None:
        super().__init__()
        self.bn, self.across = nn.BatchNorm1d(N if across else dim), across
        nn.init.uniform_(self.bn.running_var, 0.5, 2.0)
        nn.init.normal_(self.bn.running_mean)

    def forward(self, x: Tensor) -> Tensor:
        return self.bn(x.t()).t() if self.across else self.bn(x)


class GCN(nn.Module):
    def __init__(self, across: bool) -> None:
        super().__init__()
        self.convs = nn.ModuleList([GCNLayer(5, 8), GCNLayer(8, 8), GCNLayer(8, 3)])
        self.norms = nn.ModuleList([NodeNorm(8, False), NodeNorm(8, across)])

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        for conv, norm in zip(self.convs, self.norms):
            x = F.dropout(norm(conv(x, edge_index)).relu(), 0.5, self.training)
        return self.convs[-1](x, edge_index).log_softmax(-1)


class SegmentAttention(nn.Module):
    """Attention whose sums run along the list of edges; right only if that is sorted by where edges lead."""

    def __init__(self, i: int, o: int, by_runs: bool) -> None:
        super().__init__()
        self.lin, self.att, self.by_runs = nn.Linear(i, o), nn.Linear(2 * o, 1), by_runs

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        src, dst = edge_index
        h = self.lin(x)
        w = F.leaky_relu(self.att(torch.cat([h[src], h[dst]], -1)), 0.2).exp()
        if self.by_runs:
            ends = torch.bincount(dst, minlength=len(x)).cumsum(0)
            sums = F.pad((w * h[src]).cumsum(0), (0, 0, 1, 0))
            total = F.pad(w.cumsum(0), (0, 0, 1, 0))
            starts = F.pad(ends[:-1], (1, 0))
            return (sums[ends] - sums[starts]) / (total[ends] - total[starts]).clamp_min(1e-9)
        top = torch.zeros_like(h).index_add_(0, dst, w * h[src])
        return top / torch.zeros_like(h[:, :1]).index_add_(0, dst, w).clamp_min(1e-9)


class GAT(nn.Module):
    def __init__(self, by_runs: bool) -> None:
        super().__init__()
        self.heads = nn.ModuleList(SegmentAttention(5, 4, False) for _ in range(3))
        self.out_att = SegmentAttention(12, 4, by_runs)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = torch.cat([F.elu(head(x, edge_index)) for head in self.heads], dim=1)
        return F.elu(self.out_att(x, edge_index))


class GIN(nn.Module):
    def __init__(self, readout: str) -> None:
        super().__init__()
        dims = [5, 8, 8, 8]
        self.mlps = nn.ModuleList(
            nn.Sequential(nn.Linear(i, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, o)) for i, o in pairwise(dims)
        )
        self.eps = nn.ParameterList(nn.Parameter(torch.tensor(0.1 * k)) for k in range(3))
        self.pool = Readout(readout)
        self.classify = nn.Linear(24, 4)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        states = []
        for mlp, eps in zip(self.mlps, self.eps):
            x = mlp((1 + eps) * x + torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])).relu()
            states.append(x)
        return self.classify(self.pool(torch.cat(states, -1)))


class Readout(nn.Module):
    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def forward(self, x: Tensor) -> Tensor:
        if self.kind == "half":
            return x[: len(x) // 2].sum(0, keepdim=True)
        return x.sum(0, keepdim=True)


class SAGEMax(nn.Module):
    def __init__(self, i: int, o: int, last: bool) -> None:
        super().__init__()
        self.pool, self.lin, self.last = nn.Linear(i, o), nn.Linear(i + o, o), last

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        m = self.pool(x).relu()[edge_index[0]]
        best = torch.zeros(len(x), m.shape[1], dtype=m.dtype, device=m.device)
        if self.last:
            best[edge_index[1]] = torch.maximum(best[edge_index[1]], m)  # the last one written wins
        else:
            best = best.scatter_reduce(0, edge_index[1][:, None].expand_as(m), m, "amax", include_self=True)
        return F.normalize(self.lin(torch.cat([x, best], 1)), dim=-1)


class SAGE(nn.Module):
    def __init__(self, last: bool) -> None:
        super().__init__()
        self.layers = nn.ModuleDict({"one": SAGEMax(5, 8, False), "two": SAGEMax(8, 6, last)})

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        for layer in self.layers.values():
            x = layer(x, edge_index)
        return x


class EdgeStates(nn.Module):
    """States of directed edges hear their opposite; which is found by its ends, or taken to be the next in the list."""

    def __init__(self, i: int, e: int, by_number: bool) -> None:
        super().__init__()
        self.f, self.g, self.by_number = nn.Linear(2 * i + e, e), nn.Linear(i + e, i), by_number

    def forward(self, x: Tensor, edge_index: Tensor, e: Tensor) -> tuple[Tensor, Tensor]:
        src, dst = edge_index
        if self.by_number:
            back = torch.arange(e.shape[0], device=e.device) ^ 1
        else:
            back = (src[:, None] == dst).logical_and(dst[:, None] == src).to(e.dtype).argmax(1)
        e = e + torch.tanh(self.f(torch.cat([x[src], x[dst], e - e[back]], -1)))
        heard = torch.zeros(len(x), e.shape[1], dtype=e.dtype, device=e.device).index_add_(0, dst, e)
        return x + self.g(torch.cat([x, heard], -1)).relu(), e


class DMPNN(nn.Module):
    def __init__(self, by_number: bool) -> None:
        super().__init__()
        self.steps = nn.ModuleList([EdgeStates(5, 4, False), EdgeStates(5, 4, by_number)])

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> dict[str, Tensor]:
        for step in self.steps:
            x, edge_attr = step(x, edge_index, edge_attr)
        return {"x": x, "edge_attr": edge_attr, "energy": x.sum()[None]}


class GPool(nn.Module):
    """Gao and Ji, Graph U-Nets: the best half of nodes with their gates; or the gates in another order."""

    def __init__(self, dim: int, mixed: bool) -> None:
        super().__init__()
        self.p, self.mixed = nn.Parameter(torch.randn(dim)), mixed

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        score = torch.sigmoid(x @ self.p / self.p.norm())
        values, at = score.topk(len(x) // 2)
        return x[at] * (values[:, None] if not self.mixed else score[at.sort().values][:, None]), at


class GraphUNet(nn.Module):
    def __init__(self, mixed: bool) -> None:
        super().__init__()
        self.lift, self.pool, self.mid, self.up = nn.Linear(5, 6), GPool(6, mixed), nn.Linear(6, 6), nn.Linear(6, 3)

    def forward(self, x: Tensor, adj: Tensor) -> Tensor:
        a = adj + torch.eye(len(adj), dtype=adj.dtype, device=adj.device)
        a = a / a.sum(1, keepdim=True)
        h = (a @ self.lift(x)).relu()
        small, at = self.pool(h)
        small = (a[at][:, at] @ self.mid(small)).relu()
        return a @ self.up(h.index_add(0, at, small))


class DenseGCN(nn.Module):
    def __init__(self, upper: bool) -> None:
        super().__init__()
        self.w = nn.ParameterList([0.4 * torch.randn(5, 8), 0.4 * torch.randn(8, 4)])
        self.hear = nn.ModuleList([Hear(False), Hear(upper)])

    def forward(self, x: Tensor, adj: Tensor) -> tuple[Tensor, Tensor]:
        for w, hear in zip(self.w, self.hear):
            x = F.silu(hear(adj, x @ w))
        return x, torch.sigmoid(x @ x.T)


class Hear(nn.Module):
    def __init__(self, upper: bool) -> None:
        super().__init__()
        self.upper = upper

    def forward(self, adj: Tensor, h: Tensor) -> Tensor:
        a = adj.triu() if self.upper else adj
        return h + a @ h / adj.sum(-1, keepdim=True).clamp(min=1)


class Spectral(nn.Module):
    """Encodings by eigenvectors; their signs are a choice of the computer's unless one takes sizes."""

    def __init__(self, signed: bool) -> None:
        super().__init__()
        self.lin, self.signed = nn.Linear(3, 6), signed

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        n = len(x)
        a = torch.zeros(n, n, dtype=x.dtype, device=x.device).index_put_(tuple(edge_index), torch.ones_like(x[:1, 0]))
        v = torch.linalg.eigh(torch.diag(a.sum(1)) - a)[1][:, 1:4]
        return self.lin(v if self.signed else v.abs())


class WithSpectrum(nn.Module):
    def __init__(self, signed: bool) -> None:
        super().__init__()
        self.pe, self.inp = Spectral(signed), nn.Linear(5, 6)
        self.conv, self.head = GCNLayer(6, 6), nn.Linear(6, 2)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.head(F.gelu(self.conv(self.inp(x) + self.pe(x, edge_index), edge_index)))


class Few(nn.Module):
    """Hears all its neighbours, or the first two in the list."""

    def __init__(self, cap: int | None) -> None:
        super().__init__()
        self.lin, self.cap = nn.Linear(6, 6), cap

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h, out = self.lin(x), []
        for node in range(x.size(0)):
            near = edge_index[0][edge_index[1] == node][: self.cap]
            out.append(h[near].mean(0) if len(near) else h[node] * 0)
        return x + torch.stack(out).sigmoid()


class Sampled(nn.Module):
    def __init__(self, cap: int | None) -> None:
        super().__init__()
        self.embed, self.hops = nn.Linear(5, 6), nn.ModuleList([Few(None), Few(cap)])
        self.out = nn.Sequential(nn.LayerNorm(6), nn.Linear(6, 2))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = self.embed(x)
        for hop in self.hops:
            x = hop(x, edge_index)
        return self.out(x)


class Theirs(nn.Module):
    """Layers of torch_geometric; the fault: a table of nodes' own numbers, small beside what nodes hold."""

    def __init__(self, make: Callable[[int, int], nn.Module], size: float) -> None:
        super().__init__()
        from torch_geometric.nn import GraphNorm, global_mean_pool

        self.one, self.two, self.norm = make(5, 8), make(8, 8), GraphNorm(8)
        self.mark, self.readout = Mark(size), global_mean_pool
        self.head = nn.Linear(8, 3)

    def forward(self, x: Tensor, edge_index: Tensor) -> tuple[Tensor, Tensor]:
        x = self.mark(self.norm(self.one(x, edge_index)).relu())
        x = self.two(x, edge_index)
        return x, self.head(self.readout(x, None))


class Mark(nn.Module):
    def __init__(self, size: float) -> None:
        super().__init__()
        self.table = nn.Embedding(N, 8)
        self.size = size

    def forward(self, x: Tensor) -> Tensor:
        return x + self.size * self.table.weight[: len(x)] if self.size else x


def theirs(kind: str, size: float, **more: object) -> nn.Module:
    import torch_geometric.nn as pyg

    return Theirs(lambda i, o: getattr(pyg, kind)(i, o, **more), size)


class Lists(nn.Module):
    """A recurrent network reads nodes in the order of a list; or a sum of what it says to each."""

    def __init__(self, as_list: bool) -> None:
        super().__init__()
        self.gru, self.as_list = nn.GRU(6, 6, batch_first=True), as_list

    def forward(self, x: Tensor) -> Tensor:
        return self.gru(x[None])[1].view(1, 6) if self.as_list else self.gru(x[:, None])[1][0].mean(0, keepdim=True)


class ListReadout(nn.Module):
    def __init__(self, as_list: bool) -> None:
        super().__init__()
        self.conv, self.read, self.mlp = GCNLayer(5, 6), Lists(as_list), nn.Linear(6, 2)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.mlp(self.read(self.conv(x, edge_index).tanh()))


class InnerProduct(nn.Module):
    """Kipf and Welling's decoder; the fault: its lower half alone, as every pair is counted once."""

    def __init__(self, half: bool) -> None:
        super().__init__()
        self.half = half

    def forward(self, z: Tensor) -> Tensor:
        a = torch.sigmoid(z @ z.t())
        return a.tril() if self.half else a


class VGAE(nn.Module):
    def __init__(self, half: bool) -> None:
        super().__init__()
        self.base, self.mean, self.decode = GCNLayer(5, 8), GCNLayer(8, 4), InnerProduct(half)

    def forward(self, x: Tensor, edge_index: Tensor) -> tuple[Tensor, Tensor]:
        z = self.mean(self.base(x, edge_index).relu(), edge_index)
        return z, self.decode(z)


class DiffPool(nn.Module):
    def __init__(self, seeds: bool) -> None:
        super().__init__()
        self.assign, self.embed, self.seeds = nn.Linear(5, 3), nn.Linear(5, 6), seeds

    def forward(self, x: Tensor, adj: Tensor) -> tuple[Tensor, Tensor]:
        s = torch.cdist(x, x[:3]).neg().softmax(-1) if self.seeds else (adj @ self.assign(x)).softmax(-1)
        z = F.mish(adj @ self.embed(x))
        return s.mT @ z, s.mT @ adj @ s


class Beside(nn.Module):
    def __init__(self, half: bool) -> None:
        super().__init__()
        self.lift, self.half = nn.Linear(5, N), half

    def forward(self, x: Tensor, adj: Tensor) -> tuple[Tensor, Tensor]:
        h = (adj @ self.lift(x)).tanh()
        out = h @ h.t()
        return h, out.triu() if self.half else out


SAME = "permutation"
CASES: tuple[Case, ...] = (
    *pair("GCN, batch norm", lambda: GCN(False), lambda: GCN(True), ["norms.1"], graph, ("nodes",), SAME),
    *pair("GAT, sums along the list", lambda: GAT(False), lambda: GAT(True), ["out_att"], graph, ("nodes",), SAME),
    *pair("GIN, jumping knowledge", lambda: GIN("sum"), lambda: GIN("half"), ["pool"], graph, ("fixed",), SAME),
    *pair("GraphSAGE, maximum", lambda: SAGE(False), lambda: SAGE(True), ["layers.two"], graph, ("nodes",), SAME),
    *pair("directed edges", lambda: DMPNN(False), lambda: DMPNN(True), ["steps.1"], with_edges, ("nodes", "edges",
          "fixed"),
          SAME, hooks=False),
    *pair("Graph U-Net", lambda: GraphUNet(False), lambda: GraphUNet(True), ["pool"], dense, ("nodes",), SAME,
          hooks=False),
    *pair("a dense matrix", lambda: DenseGCN(False), lambda: DenseGCN(True), ["hear.1"], dense, ("nodes", "pairs"),
          SAME),
    *pair("eigenvectors", lambda: WithSpectrum(False), lambda: WithSpectrum(True), ["pe"], graph, ("nodes",), SAME,
          hooks=False),
    *pair("few neighbours", lambda: Sampled(None), lambda: Sampled(2), ["hops.1"], graph, ("nodes",), SAME),
    *pair("TransformerConv", lambda: theirs("TransformerConv", 0), lambda: theirs("TransformerConv", 1e-4), ["mark"],
          graph,
          ("nodes", "fixed"), SAME, hooks=False),
    *pair("GATv2 of theirs", lambda: theirs("GATv2Conv", 0), lambda: theirs("GATv2Conv", 1e-5), ["mark"], graph,
          ("nodes", "fixed"), SAME, hooks=False),
    *pair("a list of nodes", lambda: ListReadout(False), lambda: ListReadout(True), ["read", "read.gru"], graph,
          ("fixed",), SAME,
          hooks=False),
    *pair("VGAE", lambda: VGAE(False), lambda: VGAE(True), ["decode"], graph, ("nodes", "pairs"), SAME),
    # as many channels as nodes: a state of nodes is no matrix, and a matrix beside it is judged
    *pair("a matrix beside states", lambda: Beside(False), lambda: Beside(True), [], dense, ("nodes", "pairs"), SAME),
    *pair("DiffPool", lambda: DiffPool(False), lambda: DiffPool(True), [], dense, ("fixed", "fixed"), SAME),
)  # fmt: skip
