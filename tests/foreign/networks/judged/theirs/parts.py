"""Somebody's networks that take parts of what they are given: patches by unfolding, variables one by one."""

import torch
import torch.nn.functional as F
from clouds import maybe
from torch import nn


class Unfolds(nn.Module):
    """A transformer of patches that nn.Unfold cuts: pixels that are left over at the border are passed over."""

    def __init__(self, fault=0):
        super().__init__()
        self.cut, self.embed = nn.Unfold(4, stride=4), nn.Linear(16, 12)
        self.token = nn.Parameter(torch.randn(1, 1, 12))
        self.first, self.norm = maybe(fault, 1, 1), nn.LayerNorm(12)
        self.qkv, self.head = nn.Linear(12, 36), nn.Linear(12, 4)

    def forward(self, img):
        x = self.embed(self.cut(img).transpose(1, 2))
        x = self.norm(self.first(torch.cat([self.token.expand(len(x), -1, -1), x], 1)))
        q, k, v = self.qkv(x).chunk(3, -1)
        return self.head((x + (q @ k.transpose(1, 2)).softmax(-1) @ v)[:, 0])


class Variables(nn.Module):
    """(B, T, 3), each variable embedded by a layer of its own, as a temporal fusion transformer does."""

    def __init__(self, fault=0):
        super().__init__()
        self.embed = nn.ModuleList(nn.Linear(1, 8) for _ in range(3))
        self.select, self.conv, self.last = nn.Linear(24, 3), nn.Conv1d(8, 8, 3), maybe(fault, 3, 1)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        e = torch.stack([f(x[..., i : i + 1]) for i, f in enumerate(self.embed)], -2)
        h = (self.select(e.flatten(-2)).softmax(-1)[..., None] * e).sum(-2)
        h = torch.relu(self.conv(F.pad(h.transpose(1, 2), (2, 0)))).transpose(1, 2)
        return self.head(self.last(h))
