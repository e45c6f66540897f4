"""Networks that say little of what they take: images of one size only, and volumes met by filters of the root."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class NonLocal(nn.Module):
    """Attention between all places of 16 x 16; the fault: a table of places added to the queries."""

    def __init__(self, width, table):
        super().__init__()
        self.theta, self.phi, self.g, self.out = (nn.Conv2d(width, width, 1) for _ in range(4))
        self.places = nn.Parameter(0.2 * torch.randn(1, width, 16, 16)) if table else None

    def forward(self, x):
        b, c, h, w = x.shape
        q = self.theta(x) if self.places is None else self.theta(x) + self.places
        q, k, v = q.flatten(2), self.phi(x).flatten(2), self.g(x).flatten(2)
        a = torch.softmax(q.transpose(1, 2) @ k / math.sqrt(c), -1)
        return x + self.out((a @ v.transpose(1, 2)).transpose(1, 2).reshape(b, c, h, w))


class Places(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.stem = nn.Conv2d(3, 6, 3, padding=1, padding_mode="circular")
        self.first, self.second = NonLocal(6, False), NonLocal(6, bool(fault))
        self.head = nn.Conv2d(6, 2, 1)
        self.register_buffer("window", torch.ones(16, 16))

    def forward(self, x):
        return self.head(self.second(self.first(self.stem(x) * self.window)))


class Cube(nn.Module):
    """Filters made symmetric under the 48 of the cube, kept by the network itself; the fault: one order left out."""

    def __init__(self, fault=0):
        super().__init__()
        self.weight = nn.Parameter(0.2 * torch.randn(4, 2, 3, 3, 3))
        self.head = nn.Conv3d(4, 2, 1)
        self.orders = [(2, 3, 4), (3, 4, 2), (4, 2, 3), (2, 4, 3), (4, 3, 2), (3, 2, 4)][: 5 if fault else 6]

    def filters(self):
        w = self.weight
        for axis in (2, 3, 4):
            w = w + w.flip(axis)
        return sum(w.permute(0, 1, *order) for order in self.orders) / 48

    def forward(self, x):
        return self.head(torch.relu(F.conv3d(x, self.filters(), padding=1)))


class Mixed(nn.Module):
    """Patches of 28 x 28 (29 x 29 makes as many) are told of their mean; the fault: by a dense layer over places."""

    def __init__(self, fault=0):
        super().__init__()
        self.patches, self.out = nn.Conv2d(3, 6, 4, 4), nn.Conv2d(6, 2, 1)
        self.mix = nn.Linear(49, 49)
        self.fault = fault

    def forward(self, x):
        h = self.patches(x).flatten(2)
        told = self.mix(h) if self.fault else h.mean(-1, keepdim=True) * self.mix.weight.sum()
        return self.out(torch.tanh(h + told).unflatten(2, (7, 7)))
