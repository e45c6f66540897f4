"""Whole networks on graphs, sets and sequences, as in tutorials and papers' code: by order, by name, as Data."""

from __future__ import annotations

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from tests.foreign.case import Case, Given, drawn
from tests.foreign.networks.on_graphs.graphs import edges, scatter
from tests.foreign.networks.on_sequences.sequences import series


def graph(*more, acts=(), names=(), form="call", nodes=10, count=28):
    args = (drawn(nodes, 3), edges(nodes, count), *(m(nodes, count) for m in more))
    return Given(args, ("nodes", "index", *acts), form=form, names=names)


def belonging(nodes, count):
    return torch.tensor([0, 0, 0, 0, 1, 1, 1, 2, 2, 2])


def strengths(nodes, count):
    return drawn(count, 2, seed=4)


def kinds(nodes, count):
    return torch.arange(count) % 3


BY_NAME = {"form": "data", "names": ("x", "edge_index", "batch")}


class Pooled(nn.Module):
    """Convolutions of torch_geometric, then one answer a graph."""

    def __init__(self, conv="GCN", pool="mean", fault="", jump=False, data=False):
        super().__init__()
        from torch_geometric import nn as gnn

        def make(cin, cout):
            mlp = nn.Sequential(nn.Linear(cin, cout), nn.BatchNorm1d(cout), nn.ReLU(), nn.Linear(cout, cout))
            return {
                "GCN": lambda: gnn.GCNConv(cin, cout),
                "GIN": lambda: gnn.GINConv(mlp),
                "GAT": lambda: gnn.GATConv(cin, cout // 2, heads=2, dropout=0.3),
                "SAGE": lambda: gnn.SAGEConv(cin, cout, aggr="max"),
                "Graph": lambda: gnn.GraphConv(cin, cout),
            }[conv]()

        self.conv1, self.conv2 = make(3, 8), make(8, 8)
        self.norm = gnn.GraphNorm(8)
        self.pool = {"mean": gnn.global_mean_pool, "add": gnn.global_add_pool, "max": gnn.global_max_pool}[pool]
        self.lin, self.fault, self.jump, self.data = nn.Linear(16 if jump else 8, 2), fault, jump, data

    def forward(self, x, edge_index=None, batch=None):
        if self.data:
            x, edge_index, batch = x.x, x.edge_index, x.batch
        a = F.relu(self.norm(self.conv1(x, edge_index), batch))
        if self.fault == "numbers":
            a = a + torch.linspace(-1, 1, len(a)).to(a)[:, None]
        b = F.elu(self.conv2(F.dropout(a, 0.5, self.training), edge_index))
        h = torch.cat([a, b], 1) if self.jump else b
        if self.fault == "running":
            h = h.cumsum(0)
        return F.log_softmax(self.lin(self.pool(h, batch)), dim=-1)


class Attributed(nn.Module):
    """Convolutions that need what lies on edges."""

    def __init__(self, conv="GINE", fault=False):
        super().__init__()
        from torch_geometric import nn as gnn

        def make(cin, cout):
            mlp = nn.Sequential(nn.Linear(cin, cout), nn.SiLU(), nn.Linear(cout, cout))
            return {
                "GINE": lambda: gnn.GINEConv(mlp, edge_dim=2),
                "Transformer": lambda: gnn.TransformerConv(cin, cout // 2, heads=2, edge_dim=2),
                "NN": lambda: gnn.NNConv(cin, cout, nn.Linear(2, cin * cout)),
                "CG": lambda: gnn.CGConv(cin, 2),
                "General": lambda: gnn.GATv2Conv(cin, cout, edge_dim=2),
            }[conv]()

        self.enter, self.conv1, self.conv2 = nn.Linear(3, 6), make(6, 6), make(6, 6)
        self.out, self.fault = nn.Linear(6, 1), fault

    def forward(self, x, edge_index, edge_attr):
        h = self.conv1(self.enter(x), edge_index, edge_attr).relu()
        if self.fault:
            edge_attr = edge_attr.roll(1, 0)
        return self.out(self.conv2(h, edge_index, edge_attr))


class Relational(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        from torch_geometric.nn import RGCNConv

        self.conv1, self.conv2 = RGCNConv(3, 6, 3), RGCNConv(6, 2, 3)
        self.fault = fault

    def forward(self, x, edge_index, edge_type):
        h = self.conv1(x, edge_index, edge_type).tanh()
        return self.conv2(h - h[:1] if self.fault else h, edge_index, edge_type)


class Molecule(nn.Module):
    """Numbers of atoms and places in space: continuous filters of distances."""

    def __init__(self, fault=False):
        super().__init__()
        self.embedding, self.fault = nn.Embedding(10, 8), fault
        self.filter = nn.Sequential(nn.Linear(6, 8), nn.Softplus(), nn.Linear(8, 8))
        self.update = nn.Linear(8, 8)
        self.energy = nn.Sequential(nn.Linear(8, 4), nn.SiLU(), nn.Linear(4, 1))
        self.register_buffer("centres", torch.linspace(0, 3, 6))

    def forward(self, z, pos, edge_index):
        h = self.embedding(z)
        src, dst = edge_index
        far = (pos[src] - pos[dst]).norm(dim=-1, keepdim=True)
        w = self.filter(torch.exp(-((far - self.centres) ** 2)))
        for _ in range(2):
            h = h + torch.tanh(self.update(scatter(w * h[src], dst, len(h))))
        return self.energy(h[:1] if self.fault else h).sum(0)


def molecule(form="call"):
    z = torch.tensor([1, 6, 6, 8, 1, 1, 7, 3, 1])
    names = ("z", "pos", "edge_index")
    return Given((z, drawn(9, 3, seed=3), edges()), ("nodes", "nodes", "index"), form=form, names=names)


class Dense(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        self.w1, self.w2, self.fault = nn.Linear(3, 6), nn.Linear(6, 2), fault

    def forward(self, x, adj):
        a = adj + torch.eye(len(adj)).to(adj)
        d = a.sum(1).rsqrt()
        a = d[:, None] * a * d
        h = F.relu(a @ self.w1(x))
        return a @ self.w2(h.flip(0) if self.fault else h)


def dense(form="call"):
    a = (drawn(10, 10, seed=5) > 0.3).float()
    return Given((drawn(10, 3), ((a + a.t()) > 0).float()), ("nodes", "pairs"), form=form, names=("x", "adj"))


# sets -----------------------------------------------------------------------------------------------------


def points(count=12, batch=True):
    x = drawn(count, 3)
    return Given((x[None] if batch else x,), ("nodes@1" if batch else "nodes",))


class MAB(nn.Module):
    """Attention of one set to another."""

    def __init__(self, dim, heads=2):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim) for _ in range(4))
        self.ln0, self.ln1 = nn.LayerNorm(dim), nn.LayerNorm(dim)

    def forward(self, x, y):
        q, k, v = self.q(x), self.k(y), self.v(y)
        q_, k_, v_ = (torch.cat(t.split(t.shape[-1] // self.heads, -1), 0) for t in (q, k, v))
        a = torch.softmax(q_.bmm(k_.transpose(1, 2)) / q.shape[-1] ** 0.5, 2)
        o = self.ln0(torch.cat((q_ + a.bmm(v_)).split(q.shape[0], 0), 2))
        return self.ln1(o + F.relu(self.o(o)))


class ISAB(nn.Module):
    def __init__(self, dim, inducing=3):
        super().__init__()
        self.points = nn.Parameter(torch.randn(1, inducing, dim))
        self.mab0, self.mab1 = MAB(dim), MAB(dim)

    def forward(self, x):
        return self.mab1(x, self.mab0(self.points.expand(len(x), -1, -1), x))


class SetTransformer(nn.Module):
    def __init__(self, fault=False, read=True):
        super().__init__()
        self.enter = nn.Linear(3, 8)
        self.enc = nn.Sequential(ISAB(8), ISAB(8))
        self.place = nn.Parameter(torch.randn(12, 8)) if fault else None
        self.seed, self.pma = nn.Parameter(torch.randn(1, 1, 8)), MAB(8)
        self.dec, self.read = nn.Linear(8, 2), read

    def forward(self, x):
        h = self.enc(self.enter(x))
        h = h if self.place is None else h + self.place
        return self.dec(self.pma(self.seed.expand(len(h), -1, -1), h)).squeeze(1) if self.read else self.dec(h)


class PointNet(nn.Module):
    """Points as channels of a 1-D convolution, a learnt linear map of space, a maximum."""

    def __init__(self, fault=False):
        super().__init__()
        self.t = nn.Sequential(nn.Conv1d(3, 8, 1), nn.ReLU(), nn.Conv1d(8, 8, 1))
        self.fc = nn.Linear(8, 9)
        self.mlp = nn.Sequential(nn.Conv1d(3, 8, 3 if fault else 1, padding=int(fault)), nn.BatchNorm1d(8), nn.ReLU())
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        x = x.transpose(1, 2)
        turn = self.fc(self.t(x).amax(2)).view(-1, 3, 3) + torch.eye(3).to(x)
        return self.head(self.mlp(turn @ x).amax(2))


class DeepSet(nn.Module):
    def __init__(self, fault=""):
        super().__init__()
        self.phi = nn.Sequential(nn.Linear(3, 8), nn.ELU(), nn.Linear(8, 8), nn.ELU())
        self.rho = nn.Sequential(nn.Linear(16, 6), nn.ELU(), nn.Linear(6, 1))
        self.fault = fault

    def forward(self, x):
        h = self.phi(x)
        tail = h[1:] if self.fault == "first" else h
        return self.rho(torch.cat([h.mean(0), tail.std(0)]))


class Perceiver(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        self.latents = nn.Parameter(torch.randn(1, 4, 8))
        self.enter = nn.Linear(3, 8)
        self.cross = nn.MultiheadAttention(8, 2, batch_first=True)
        self.self_attn = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.1)
        self.out, self.fault = nn.Linear(8, 2), fault

    def forward(self, x):
        x = self.enter(x)
        if self.fault:
            x = x * torch.linspace(0.5, 1.5, x.shape[1]).to(x)[:, None]
        h, _ = self.cross(self.latents.expand(len(x), -1, -1), x, x)
        return self.out(self.self_attn(h).mean(1))


# sequences ------------------------------------------------------------------------------------------------


class WaveNet(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        self.enter = nn.Conv1d(2, 6, 1)
        self.dilated = nn.ModuleList(nn.Conv1d(6, 12, 2, dilation=2**k) for k in range(3))
        self.skips, self.out = nn.ModuleList(nn.Conv1d(6, 6, 1) for _ in range(3)), nn.Conv1d(6, 2, 1)
        self.fault = fault

    def forward(self, x):
        x, total = self.enter(x), 0.0
        for k, (conv, skip) in enumerate(zip(self.dilated, self.skips)):
            if self.fault and k == 2:
                x = x + 0.1 * torch.linspace(0, 1, x.shape[-1]).to(x)
            a, b = conv(F.pad(x, (2**k, 0))).chunk(2, 1)
            h = torch.tanh(a) * torch.sigmoid(b)
            total = total + skip(h)
            x = x + h
        return self.out(F.relu(total))


class Block(nn.Module):
    """A temporal block with chomps and old weight norm."""

    def __init__(self, cin, cout, d):
        super().__init__()
        self.conv1 = nn.utils.weight_norm(nn.Conv1d(cin, cout, 3, padding=2 * d, dilation=d))
        self.conv2 = nn.utils.weight_norm(nn.Conv1d(cout, cout, 3, padding=2 * d, dilation=d))
        self.down = nn.Conv1d(cin, cout, 1) if cin != cout else None
        self.d = d

    def forward(self, x):
        h = F.relu(self.conv1(x)[..., : -2 * self.d])
        h = F.relu(self.conv2(h)[..., : -2 * self.d])
        return F.relu(h + (x if self.down is None else self.down(x)))


class TCN(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        self.net = nn.Sequential(Block(2, 5, 1), Block(5, 5, 2))
        self.norm = nn.GroupNorm(1, 5) if fault else nn.Identity()
        self.head = nn.Linear(5, 2)

    def forward(self, x):
        return self.head(self.norm(self.net(x)).transpose(1, 2))


class Siamese(nn.Module):
    """Any network, shown a sequence and its reverse."""

    def __init__(self, steps=True, fault=0.0):
        super().__init__()
        self.net = nn.Sequential(nn.Conv1d(2, 6, 5, padding=2), nn.GELU(), nn.Conv1d(6, 3, 3, padding=1))
        self.steps, self.fault = steps, fault

    def forward(self, x):
        y, other = self.net(x), self.net(x.flip(-1))
        y = y + (1 - self.fault) * other.flip(-1)
        return y if self.steps else y.amax(-1)


class Fourier(nn.Module):
    """Filters in the frequencies of the sequence; real ones are even."""

    def __init__(self, fault=False):
        super().__init__()
        self.lift, self.drop = nn.Conv1d(2, 4, 1), nn.Conv1d(4, 2, 1)
        self.w = nn.ParameterList(nn.Parameter(torch.randn(4, 4, 9)) for _ in range(2))
        self.phase = nn.Parameter(torch.randn(9)) if fault else None

    def forward(self, x):
        x = self.lift(x)
        for w in self.w:
            f = torch.fft.rfft(x)
            g = torch.einsum("nct,cdt->ndt", f[..., :9], w.to(f.dtype))
            if self.phase is not None:
                g = g * torch.exp(1j * self.phase)
            x = F.gelu(x + torch.fft.irfft(F.pad(g, (0, f.shape[-1] - 9)), x.shape[-1]))
        return self.drop(x)


class Tagger(nn.Module):
    """Begins with numbers of symbols."""

    def __init__(self, rnn=False, mean=True):
        super().__init__()
        self.table = nn.Embedding(20, 6)
        self.conv = nn.Conv1d(6, 6, 3, padding=1)
        self.rnn = nn.LSTM(6, 4, batch_first=True, bidirectional=True) if rnn else None
        self.out, self.mean = nn.Linear(8 if rnn else 6, 3), mean

    def forward(self, input_ids, attention_mask):
        h = self.table(input_ids) * attention_mask[..., None]
        if self.rnn is not None:
            h = self.rnn(h)[0]
        else:
            x = h.transpose(1, 2)
            h = (self.conv(x) + self.conv(x.flip(-1)).flip(-1)).relu().transpose(1, 2)
        return self.out(h.mean(1) if self.mean else h)


def symbols():
    ids = torch.randint(20, (1, 15), generator=torch.Generator().manual_seed(4))
    return Given((ids, torch.ones_like(ids)), ("steps@1", "steps@1"), "mapping", ("input_ids", "attention_mask"))


class Compared(nn.Module):
    """Tells how far two pictures are from each other."""

    def __init__(self, mode="circular"):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, 3, 3, padding=1, padding_mode=mode), nn.ReLU(True))

    def forward(self, anchor, other):
        return (self.net(anchor) - self.net(other)).square().mean((1, 2, 3))


def compared(form="call"):
    return Given((drawn(2, 1, 8, 8), drawn(2, 1, 8, 8, seed=9)), ("grid", "grid"), form, ("anchor", "other"))


def pair(name, make, faulty, culprit, given, out, group="permutation", **more):
    sound = Case(name, make, given, group, (out,), **{"hooks": False, **more})
    return [sound, sound.broken("a fault", faulty, *culprit)]


def pooled(name, data, fault="numbers", **how):
    batch = partial(graph, belonging, acts=("nodes",), **(BY_NAME if data else {}))
    return pair(
        name, partial(Pooled, data=data, **how), partial(Pooled, data=data, fault=fault, **how), [], batch, "fixed"
    )


def attributed(conv, form="call"):
    names = ("x", "edge_index", "edge_attr")
    given = partial(graph, strengths, acts=("edges",), form=form, names=names)
    return pair(
        f"{conv} with attributes, {form}",
        partial(Attributed, conv),
        partial(Attributed, conv, True),
        [],
        given,
        "nodes",
    )


CASES = (
    *pooled("GCN as Data", True), *pooled("GIN, jumps", False, "running", conv="GIN", pool="add", jump=True),
    *pooled("GAT as Data", True, "running", conv="GAT", pool="max"), *pooled("SAGE", False, conv="SAGE"),
    *pooled("GraphConv as Data, jumps", True, "running", conv="Graph", jump=True),
    *attributed("GINE"), *attributed("Transformer", "mapping"), *attributed("NN"), *attributed("CG", "mapping"),
    *attributed("General"),
    *pair(
        "relations", Relational, partial(Relational, True), [], partial(graph, kinds, acts=("edges",)), "nodes"
    ),
    *pair("molecule by name", Molecule, partial(Molecule, True), [], partial(molecule, "mapping"), "fixed"),
    *pair("molecule", Molecule, partial(Molecule, True), [], molecule, "fixed"),
    *pair("dense adjacency", Dense, partial(Dense, True), [], dense, "nodes"),
    *pair("dense adjacency by name", Dense, partial(Dense, True), [], partial(dense, "mapping"), "nodes"),
    *pair("set transformer", SetTransformer, partial(SetTransformer, True), [], points, "fixed"),
    *pair(
        "set encoder", partial(SetTransformer, read=False), partial(SetTransformer, True, False), [], points, "nodes@1"
    ),
    *pair("PointNet", PointNet, partial(PointNet, True), ["mlp.0"], points, "fixed"),
    *pair("deep set", DeepSet, partial(DeepSet, "first"), [], partial(points, batch=False), "fixed"),
    *pair("latents", Perceiver, partial(Perceiver, True), [], points, "fixed"),
    *pair("WaveNet", WaveNet, partial(WaveNet, True), [], series, "steps@2", "shift", inside=9),
    *pair("TCN", TCN, partial(TCN, True), ["norm"], series, "steps@1", "shift", inside=13),
    *pair("both ways, steps", Siamese, partial(Siamese, fault=0.1), [], series, "steps@2", "reversal"),
    *pair(
        "both ways, maximum", partial(Siamese, False), partial(Siamese, False, 0.5), [], series, "fixed", "reversal"
    ),
    *pair("symbols, mean", Tagger, partial(Tagger, True), ["rnn"], symbols, "fixed", "reversal"),
    *pair("symbols, each", partial(Tagger, mean=False), partial(Tagger, True, False), ["rnn"], symbols, "steps@1",
          "reversal"),
    *pair("two pictures", Compared, partial(Compared, "zeros"), ["net.0", "net.0#2"], compared, "fixed", "translation"),
    *pair("two pictures by name", Compared, partial(Compared, "zeros"), ["net.0", "net.0#2"],
          partial(compared, "mapping"), "fixed", "translation"),
    *pair("real frequencies", Fourier, partial(Fourier, True), [], series, "steps@2", "reversal"),
)  # fmt: skip
