"""A file of somebody's networks on points, as it is handed to the command line: none says what it takes."""

import torch
from torch import nn


def mlp(a, b, h=8):
    return nn.Sequential(nn.Linear(a, h), nn.SiLU(), nn.Linear(h, b))


class Moving(nn.Module):
    """A network whose points move; a fault stretches space between its two rounds."""

    def __init__(self, stretch=1.0):
        super().__init__()
        self.embed, self.out, self.stretch = nn.Linear(5, 8), nn.Linear(8, 1), stretch
        self.message = nn.ModuleList(mlp(17, 8) for _ in range(2))
        self.along = nn.ModuleList(mlp(8, 1) for _ in range(2))

    def forward(self, x, pos, edge_index):
        i, j = edge_index
        h = self.embed(x)
        for message, along in zip(self.message, self.along):
            away = pos[i] - pos[j]
            m = message(torch.cat([h[i], h[j], (away**2).sum(1, keepdim=True)], 1))
            pos = pos + torch.zeros_like(pos).index_add(0, i, away * along(m) / 9)
            h = h + torch.zeros_like(h).index_add(0, i, m)
            pos = pos * pos.new_tensor([1.0, 1.0, self.stretch])
        return self.out(h).mean(0, keepdim=True), pos


class Stretched(Moving):
    def __init__(self):
        super().__init__(1.01)


class Distances(nn.Module):
    """A fault takes the absolute height of the first point."""

    def __init__(self, fault=False):
        super().__init__()
        self.near, self.out, self.fault = mlp(1, 8), mlp(8, 3), fault

    def forward(self, pos):
        h = self.near(torch.cdist(pos, pos)[..., None]).sum(-2)
        return self.out(h + 0.01 * pos[:, 2:] if self.fault else h)


class Heights(Distances):
    def __init__(self):
        super().__init__(True)


class Pairs(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.weigh, self.out = nn.Linear(6, 8), mlp(1, 8), mlp(8, 2)

    def forward(self, h, pos):
        apart = ((pos[:, None] - pos[None]) ** 2).sum(-1, keepdim=True)
        return self.out((torch.sigmoid(self.weigh(-apart)) * self.embed(h)[None]).sum(1))


class OfAtoms(Pairs):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)

    def forward(self, z, pos):
        return super().forward(z, pos)


class Turned(Pairs):
    def forward(self, coords, *, features):
        return super().forward(features, coords)


class Bodies(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = mlp(1, 1)

    def forward(self, pos, vel):
        away = pos[:, None] - pos[None]
        return vel + (self.f((away**2).sum(-1, keepdim=True)) * away).sum(1)


class OfData(Moving):
    def forward(self, data):
        return super().forward(data.x, data.pos, data.edge_index)


class Cloud(nn.Module):
    """Takes a batch of clouds under a name that tells nothing; its answer turns with none."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv1d(3, 8, 1), nn.Linear(8, 2)

    def forward(self, inputs):
        return self.b(torch.relu(self.a(inputs.transpose(1, 2))).amax(-1))
