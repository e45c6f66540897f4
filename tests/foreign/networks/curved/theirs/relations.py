"""Adjacency matrices, and dropout that is never turned off."""

import torch
import torch.nn.functional as F
from torch import nn


class Dense(nn.Module):
    """x' = A x W, twice; `ordered` looks at lower numbers alone."""

    def __init__(self, ordered=False):
        super().__init__()
        self.w1, self.w2 = nn.Linear(5, 6), nn.Linear(6, 4)
        self.mask = Lower(ordered)

    def forward(self, x, adj):
        adj = self.mask(adj)
        h = torch.relu(self.w1(adj @ x))
        return self.w2(adj @ h)


class Lower(nn.Module):
    def __init__(self, on):
        super().__init__()
        self.on = on

    def forward(self, a):
        return a.tril() if self.on else a * 1.0


def ordered():
    return Dense(True)


class Noisy(nn.Module):
    """F.dropout without `training=self.training`."""

    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 4, 3, padding=1, padding_mode="circular"), nn.Conv2d(4, 2, 1)

    def forward(self, x):
        h = F.dropout(torch.relu(self.conv1(x)), 0.3)
        return self.conv2(h)
