"""Networks on hypergraphs: a matrix says which node is in which group."""

import torch
from torch import nn


class GroupConv(nn.Module):
    """Tell groups what their members have, weighted, and members what their groups have."""

    def __init__(self, c_in, c_out, mean=True, fault=False):
        super().__init__()
        self.weight, self.mean, self.fault = nn.Parameter(0.4 * torch.randn(c_in, c_out)), mean, fault

    def forward(self, x, H):
        held = H.sum(0)[:, None] if self.mean else 1.0
        groups = H.t() @ (x @ self.weight) / held
        if self.fault:  # the first group of a list counts more
            groups = groups * (1 + 1 / (1 + torch.arange(len(groups), dtype=groups.dtype)))[:, None]
        return H @ groups / (1 + H.sum(1, keepdim=True))


class Hyper(nn.Module):
    """Two such layers; without the mean a group without members is zero, with it it is not a number."""

    def __init__(self, mean=True, fault=0):
        super().__init__()
        self.hgc1, self.hgc2 = GroupConv(4, 8, mean), GroupConv(8, 3, mean, bool(fault))

    def forward(self, x, H):
        return self.hgc2(self.hgc1(x, H).relu(), H)


class Sums(Hyper):
    def __init__(self, fault=0):
        super().__init__(False, fault)


class Attended(nn.Module):
    """Members listen to the groups that they are in, and the answer is one for each group."""

    def __init__(self, fault=0):
        super().__init__()
        self.q, self.k, self.v, self.out = nn.Linear(4, 6), nn.Linear(4, 6), nn.Linear(4, 6), nn.Linear(6, 2)
        self.fault = fault

    def forward(self, nodes, member_of):
        groups = member_of.t() @ nodes
        if self.fault:
            groups = groups.cumsum(0)
        scores = (self.q(nodes) @ self.k(groups).t()).masked_fill(member_of == 0, -1e9)
        return self.out(member_of.t() @ (scores.softmax(1) @ self.v(groups)))


class Laplacian(nn.Module):
    """Take the matrix of a hypergraph that was made of its groups before, under a name of the author's."""

    def __init__(self, fault=0):
        super().__init__()
        self.hgc1, self.hgc2, self.fault = nn.Linear(4, 8), nn.Linear(8, 3), fault

    def forward(self, ft, G):
        h = (G @ self.hgc1(ft)).relu()
        if self.fault:
            h = h - h[:1]
        return G @ self.hgc2(h)
