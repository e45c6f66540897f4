"""Somebody's networks on volumes (B, C, D, H, W); `fault` plants one."""

import torch
import torch.nn.functional as F
from torch import nn


class Depth(nn.Module):
    """Weighs slices by their number: the planted fault."""

    def __init__(self, by=1e-2):
        super().__init__()
        self.by = by

    def forward(self, x):
        return x * (1 + self.by * torch.linspace(0, 1, x.shape[2], dtype=x.dtype))[:, None, None]


def maybe(fault, here):
    return Depth() if fault == here else nn.Identity()


class Pointwise(nn.Module):
    """Convolutions of size one and a pool over everything."""

    def __init__(self, fault=0):
        super().__init__()
        self.a, self.b, self.fc = nn.Conv3d(1, 6, 1), nn.Conv3d(6, 6, 1), nn.Linear(6, 2)
        self.norm = nn.InstanceNorm3d(6)
        self.first, self.middle, self.last = (maybe(fault, k) for k in (1, 2, 3))

    def forward(self, x):
        h = F.relu(self.a(self.first(x)))
        h = F.relu(self.norm(self.middle(self.b(h))))
        return self.fc(self.last(h).amax((2, 3, 4)))


class Isotropic(nn.Module):
    """Filters that depend on the distance from their centre alone."""

    def __init__(self, fault=0):
        super().__init__()
        g = torch.arange(3) - 1
        r = (g[:, None, None] ** 2 + g[:, None] ** 2 + g**2).view(-1)
        self.register_buffer("shell", F.one_hot(r, 4).float().view(3, 3, 3, 4))
        self.w1, self.w2 = nn.Parameter(torch.randn(4, 1, 4) / 3), nn.Parameter(torch.randn(2, 4, 4) / 6)
        self.first, self.middle, self.last = (maybe(fault, k) for k in (1, 2, 3))

    def forward(self, x):
        h = F.conv3d(self.first(x), torch.einsum("xyzr,oir->oixyz", self.shell, self.w1), padding=1)
        h = F.conv3d(self.middle(torch.tanh(h)), torch.einsum("xyzr,oir->oixyz", self.shell, self.w2), padding=1)
        return self.last(h)


class UNet3d(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        more = {"padding": 1, "padding_mode": "circular"}
        self.e1, self.e2, self.up = (
            nn.Conv3d(1, 4, 3, **more),
            nn.Conv3d(4, 6, 3, **more),
            nn.ConvTranspose3d(6, 4, 2, 2),
        )
        self.out = nn.Conv3d(8, 1, 3, **more)
        self.first, self.middle, self.last = (maybe(fault, k) for k in (1, 2, 3))

    def forward(self, x):
        a = self.first(F.relu(self.e1(x)))
        b = self.middle(F.relu(self.e2(F.max_pool3d(a, 2))))
        return self.out(self.last(torch.cat([a, self.up(b)], 1)))


class PlainVolume(nn.Module):
    """Free filters: turns break it in its first layer."""

    def __init__(self, fault=1):
        super().__init__()
        self.a, self.b = nn.Conv3d(1, 4, 3, padding=1), nn.Conv3d(4, 1, 1)

    def forward(self, volume):
        return self.b(F.relu(self.a(volume)))
