"""Somebody's networks on edges between two sets of nodes; `fault` plants one, in the first set or in the second."""

import torch
import torch.nn.functional as F
from clouds import maybe
from torch import nn
from torch_geometric.nn import GATConv, SAGEConv


class Recommender(nn.Module):
    """Users hear of items and items of users."""

    def __init__(self, fault=0):
        super().__init__()
        self.user, self.item = nn.Linear(5, 8), nn.Linear(3, 8)
        self.to_item, self.to_user = nn.Linear(16, 8), nn.Linear(16, 4)
        self.first, self.middle, self.last = (maybe(fault, k, 0) for k in (1, 2, 3))

    def forward(self, x_user, x_item, edge_index):
        user, item = edge_index
        u, i = F.relu(self.first(self.user(x_user))), F.relu(self.middle(self.item(x_item)))
        i = F.relu(self.to_item(torch.cat([i, torch.zeros_like(i).index_add(0, item, u[user])], 1)))
        u = self.to_user(torch.cat([u, torch.zeros_like(u).index_add(0, user, i[item])], 1))
        return self.last(u), i


class Affinity(nn.Module):
    """A score for each edge, under names of one's own."""

    def __init__(self, fault=0):
        super().__init__()
        self.a, self.b = nn.Linear(4, 8), nn.Linear(6, 8)
        self.first = maybe(fault, 1, 0)
        self.score = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 1))

    def forward(self, drugs, targets, pairs):
        e = torch.cat([self.a(drugs)[pairs[0]], self.b(targets)[pairs[1]]], 1)
        return self.score(self.first(e)).squeeze(-1)


class Programme(nn.Module):
    """Variables and constraints with weights between them: one number."""

    def __init__(self, fault=0):
        super().__init__()
        self.v, self.c, self.out = nn.Linear(3, 8), nn.Linear(2, 8), nn.Linear(16, 1)
        self.first, self.last = maybe(fault, 1, 0), maybe(fault, 3, 0)

    def forward(self, variables, constraints, edge_index, edge_weight):
        v, c = self.first(torch.relu(self.v(variables))), self.c(constraints)
        c = c + torch.zeros_like(c).index_add(0, edge_index[1], v[edge_index[0]] * edge_weight[:, None])
        return self.out(torch.cat([v.mean(0), self.last(torch.relu(c)).mean(0)]))


class Towards(nn.Module):
    """Layers of torch_geometric that take a pair of widths."""

    def __init__(self, fault=0):
        super().__init__()
        self.conv = SAGEConv((4, 6), 8)
        self.gat = GATConv((4, 8), 5, heads=2, concat=False, add_self_loops=False)
        self.middle = maybe(fault, 2, 0)

    def forward(self, x_src, x_dst, edge_index):
        return self.gat((x_src, self.middle(F.relu(self.conv((x_src, x_dst), edge_index)))), edge_index)


class AsPair(nn.Module):
    """Both sets in one tuple."""

    def __init__(self, fault=0):
        super().__init__()
        self.conv, self.last = SAGEConv((4, 6), 8), maybe(fault, 3, 0)

    def forward(self, x, edge_index):
        source, target = x
        return self.last(F.relu(self.conv((source, target), edge_index)))


class Purchases(nn.Module):
    """Messages along edges whose attributes have a width of their own, beside that of either set."""

    def __init__(self, fault=0):
        super().__init__()
        self.message, self.out = nn.Linear(4 + 6 + 3, 8), nn.Linear(8 + 6, 2)
        self.middle = maybe(fault, 2, 0)

    def forward(self, buyers, goods, edge_index, edge_attr):
        s, t = edge_index
        m = F.relu(self.message(torch.cat([buyers[s], goods[t], edge_attr], -1)))
        told = torch.zeros(len(goods), 8, dtype=m.dtype, device=m.device).index_add(0, t, m)
        return self.out(self.middle(torch.cat([goods, told], -1)))
