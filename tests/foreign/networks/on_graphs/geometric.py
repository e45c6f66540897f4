"""Networks of torch_geometric: its convolutions, with what they ask for, its pooling, `forward(data)`."""

from __future__ import annotations

import copy
from functools import partial

import torch
from torch import nn

from tests.foreign.case import Case, Given, drawn
from tests.foreign.networks.on_graphs.graphs import edges, graph

WIDE = 8


def weighted():
    return Given((drawn(9, 3), edges(), drawn(26, seed=4).abs()), ("nodes", "index", "edges"))


def attributed():
    return Given((drawn(9, 3), edges(), drawn(26, 2, seed=4)), ("nodes", "index", "edges"))


def data():
    return Given((drawn(9, 3), edges()), ("nodes", "index"), form="data", names=("x", "edge_index"))


def data_with_edges():
    return Given(
        (drawn(9, 3), edges(), drawn(26, 2, seed=4)), ("nodes", "index", "edges"), form="data",
        names=("x", "edge_index", "edge_attr"),
    )  # fmt: skip


def convolution(kind, cin, cout):
    """Return one of torch_geometric's convolutions."""
    from torch_geometric import nn as gnn

    make = {
        "GCN": lambda: gnn.GCNConv(cin, cout),
        "SAGE": lambda: gnn.SAGEConv(cin, cout),
        "SAGE max": lambda: gnn.SAGEConv(cin, cout, aggr="max", project=True),
        "GAT": lambda: gnn.GATConv(cin, cout // 2, 2),
        "GATv2": lambda: gnn.GATv2Conv(cin, cout // 2, 2),
        "Cheb": lambda: gnn.ChebConv(cin, cout, 3),
        "GIN": lambda: gnn.GINConv(
            nn.Sequential(nn.Linear(cin, cout), nn.Mish(), nn.Linear(cout, cout)), train_eps=True
        ),
        "TAG": lambda: gnn.TAGConv(cin, cout),
        "Graph": lambda: gnn.GraphConv(cin, cout),
        "Transformer": lambda: gnn.TransformerConv(cin, cout // 2, 2),
        "SG": lambda: gnn.SGConv(cin, cout, 2),
        "ARMA": lambda: gnn.ARMAConv(cin, cout),
        "Cluster": lambda: gnn.ClusterGCNConv(cin, cout),
        "Edge": lambda: gnn.EdgeConv(nn.Linear(2 * cin, cout)),
        "LE": lambda: gnn.LEConv(cin, cout),
        "Gated": lambda: gnn.ResGatedGraphConv(cin, cout),
        "FiLM": lambda: gnn.FiLMConv(cin, cout),
        "Super": lambda: gnn.SuperGATConv(cin, cout // 2, 2),
        "MF": lambda: gnn.MFConv(cin, cout),
        "PNA": lambda: gnn.PNAConv(cin, cout, ["mean", "max"], ["identity"], torch.tensor([0, 3, 3, 2, 1])),
        "NN": lambda: gnn.NNConv(cin, cout, nn.Linear(2, cin * cout)),
        "CG": lambda: gnn.CGConv(cin, dim=2),
        "GINE": lambda: gnn.GINEConv(nn.Linear(cin, cout), edge_dim=2),
        "GAT of edges": lambda: gnn.GATConv(cin, cout // 2, 2, edge_dim=2),
        "GEN": lambda: gnn.GENConv(cin, cout, edge_dim=2),
        "GMM": lambda: gnn.GMMConv(cin, cout, dim=2, kernel_size=3),
    }
    return make[kind]()


class Numbered(nn.Module):
    """Knows the number of a node."""

    def forward(self, x):
        return x + 0.3 * torch.cos(torch.arange(len(x), dtype=x.dtype))[:, None]


class Net(nn.Module):
    def __init__(self, kind, fault=None, act=nn.ReLU):
        super().__init__()
        self.conv1 = convolution(kind, 3, 3 if kind == "CG" else WIDE)
        self.act = act()
        self.extra = fault() if fault else None
        self.conv2 = convolution(kind, 3 if kind == "CG" else WIDE, 4)

    def forward(self, x, edge_index):
        x = self.act(self.conv1(x, edge_index))
        if self.extra is not None:
            x = self.extra(x)
        return self.conv2(x, edge_index)


class WithEdges(Net):
    def forward(self, x, edge_index, edge_attr):
        x = self.act(self.conv1(x, edge_index, edge_attr))
        if self.extra is not None:
            x = self.extra(x)
        return self.conv2(x, edge_index, edge_attr)


class OfData(nn.Module):
    """Takes a Data, as the tutorials have it."""

    def __init__(self, read="nodes", fault=False):
        super().__init__()
        from torch_geometric import nn as gnn

        self.conv1, self.conv2 = gnn.GCNConv(3, WIDE), gnn.GCNConv(WIDE, 4)
        self.pool = gnn.global_mean_pool
        self.read, self.fault = read, fault

    def forward(self, data):
        x = self.conv1(data.x, data.edge_index).relu()
        if self.fault:
            x = torch.cat([x[:1] * 0, x[1:]])
        x = self.conv2(nn.functional.dropout(x, training=self.training), data.edge_index)
        return x if self.read == "nodes" else self.pool(x, data.batch)


class OfDataWithEdges(OfData):
    def __init__(self, fault=False):
        super().__init__()
        self.conv1, self.conv2 = convolution("GINE", 3, WIDE), convolution("GINE", WIDE, 4)
        self.fault = fault

    def forward(self, data):
        x = self.conv1(data.x, data.edge_index, data.edge_attr).relu()
        if self.fault:
            x = x.cumsum(0)
        return self.conv2(x, data.edge_index, data.edge_attr)


class Pooled(nn.Module):
    def __init__(self, how, fault=False):
        super().__init__()
        from torch_geometric import nn as gnn

        self.conv = gnn.GraphConv(3, WIDE)
        pools = {
            "mean": gnn.MeanAggregation,
            "max": gnn.MaxAggregation,
            "softmax": partial(gnn.SoftmaxAggregation, learn=True),
            "std": gnn.StdAggregation,
            "median": gnn.MedianAggregation,
            "sort": partial(gnn.SortAggregation, 4),
            "set2set": partial(gnn.Set2Set, WIDE, 2),
            "attention": lambda: gnn.AttentionalAggregation(nn.Linear(WIDE, 1)),
            "lstm": lambda: gnn.LSTMAggregation(WIDE, WIDE),
        }
        self.pool = pools[how]()
        self.out = nn.LazyLinear(2)
        self.out(torch.zeros(1, {"sort": 4 * WIDE, "set2set": 2 * WIDE}.get(how, WIDE)))
        self.fault = fault

    def forward(self, x, edge_index):
        x = self.conv(x, edge_index).tanh()
        if self.fault:
            x = x[: len(x) - 1]
        return self.out(self.pool(x, torch.zeros(len(x), dtype=torch.long)))


class Own(nn.Module):
    """Wraps a MessagePassing of one's own."""

    def __init__(self, aggr="add", fault=""):
        super().__init__()
        from torch_geometric.nn import MessagePassing

        class Layer(MessagePassing):
            def __init__(self, cin, cout, broken):
                super().__init__(aggr=aggr)
                self.lin = nn.Linear(2 * cin, cout)
                self.broken = broken

            def forward(self, x, edge_index):
                return self.propagate(edge_index, x=x)

            def message(self, x_i, x_j):
                m = self.lin(torch.cat([x_i, x_j - x_i], -1))
                if self.broken == "drop":
                    m = m * (torch.arange(len(m)) % 5 > 0)[:, None]
                elif self.broken == "order":
                    m = m + 0.01 * torch.arange(len(m), dtype=m.dtype)[:, None]
                return m

        self.first, self.second = Layer(3, 6, ""), Layer(6, 6, fault)
        self.norm = nn.LayerNorm(6)
        self.out = nn.Linear(6, 2)

    def forward(self, x, edge_index):
        return self.out(self.second(self.norm(self.first(x, edge_index)).relu(), edge_index))


PLAIN = (
    "GCN",
    "SAGE",
    "SAGE max",
    "GAT",
    "GATv2",
    "Cheb",
    "GIN",
    "TAG",
    "Graph",
    "Transformer",
    "SG",
    "ARMA",
    "Cluster",
    "Edge",
    "LE",
    "Gated",
    "FiLM",
    "Super",
    "MF",
    "PNA",
)
OF_EDGES = ("NN", "GINE", "GAT of edges", "GEN", "GMM")
OF_WEIGHTS = ("GCN", "Graph", "TAG", "LE")


def convolution_cases():
    found = []
    for k, kind in enumerate(PLAIN):
        act = (nn.ReLU, nn.Mish, nn.PReLU, nn.CELU)[k % 4]
        sound = Case(f"{kind}, {act.__name__}", partial(Net, kind, act=act), graph, "permutation", ("nodes",))
        found.append(sound)
        if k % 3 == 0:
            found.append(sound.broken("numbered", partial(Net, kind, Numbered, act), "extra", hooks=kind != "MF"))
    for k, kind in enumerate(OF_EDGES):
        sound = Case(f"{kind}, edge_attr", partial(WithEdges, kind), attributed, "permutation", ("nodes",))
        found.append(sound)
        if k % 2 == 0:
            found.append(
                sound.broken("numbered", partial(WithEdges, kind, Numbered), "extra", hooks=kind != "GAT of edges")
            )
    for kind in OF_WEIGHTS:
        found.append(Case(f"{kind}, edge_weight", partial(WithEdges, kind), weighted, "permutation", ("nodes",)))
    found.append(found[-1].broken("numbered", partial(WithEdges, OF_WEIGHTS[-1], Numbered), "extra"))
    return found


def other_cases():
    found = []
    for read, out in (("nodes", "nodes"), ("graph", "fixed")):
        sound = Case(f"forward(data), {read}", partial(OfData, read), data, "permutation", (out,))
        found += [sound, sound.broken("first node", partial(OfData, read, True))]
    sound = Case("forward(data), edge_attr", OfDataWithEdges, data_with_edges, "permutation", ("nodes",))
    found += [sound, sound.broken("a running sum", partial(OfDataWithEdges, True))]
    for how in ("mean", "max", "softmax", "std", "median", "sort", "set2set", "attention"):
        found.append(Case(f"pooling, {how}", partial(Pooled, how), graph, "permutation", ("fixed",)))
    found += [
        found[-1].broken("the last node left out", partial(Pooled, "attention", True)),
        found[-8].broken("by an LSTM", partial(Pooled, "lstm"), "pool", "pool.lstm", hooks=False),
    ]
    own = Case("messages of one's own", Own, graph, "permutation", ("nodes",))
    most = Case("messages of one's own, max", partial(Own, "max"), graph, "permutation", ("nodes",))
    return [
        *found, own, own.broken("dropped by number", partial(Own, "add", "drop"), "second"),
        own.broken("added by number", partial(Own, "add", "order"), "second"),
        most, most.broken("dropped by number", partial(Own, "max", "drop"), "second"),
        Case("a copy of a network", lambda: copy.deepcopy(Own()), graph, "permutation", ("nodes",)),
    ]  # fmt: skip


CASES = (*convolution_cases(), *other_cases())
