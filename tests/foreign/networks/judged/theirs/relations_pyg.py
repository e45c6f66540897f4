"""Somebody's networks of torch_geometric's layers."""

import torch
import torch.nn.functional as F
from clouds import maybe
from torch import nn
from torch_geometric.nn import (
    GATv2Conv,
    GINEConv,
    NNConv,
    Set2Set,
    TransformerConv,
    global_add_pool,
    global_max_pool,
)  # fmt: skip


class Gine(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.inp, self.edge = nn.Linear(5, 8), nn.Linear(3, 8)
        self.conv1 = GINEConv(nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8)))
        self.conv2 = GINEConv(nn.Linear(8, 8), train_eps=True)
        self.lin = nn.Linear(8, 1)
        self.first, self.middle = maybe(fault, 1, 0), maybe(fault, 2, 0)

    def forward(self, x, edge_index, edge_attr, batch=None):
        e = self.edge(self.first(edge_attr))
        h = self.conv1(self.inp(x), edge_index, e).relu()
        h = self.middle(self.conv2(h, edge_index, e))
        return self.lin(global_add_pool(h, batch))


class Attention(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.gat = GATv2Conv(6, 4, heads=2, dropout=0.2)
        self.tr = TransformerConv(8, 4, heads=2, concat=False, beta=True)
        self.middle, self.last = maybe(fault, 2, 0), maybe(fault, 3, 0)

    def forward(self, x, edge_index):
        h = self.middle(F.elu(self.gat(x, edge_index)))
        return self.last(self.tr(h, edge_index)).log_softmax(-1)


class EdgeNetwork(nn.Module):
    """`forward(self, data)`, bonds weigh whole matrices, the answer is read by Set2Set."""

    def __init__(self, fault=0):
        super().__init__()
        self.lin0 = nn.Linear(6, 8)
        self.conv = NNConv(8, 8, nn.Sequential(nn.Linear(2, 12), nn.ReLU(), nn.Linear(12, 64)), aggr="mean")
        self.gru, self.pool, self.out = nn.GRU(8, 8), Set2Set(8, processing_steps=2), nn.Linear(16, 1)
        self.last = maybe(fault, 3, 0)

    def forward(self, data):
        out = F.relu(self.lin0(data.x))
        h = out.unsqueeze(0)
        for _ in range(2):
            m = F.relu(self.conv(out, data.edge_index, data.edge_attr))
            out, h = self.gru(m.unsqueeze(0), h)
            out = out.squeeze(0)
        batch = getattr(data, "batch", None)
        batch = torch.zeros(len(out), dtype=torch.long) if batch is None else batch
        return self.out(self.pool(self.last(out), batch)).view(-1)


class Lists(nn.Module):
    """Returns a list of pooled layers."""

    def __init__(self, fault=0):
        super().__init__()
        self.convs = nn.ModuleList(GATv2Conv(k, 6) for k in (6, 6, 6))
        self.fault = fault

    def forward(self, x, edge_index):
        found = []
        for k, conv in enumerate(self.convs):
            x = conv(x, edge_index).tanh()
            if k + 1 == self.fault:
                x = x + 0.01 * x.flip(0)
            found.append(global_max_pool(x, None))
        return found
