"""Somebody's networks on volumes."""

import torch
import torch.nn.functional as F
from torch import nn

INPUT_SHAPE = (1, 16, 16, 16)


class Radial3d(nn.Module):
    def __init__(self, i, o, lean=False):
        super().__init__()
        r = torch.arange(3) - 1.0
        d = (r[:, None, None] ** 2 + r[None, :, None] ** 2 + r**2 * (1.01 if lean else 1)).flatten().sqrt()
        self.register_buffer("basis", torch.stack([torch.exp(-((d - c) ** 2) * 4) for c in (0.0, 1.0, 1.7)]))
        self.w = nn.Parameter(torch.randn(o, i, 3) / 3)

    def forward(self, x):
        return F.conv3d(
            x,
            torch.einsum("oib,bk->oik", self.w, self.basis.to(self.w.dtype)).view(*self.w.shape[:2], 3, 3, 3),
            padding=1,
        )


def radial():
    return nn.Sequential(
        Radial3d(1, 4),
        nn.ELU(),
        nn.MaxPool3d(2),
        Radial3d(4, 4),
        nn.BatchNorm3d(4),
        nn.ReLU(),
        nn.AdaptiveAvgPool3d(1),
        nn.Flatten(),
        nn.Linear(4, 3),
    )


def radial_lean():
    return nn.Sequential(
        Radial3d(1, 4),
        nn.ELU(),
        nn.MaxPool3d(2),
        Radial3d(4, 4, True),
        nn.BatchNorm3d(4),
        nn.ReLU(),
        nn.AdaptiveAvgPool3d(1),
        nn.Flatten(),
        nn.Linear(4, 3),
    )


class UNet3d(nn.Module):
    def __init__(self, tri=False):
        super().__init__()

        def c(i, o):
            return nn.Conv3d(i, o, 3, padding=1, padding_mode="circular")

        self.e, self.m, self.d = c(1, 4), c(4, 4), c(8, 2)
        self.tri = tri

    def forward(self, x):
        a = F.relu(self.e(x))
        b = F.relu(self.m(F.max_pool3d(a, 2)))
        b = (
            F.interpolate(b, scale_factor=2, mode="trilinear", align_corners=False)
            if self.tri
            else F.interpolate(b, scale_factor=2)
        )
        return self.d(torch.cat([a, b], 1))


def unet3d():
    return UNet3d()


def unet3d_tri():
    return UNet3d(True)


class Axial(nn.Module):
    """axial attention along depth, height, width, shared"""

    def __init__(self, c=4, skip=()):
        super().__init__()
        self.stem = nn.Conv3d(1, c, 1)
        self.qkv = nn.Linear(c, 3 * c)
        self.out = nn.Conv3d(c, 2, 1)
        self.skip = skip

    def along(self, x, d):
        t = x.movedim(1, -1).movedim(d - 1, -2)
        q, k, v = self.qkv(t).chunk(3, -1)
        t = (q @ k.transpose(-1, -2)).softmax(-1) @ v
        return t.movedim(-2, d - 1).movedim(-1, 1)

    def forward(self, x):
        x = self.stem(x)
        return self.out(sum(self.along(x, d) for d in (2, 3, 4) if d not in self.skip))


def axial():
    return Axial()


def axial_skip():
    return Axial(skip=(2,))
