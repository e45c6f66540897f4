"""Somebody's PointNet++: points are sampled far from each other and hear their nearest ones; `fault` plants one."""

import torch
from torch import nn


def farthest(xyz, count):
    far = (xyz - xyz.mean(1, keepdim=True)).square().sum(-1).argmax(1)
    dist, rows, found = torch.full_like(xyz[..., 0], 1e10), torch.arange(len(xyz)), []
    for _ in range(count):
        found.append(far)
        dist = torch.minimum(dist, (xyz - xyz[rows, far][:, None]).square().sum(-1))
        far = dist.argmax(1)
    return torch.stack(found, 1)


def taken(values, numbers):
    return torch.stack([v[n] for v, n in zip(values, numbers)])


class SetAbstraction(nn.Module):
    def __init__(self, count, near, width, out):
        super().__init__()
        self.count, self.near = count, near
        self.mlp = nn.Sequential(nn.Linear(width + 3, out), nn.ReLU(), nn.Linear(out, out), nn.ReLU())

    def forward(self, xyz, features):
        centres = taken(xyz, farthest(xyz, self.count))
        near = torch.cdist(centres, xyz).topk(self.near, largest=False).indices
        groups = torch.cat([taken(xyz, near) - centres[:, :, None], taken(features, near)], -1)
        return centres, self.mlp(groups).amax(2)


class Numbered(nn.Module):
    """Scales what each point has by its number."""

    def forward(self, h):
        return h * torch.linspace(0.5, 1.5, h.shape[1]).to(h)[:, None]


class PointNet2(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.embed, self.mark = nn.Linear(3, 8), Numbered() if fault == 1 else nn.Identity()
        self.sa1, self.sa2 = SetAbstraction(12, 5, 8, 16), SetAbstraction(6, 4, 16, 16)
        self.head = nn.Linear(16, 5)

    def forward(self, xyz):
        features = self.mark(torch.relu(self.embed(xyz - xyz.mean(1, keepdim=True))))
        return self.head(self.sa2(*self.sa1(xyz, features))[1].amax(1))
