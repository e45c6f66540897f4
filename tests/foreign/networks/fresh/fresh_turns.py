"""Networks that turn with a picture or a volume, whose groups their authors wrote by hand."""

from __future__ import annotations

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from tests.foreign.case import Given, drawn, pair


def pictures(side=11, channels=2):
    return Given((drawn(2, channels, side, side, seed=22),), ("grid",))


def volumes(side=7, step=1):
    return Given((drawn(1, 2, side, side, side, seed=23),), ("volume",), step=step)


class Lift(nn.Module):
    def __init__(self, cin, cout, k=3):
        super().__init__()
        self.w = nn.Parameter(torch.randn(cout, cin, k, k) / 3)

    def forward(self, x):
        w = torch.stack([self.w.rot90(r, (2, 3)) for r in range(4)], 1).flatten(0, 1)
        return F.conv2d(x, w, padding=w.shape[-1] // 2).unflatten(1, (-1, 4))


class GroupConv(nn.Module):
    """Convolves over the group too; `back` rolls the orientations the wrong way."""

    def __init__(self, cin, cout, k=3, back=False):
        super().__init__()
        self.w, self.b, self.back = (
            nn.Parameter(torch.randn(cout, cin, 4, k, k) / 5),
            nn.Parameter(torch.randn(cout)),
            back,
        )

    def forward(self, x):
        turned = [self.w.rot90(r, (3, 4)).roll(-r if self.back else r, 2) for r in range(4)]
        w = torch.stack(turned, 1).flatten(0, 1).flatten(1, 2)
        y = F.conv2d(x.flatten(1, 2), w, padding=w.shape[-1] // 2).unflatten(1, (-1, 4))
        return y + self.b[:, None, None, None]


class P4(nn.Module):
    def __init__(self, back=False):
        super().__init__()
        self.lift, self.second, self.third = Lift(2, 4), GroupConv(4, 5, back=back), GroupConv(5, 3, 5)
        self.norm = nn.BatchNorm3d(4)

    def forward(self, x):
        h = self.norm(F.relu(self.lift(x)))
        h = F.relu(self.second(h))
        return self.third(h).amax(2).mean((2, 3))


class Averaged(nn.Conv2d):
    """A convolution whose filters are averaged over turns and mirrors."""

    def __init__(self, *args, mirrors=True, **more):
        super().__init__(*args, **more)
        self.mirrors = mirrors

    def forward(self, x):
        turned = [self.weight.rot90(r, (2, 3)) for r in range(4)]
        if self.mirrors:
            turned += [w.flip(-1) for w in turned]
        return self._conv_forward(x, torch.stack(turned).mean(0), self.bias)


class Symmetric(nn.Module):
    def __init__(self, mirrors=True):
        super().__init__()
        self.first, self.mid = Averaged(2, 6, 5, padding=2), Averaged(6, 6, 5, padding=2, mirrors=mirrors)
        self.norm, self.last = nn.GroupNorm(3, 6), Averaged(6, 3, 3, padding=1)

    def forward(self, x):
        h = F.silu(self.first(x))
        return self.last(self.norm(h + self.mid(h)))


class Warp(nn.Module):
    """Looks at a part in the middle; `off` a little beside it."""

    def __init__(self, c, off=0.0):
        super().__init__()
        self.fc, self.off = nn.Linear(c, 1), off

    def forward(self, x, seen):
        zoom = 0.5 + 0.5 * torch.sigmoid(self.fc(seen))
        theta = torch.zeros(len(x), 2, 3, dtype=x.dtype)
        theta[:, 0, 0] = theta[:, 1, 1] = zoom[:, 0]
        theta[:, 0, 2] = self.off
        return F.grid_sample(x, F.affine_grid(theta, x.shape, align_corners=False), align_corners=False)


class SpatialTransformer(nn.Module):
    def __init__(self, off=0.0):
        super().__init__()
        self.look = nn.Sequential(Averaged(2, 6, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.warp, self.read = Warp(6, off), Averaged(2, 5, 3, padding=1)

    def forward(self, x):
        return self.read(self.warp(x, self.look(x))).relu().mean((2, 3))


class Strided(nn.Module):
    """Strides on 13 places: with a window of three it stays centred, with one of two it does not."""

    def __init__(self, even=False):
        super().__init__()
        self.a, self.b, self.c = Averaged(2, 4, 3, padding=1), Averaged(4, 6, 3, padding=1), Averaged(6, 3, 3)
        self.pool = nn.MaxPool2d(2, 2) if even else nn.MaxPool2d(3, 2, 1)

    def forward(self, x):
        return self.c(F.relu(self.b(self.pool(F.relu(self.a(x))))))


class Half(nn.Module):
    """Harmonics of a picture: real and imaginary parts, one norm for both; `real` bends only the one."""

    def __init__(self, real=False):
        super().__init__()
        at = torch.arange(5) - 2.0
        y, x = torch.meshgrid(-at, at, indexing="ij")
        r = (x.square() + y.square()).sqrt()
        shape = torch.exp(-r.square() / 3)
        self.register_buffer("re", (shape * x)[None, None])
        self.register_buffer("im", (shape * y)[None, None])
        self.scale, self.real = nn.Parameter(torch.randn(3)), real

    def forward(self, x):
        w = self.scale[:, None, None, None]
        g = x.sum(1, keepdim=True)
        a, b = F.conv2d(g, self.re * w, padding=2), F.conv2d(g, self.im * w, padding=2)
        size = (a.square() + b.square() + 1e-6).sqrt()
        return F.relu(a) if self.real else F.relu(size - 0.1)


class Harmonic(nn.Module):
    def __init__(self, real=False):
        super().__init__()
        self.edges, self.out = Half(real), Averaged(3, 2, 3, padding=1)

    def forward(self, x):
        return self.out(self.edges(x))


class Cubic(nn.Conv3d):
    """Filters averaged over permutations and mirrors of the axes; or over two of the three."""

    def __init__(self, *args, flat=False, **more):
        super().__init__(*args, **more)
        self.flat = flat

    def forward(self, x):
        orders = [(2, 3, 4), (2, 4, 3)] if self.flat else [
            (2, 3, 4), (2, 4, 3), (3, 2, 4), (3, 4, 2), (4, 2, 3), (4, 3, 2)
        ]  # fmt: skip
        w = sum(self.weight.permute(0, 1, *o) for o in orders) / len(orders)
        for axis in (2, 3, 4):
            w = (w + w.flip(axis)) / 2
        return self._conv_forward(x, w, self.bias)


class Voxels(nn.Module):
    def __init__(self, flat=False):
        super().__init__()
        self.a, self.b = Cubic(2, 4, 3, padding=1), Cubic(4, 4, 3, padding=1, flat=flat)
        self.norm, self.c = nn.BatchNorm3d(4), Cubic(4, 2, 3)

    def forward(self, x):
        h = F.relu(self.a(x))
        return self.c(self.norm(h + F.relu(self.b(h))))


class Periodic(nn.Module):
    """A physicist's network in a box that repeats; one layer of it sees walls."""

    def __init__(self, mode="circular"):
        super().__init__()
        self.a = nn.Conv3d(2, 5, 3, padding=1, padding_mode="circular")
        self.b = nn.Conv3d(5, 5, 3, padding=1, padding_mode=mode, groups=5)
        self.c = nn.Conv3d(5, 1, 1)

    def forward(self, x):
        h = F.softplus(self.a(x))
        return self.c(h * torch.sigmoid(self.b(h)))


CASES = (
    *pair("filters that turn", P4, partial(P4, True), ["second"], pictures, ("fixed",), "C4", hooks=False),
    *pair("averaged filters", Symmetric, partial(Symmetric, False), ["mid"], pictures, ("grid",), "D4"),
    *pair("zooming in", SpatialTransformer, partial(SpatialTransformer, 0.03), ["warp"], pictures, ("fixed",), "C4"),
    *pair("strides on thirteen", Strided, partial(Strided, True), ["pool"], partial(pictures, 13), ("grid",), "C4",
          hooks=False),
    *pair("steered edges", Harmonic, partial(Harmonic, True), ["edges"], partial(pictures, 9), ("grid",), "C4"),
    *pair("cubic filters", Voxels, partial(Voxels, True), ["b"], volumes, ("volume",), "Oh", hooks=False),
    *pair("a box that repeats", Periodic, partial(Periodic, "zeros"), ["b"], partial(volumes, 6), ("volume",), "Z3",
          hooks=False),
)  # fmt: skip
