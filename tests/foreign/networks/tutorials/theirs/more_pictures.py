"""Somebody's networks on pictures: conditions, codes, masks and several answers."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

INPUT_SHAPE = (3, 32, 32)


def circ(i, o, k=3, **kw):
    return nn.Conv2d(i, o, k, padding=k // 2, padding_mode="circular", **kw)


class Capsules(nn.Module):
    def __init__(self, caps=4, d=4, out=3, lean=0.0):
        super().__init__()
        self.lean = lean
        self.prim = circ(8, caps * d)
        self.W = nn.Parameter(torch.randn(caps, out, d, d) * 0.3)
        self.caps, self.d = caps, d

    @staticmethod
    def squash(v):
        n = (v * v).sum(-1, keepdim=True)
        return n / (1 + n) * v / (n + 1e-8).sqrt()

    def forward(self, x):
        B = x.shape[0]
        u = self.squash(self.prim(x).view(B, self.caps, self.d, -1).transpose(2, 3))
        hat = torch.einsum("bcnd,code->bcnoe", u, self.W).flatten(1, 2)
        b = torch.zeros(hat.shape[:3], dtype=x.dtype) + self.lean * torch.arange(hat.shape[1], dtype=x.dtype)[
            None, :, None
        ] * torch.arange(hat.shape[2])
        for _ in range(3):
            v = self.squash((b.softmax(-1)[..., None] * hat).mean(1))
            b = b + (hat * v[:, None]).sum(-1)
        return v.norm(dim=-1)


def capsnet():
    return nn.Sequential(circ(3, 8), nn.ReLU(), Capsules())


def capsnet_lean():
    return nn.Sequential(circ(3, 8), nn.ReLU(), Capsules(lean=1e-4))


class FiLMNet(nn.Module):
    def __init__(self, corner=False):
        super().__init__()
        self.corner = corner
        self.conv1 = circ(3, 8)
        self.gen = nn.Linear(8, 16)
        self.conv2 = circ(8, 8)
        self.out = nn.Conv2d(8, 3, 1)

    def forward(self, x):
        h = F.relu(self.conv1(x))
        c = h[:, :, 0, 0] if self.corner else h.mean((2, 3))
        g, b = self.gen(c).chunk(2, 1)
        h = self.conv2(h) * (1 + g[..., None, None]) + b[..., None, None]
        return self.out(F.relu(h))


def film():
    return FiLMNet()


def film_corner():
    return FiLMNet(True)


class HyperConv(nn.Module):
    def __init__(self, i, o, centre=False):
        super().__init__()
        self.i, self.o, self.centre = i, o, centre
        self.make = nn.Sequential(nn.Linear(i, 16), nn.ReLU(), nn.Linear(16, o * i * 9))

    def forward(self, x):
        B, C, H, W = x.shape
        z = x[:, :, H // 4 : -H // 4, W // 4 : -W // 4].mean((2, 3)) if self.centre else x.mean((2, 3))
        w = self.make(z).view(B * self.o, self.i, 3, 3)
        y = F.conv2d(F.pad(x.reshape(1, B * C, H, W), (1,) * 4, mode="circular"), w, groups=B)
        return y.view(B, self.o, H, W)


def hyper():
    return nn.Sequential(circ(3, 6), nn.ReLU(), HyperConv(6, 4), nn.ReLU(), circ(4, 2))


def hyper_centre():
    return nn.Sequential(circ(3, 6), nn.ReLU(), HyperConv(6, 4, True), nn.ReLU(), circ(4, 2))


class NoiseInjection(nn.Module):
    def __init__(self, fixed=False):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(0.05))
        if fixed:
            self.register_buffer("noise", torch.randn(1, 1, 32, 32))
        self.fixed = fixed

    def forward(self, x):
        if self.fixed:
            return x + self.scale * self.noise
        if self.training:
            return x + self.scale * torch.randn_like(x[:, :1])
        return x


def stylegan():
    return nn.Sequential(
        circ(3, 8),
        NoiseInjection(),
        nn.LeakyReLU(0.2),
        nn.Dropout2d(0.3),
        circ(8, 8),
        NoiseInjection(),
        nn.LeakyReLU(0.2),
        nn.Conv2d(8, 3, 1),
    )


def stylegan_fixed():
    return nn.Sequential(
        circ(3, 8),
        NoiseInjection(),
        nn.LeakyReLU(0.2),
        nn.Dropout2d(0.3),
        circ(8, 8),
        NoiseInjection(True),
        nn.LeakyReLU(0.2),
        nn.Conv2d(8, 3, 1),
    )


class Masked(nn.Module):
    def __init__(self, border):
        super().__init__()
        self.conv1 = circ(3, 8)
        self.norm = nn.GroupNorm(2, 8)
        self.conv2 = circ(8, 8)
        self.head = nn.Conv2d(8, 2, 1)
        m = torch.ones(1, 1, 32, 32)
        m[..., :border, :] = 0
        self.register_buffer("mask", m.bool())

    def forward(self, x):
        h = F.relu_(self.conv1(x))
        h = self.norm(h).masked_fill(~self.mask, 0.0)
        h += self.conv2(h)
        return self.head(h)


def masked_none():
    return Masked(0)


def masked_row():
    return Masked(1)


class Mixer(nn.Module):
    def __init__(self, tokens=True):
        super().__init__()
        self.patch = nn.Conv2d(3, 16, 4, 4)
        self.n1 = nn.LayerNorm(16)
        self.token_mix = nn.Sequential(nn.Linear(64, 32), nn.GELU(), nn.Linear(32, 64)) if tokens else None
        self.n2 = nn.LayerNorm(16)
        self.channel_mix = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))
        self.head = nn.Linear(16, 10)

    def forward(self, x):
        t = self.patch(x).flatten(2).transpose(1, 2)
        if self.token_mix is not None:
            t = t + self.token_mix(self.n1(t).transpose(1, 2)).transpose(1, 2)
        t = t + self.channel_mix(self.n2(t))
        return self.head(t.mean(1))


def mixer():
    return Mixer()


def mixer_channels():
    return Mixer(False)


@dataclass
class Detections:
    heat: Tensor
    boxes: Tensor
    score: Tensor


class Detector(nn.Module):
    def __init__(self, anchors=False):
        super().__init__()
        self.backbone = nn.Sequential(circ(3, 8), nn.SiLU(), circ(8, 8, stride=1), nn.SiLU(), nn.AvgPool2d(2))
        self.heat = nn.Conv2d(8, 4, 1)
        self.box = nn.Conv2d(8, 4, 1)
        self.anchors = anchors

    def forward(self, x):
        f = self.backbone(x)
        h = self.heat(f).sigmoid()
        b = self.box(f).exp()
        if self.anchors:
            b = b + 0.01 * torch.arange(b.shape[-1], dtype=b.dtype)
        return Detections(h, b, h.amax((2, 3)))


def detector():
    return Detector()


def detector_anchors():
    return Detector(True)


class Involution(nn.Module):
    def __init__(self, c, k=3, g=2, roll=False):
        super().__init__()
        self.k, self.g = k, g
        self.reduce = nn.Conv2d(c, c // 2, 1)
        self.span = nn.Conv2d(c // 2, k * k * g, 1)
        self.roll = roll

    def forward(self, x):
        B, C, H, W = x.shape
        w = self.span(F.relu(self.reduce(x))).view(B, self.g, 1, self.k**2, H, W)
        u = F.unfold(F.pad(x, (1,) * 4, mode="circular"), self.k)
        if self.roll:
            u = torch.cat([u[..., 1:], u[..., -1:]], -1)
        return (w * u.view(B, self.g, C // self.g, self.k**2, H, W)).sum(3).reshape(B, C, H, W)


def involution():
    return nn.Sequential(circ(3, 8), nn.BatchNorm2d(8), nn.PReLU(8), Involution(8), nn.Hardswish(), nn.Conv2d(8, 4, 1))


def involution_off():
    return nn.Sequential(
        circ(3, 8), nn.BatchNorm2d(8), nn.PReLU(8), Involution(8, roll=True), nn.Hardswish(), nn.Conv2d(8, 4, 1)
    )


class Argmax(nn.Module):
    """VQ by nearest code, straight through"""

    def __init__(self, n=16, d=8, lean=0.0):
        super().__init__()
        self.codes = nn.Embedding(n, d)
        self.codes.weight.data *= 0.2
        self.lean = lean

    def forward(self, z):
        flat = z.permute(0, 2, 3, 1)
        d = torch.cdist(flat.flatten(1, 2), self.codes.weight.expand(z.shape[0], -1, -1))
        if self.lean:
            d = d + self.lean * torch.arange(d.shape[1], dtype=d.dtype)[:, None] * torch.arange(
                d.shape[2], dtype=d.dtype
            )
        q = self.codes(d.argmin(-1)).view_as(flat)
        return (flat + (q - flat).detach()).permute(0, 3, 1, 2)


def vq():
    return nn.Sequential(circ(3, 8), nn.AvgPool2d(2), circ(8, 8), Argmax(), nn.Upsample(scale_factor=2), circ(8, 3))


def vq_lean():
    return nn.Sequential(
        circ(3, 8), nn.AvgPool2d(2), circ(8, 8), Argmax(lean=1e-4), nn.Upsample(scale_factor=2), circ(8, 3)
    )
