"""Somebody's networks on pictures that ought to keep turns and mirrors."""

import torch
import torch.nn.functional as F
from torch import nn

INPUT_SHAPE = (3, 32, 32)


class SymConv(nn.Module):
    def __init__(self, i, o, k=3, turns=(0, 1, 2, 3), stride=1):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(o, i, k, k) / k)
        self.bias = nn.Parameter(torch.zeros(o))
        self.turns, self.stride = turns, stride

    def forward(self, x):
        w = sum(torch.rot90(self.weight, t, (2, 3)) for t in self.turns) / len(self.turns)
        return F.conv2d(x, w, self.bias, padding=self.weight.shape[-1] // 2, stride=self.stride)


def symconv():
    return nn.Sequential(
        SymConv(3, 8),
        nn.ReLU(),
        nn.AvgPool2d(2),
        SymConv(8, 8, 5),
        nn.Mish(),
        SymConv(8, 4),
        nn.AdaptiveMaxPool2d(1),
        nn.Flatten(),
        nn.Linear(4, 10),
    )


def symconv_three():
    return nn.Sequential(
        SymConv(3, 8),
        nn.ReLU(),
        nn.AvgPool2d(2),
        SymConv(8, 8, 5, (0, 1, 3)),
        nn.Mish(),
        SymConv(8, 4),
        nn.AdaptiveMaxPool2d(1),
        nn.Flatten(),
        nn.Linear(4, 10),
    )


def symconv_stride():
    return nn.Sequential(
        SymConv(3, 8),
        nn.ReLU(),
        SymConv(8, 8, 3, stride=2),
        nn.ReLU(),
        SymConv(8, 4),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4, 10),
    )


class FrameAverage(nn.Module):
    def __init__(self, wrong=False):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 2, 3, padding=1))
        self.wrong = wrong

    def forward(self, x):
        y = 0
        for m in (False, True):
            for k in range(4):
                z = torch.rot90(x.flip(-1) if m else x, k, (2, 3))
                z = torch.rot90(self.body(z), -k, (2, 3))
                y = y + (z.flip(-1) if m and not (self.wrong and k == 1) else z)
        return y / 8


def frame_average():
    return FrameAverage()


def frame_average_wrong():
    return FrameAverage(True)


class Blur(nn.Module):
    def __init__(self, c, taps):
        super().__init__()
        t = torch.tensor(taps, dtype=torch.float32)
        k = t[:, None] * t
        self.register_buffer("kernel", (k / k.sum())[None, None].repeat(c, 1, 1, 1))
        self.n = len(taps)

    def forward(self, x):
        a = (self.n - 1) // 2
        b = self.n - 1 - a
        return F.conv2d(F.pad(x, (a, b, a, b), mode="reflect"), self.kernel.to(x.dtype), groups=x.shape[1])


def blur():
    return nn.Sequential(SymConv(3, 6), nn.ReLU(), Blur(6, [1, 2, 1]), SymConv(6, 4), nn.Softplus(), nn.AvgPool2d(2))


def blur_even():
    return nn.Sequential(SymConv(3, 6), nn.ReLU(), Blur(6, [1, 3, 3, 1]), SymConv(6, 4), nn.Softplus(), nn.AvgPool2d(2))


class GradientMagnitude(nn.Module):
    def __init__(self, forward_difference=False):
        super().__init__()
        self.fd = forward_difference

    def forward(self, x):
        x = F.pad(x, (1,) * 4, mode="replicate")
        if self.fd:
            gx, gy = x[:, :, 1:-1, 2:] - x[:, :, 1:-1, 1:-1], x[:, :, 2:, 1:-1] - x[:, :, 1:-1, 1:-1]
        else:
            gx, gy = x[:, :, 1:-1, 2:] - x[:, :, 1:-1, :-2], x[:, :, 2:, 1:-1] - x[:, :, :-2, 1:-1]
        return (gx**2 + gy**2 + 1e-6).sqrt()


def edges():
    return nn.Sequential(GradientMagnitude(), nn.InstanceNorm2d(3), SymConv(3, 4), nn.ReLU())


def edges_forward():
    return nn.Sequential(GradientMagnitude(True), nn.InstanceNorm2d(3), SymConv(3, 4), nn.ReLU())


class Bilateral(nn.Module):
    def __init__(self, k=5, off=0.0):
        super().__init__()
        self.k = k
        r = torch.arange(k) - (k // 2 + off)
        self.register_buffer("space", torch.exp(-(r[:, None] ** 2 + r[None] ** 2) / 4).flatten())

    def forward(self, x):
        B, C, H, W = x.shape
        p = self.k // 2
        n = F.unfold(F.pad(x, (p,) * 4, mode="reflect"), self.k).view(B, C, -1, H, W)
        w = (
            torch.exp(-((n - x[:, :, None]) ** 2).sum(1, keepdim=True))
            * self.space.to(x.dtype)[None, None, :, None, None]
        )
        return (n * w).sum(2) / w.sum(2)


def bilateral():
    return Bilateral()


def bilateral_off():
    return Bilateral(off=0.01)
