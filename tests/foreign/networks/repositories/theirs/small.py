"""Networks whose answers are millionths, as rates and densities in their usual units are."""

import torch
from torch import nn


class Rate(nn.Module):
    """Add up what each place says of its distance to the middle; with a fault the middle is not theirs."""

    def __init__(self, fault=0):
        super().__init__()
        self.fault = fault
        self.f = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, pos):
        middle = 0.9 * pos.mean(1, keepdim=True) if self.fault else pos.mean(1, keepdim=True)
        apart = (pos - middle).norm(dim=-1, keepdim=True)
        return 1e-6 * self.f(apart).sum(1)


class Pairs(nn.Module):
    """Say something of each pair of members, of which nothing tells whether they have an order."""

    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 8))
        self.g = nn.Linear(8, 1)

    def forward(self, x):
        n = x.shape[1]
        one, other = x.unsqueeze(2).expand(-1, -1, n, -1), x.unsqueeze(1).expand(-1, n, -1, -1)
        return self.g(self.f(torch.cat([one, other], -1)).mean((1, 2)))
