"""Ordinary networks on pictures of odd sizes: residual, U-shaped, autoencoders, capsules, experts, hypernetworks."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from tests.foreign.case import BROKEN, Case, Given, drawn, pair

T = "translation"


def pictures(high=15, wide=0, channels=2, step=1, many=2):
    return Given((drawn(many, channels, high, wide or high, seed=21),), ("grid",), step=step)


def conv(cin, cout, k=3, mode="circular", **more):
    return nn.Conv2d(cin, cout, k, padding=k // 2, padding_mode=mode, **more)


class Basic(nn.Module):
    """A residual block before whose convolutions stand norm and activation."""

    def __init__(self, cin, cout, mode="circular", norm=nn.BatchNorm2d):
        super().__init__()
        self.norm1, self.conv1 = norm(cin), conv(cin, cout, bias=False)
        self.norm2, self.conv2 = norm(cout), conv(cout, cout, mode=mode, bias=False)
        self.short = nn.Conv2d(cin, cout, 1) if cin != cout else nn.Identity()

    def forward(self, x):
        h = self.conv1(F.relu(self.norm1(x)))
        return self.short(x) + self.conv2(F.dropout(F.relu(self.norm2(h)), 0.2, self.training))


class ResNet(nn.Module):
    def __init__(self, modes=("circular", "circular", "circular")):
        super().__init__()
        self.stem = conv(2, 5)
        self.stages = nn.ModuleList([Basic(5, 7, modes[0]), Basic(7, 7, modes[1]), Basic(7, 9, modes[2])])
        self.head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(9, 4))

    def forward(self, x):
        x = self.stem(x)
        for stage in self.stages:
            x = stage(x)
        return self.head(x).log_softmax(-1)


class Up(nn.Module):
    def __init__(self, corners=False):
        super().__init__()
        self.corners = corners

    def forward(self, x, like):
        if self.corners:
            return F.interpolate(x, size=like.shape[-2:], mode="bilinear", align_corners=True)
        return F.interpolate(x, size=like.shape[-2:], mode="nearest")


class UNet(nn.Module):
    """Down by three and up again, of a picture of 21 x 21."""

    def __init__(self, corners=False):
        super().__init__()
        self.down = nn.Sequential(conv(2, 5), nn.InstanceNorm2d(5), nn.LeakyReLU(0.1))
        self.deep = nn.Sequential(conv(5, 8), nn.GroupNorm(2, 8), nn.LeakyReLU(0.1))
        self.up, self.merge, self.out = Up(corners), conv(13, 6, 5), nn.Conv2d(6, 3, 1)

    def forward(self, x):
        a = self.down(x)
        b = self.deep(F.avg_pool2d(a, 3))
        return self.out(F.elu(self.merge(torch.cat([self.up(b, a), a], 1))))


class Response(nn.Module):
    """Global response normalisation, channels last."""

    def __init__(self, c, line=False):
        super().__init__()
        self.gamma, self.beta, self.line = nn.Parameter(torch.randn(c)), nn.Parameter(torch.randn(c)), line

    def forward(self, x):
        g = x.norm(p=2, dim=(1, 2), keepdim=True)
        g = g / (g.mean(-1, keepdim=True) + 1e-6)
        if self.line:
            g = g * torch.linspace(0.99, 1.01, x.shape[2], dtype=x.dtype)[:, None]
        return self.gamma * (x * g) + self.beta + x


class NextBlock(nn.Module):
    def __init__(self, c, line=False):
        super().__init__()
        self.depth, self.norm = conv(c, c, 5, groups=c), nn.LayerNorm(c, eps=1e-6)
        self.wide, self.response, self.narrow = nn.Linear(c, 3 * c), Response(3 * c, line), nn.Linear(3 * c, c)

    def forward(self, x):
        h = self.norm(self.depth(x).permute(0, 2, 3, 1))
        return x + self.narrow(self.response(F.gelu(self.wide(h)))).permute(0, 3, 1, 2)


class ConvNeXt(nn.Module):
    def __init__(self, line=False):
        super().__init__()
        self.stem, self.blocks = conv(2, 10), nn.Sequential(NextBlock(10), NextBlock(10, line))
        self.norm, self.head = nn.LayerNorm(10), nn.Linear(10, 3)

    def forward(self, x):
        return self.head(self.norm(self.blocks(self.stem(x)).mean((-2, -1))))


class Autoencoder(nn.Module):
    """A bottleneck that is a map; or one that is a vector of all places."""

    def __init__(self, dense=False):
        super().__init__()
        self.encode = nn.Sequential(conv(2, 6, stride=3), nn.SELU(), conv(6, 4), nn.SELU())
        wide = 4 * 5 * 5
        dense_neck = nn.Sequential(nn.Flatten(), nn.Linear(wide, wide), nn.Unflatten(1, (4, 5, 5)))
        self.neck = dense_neck if dense else nn.Conv2d(4, 4, 1)
        self.decode = nn.Sequential(nn.ConvTranspose2d(4, 6, 3, stride=3), nn.SELU(), conv(6, 2))

    def forward(self, x):
        z = self.neck(self.encode(x))
        return {"reconstruction": self.decode(z).sigmoid(), "code": z}


class Gate(nn.Module):
    def __init__(self, c, many, keep):
        super().__init__()
        self.fc, self.keep = nn.Linear(c, many), keep

    def forward(self, x):
        score = self.fc(x.mean((2, 3)))
        best = score.topk(self.keep, 1)
        return torch.zeros_like(score).scatter(1, best.indices, best.values.softmax(1))


class Mixture(nn.Module):
    """Two of four experts for each picture, by what it is on average."""

    def __init__(self, modes=("circular",) * 4):
        super().__init__()
        self.enter, self.gate = conv(2, 6), Gate(6, 4, 2)
        self.experts = nn.ModuleList(nn.Sequential(conv(6, 6, mode=m), nn.Mish()) for m in modes)
        self.out = conv(6, 3, 1)

    def forward(self, x):
        h = self.enter(x)
        w = self.gate(h)
        y = torch.stack([e(h) for e in self.experts], 1)
        return self.out((w[:, :, None, None, None] * y).sum(1))


class Describe(nn.Module):
    def __init__(self, cin, corner=False):
        super().__init__()
        self.fc, self.corner = nn.Linear(cin, 8), corner

    def forward(self, x):
        seen = x.mean((2, 3))
        if self.corner:
            seen = seen + 0.05 * x[:, :, 0, 0]
        return torch.tanh(self.fc(seen))


class Hyper(nn.Module):
    """Writes the filters of a convolution for each picture."""

    def __init__(self, corner=False):
        super().__init__()
        self.describe, self.write = Describe(2, corner), nn.Linear(8, 3 * 2 * 9 + 3)
        self.last = nn.Conv2d(3, 2, 1)

    def forward(self, x):
        n = len(x)
        made = self.write(self.describe(x))
        w, b = made[:, :-3].reshape(n * 3, 2, 3, 3), made[:, -3:].reshape(-1)
        padded = F.pad(x, (1, 1, 1, 1), mode="circular").reshape(1, n * 2, x.shape[2] + 2, x.shape[3] + 2)
        return self.last(F.conv2d(padded, w, b, groups=n).view(n, 3, *x.shape[2:]).relu())


def squash(v, dim=-1):
    size = v.square().sum(dim, keepdim=True)
    return size / (1 + size) * v / (size + 1e-9).sqrt()


class Digits(nn.Module):
    """Routing by agreement; one matrix for all places, or one for each."""

    def __init__(self, places, own=False, kinds=3):
        super().__init__()
        w = torch.randn(1, kinds, 1, 5, 4) / 2
        self.w = nn.Parameter(w.repeat(1, 1, places, 1, 1) * (1 + 0.02 * own * torch.randn(1, 1, places, 1, 1)))

    def forward(self, u):
        votes = (self.w @ u[:, None, :, :, None]).squeeze(-1)  # (batch, kind, child, 5)
        b = torch.zeros(votes.shape[:3], dtype=u.dtype)
        for _ in range(3):
            v = squash((b.softmax(1)[..., None] * votes).sum(2))
            b = b + (votes * v[:, :, None]).sum(-1)
        return v


class CapsNet(nn.Module):
    def __init__(self, own=False):
        super().__init__()
        self.conv, self.primary = conv(2, 8), conv(8, 8)
        self.digits = Digits(2 * 9 * 9, own)

    def forward(self, x):
        p = self.primary(F.relu(self.conv(x)))
        u = squash(p.view(len(x), 2, 4, -1).permute(0, 1, 3, 2).reshape(len(x), -1, 4))
        return self.digits(u).norm(dim=-1)


class WindowAttention(nn.Module):
    def __init__(self, c, w, absolute=False):
        super().__init__()
        self.w, self.qkv, self.out = w, nn.Linear(c, 3 * c), nn.Linear(c, c)
        at = torch.stack(torch.meshgrid(torch.arange(w), torch.arange(w), indexing="ij")).flatten(1)
        way = at[:, :, None] - at[:, None] + w - 1
        self.register_buffer("way", way[0] * (2 * w - 1) + way[1])
        self.table = nn.Parameter(torch.randn((2 * w - 1) ** 2) / 2)
        self.absolute = nn.Parameter(torch.randn(16, 1, 1) / 2) if absolute else None

    def forward(self, x):  # (batch, rows, columns, channels)
        n, h, wide, c = x.shape
        w = self.w
        t = x.view(n, h // w, w, wide // w, w, c).transpose(2, 3).reshape(n, -1, w * w, c)
        q, k, v = self.qkv(t).chunk(3, -1)
        score = q @ k.transpose(-1, -2) / c**0.5 + self.table[self.way]
        if self.absolute is not None:
            q = q + self.absolute
            score = score + (q @ k.transpose(-1, -2)) / 8
        y = self.out(score.softmax(-1) @ v)
        return y.view(n, h // w, wide // w, w, w, c).transpose(2, 3).reshape(n, h, wide, c)


class SwinBlock(nn.Module):
    def __init__(self, c, w, shifted, absolute=False):
        super().__init__()
        self.norm, self.attn, self.shifted = nn.LayerNorm(c), WindowAttention(c, w, absolute), shifted
        self.mlp = nn.Sequential(nn.LayerNorm(c), nn.Linear(c, 2 * c), nn.GELU(), nn.Linear(2 * c, c))

    def forward(self, x):
        s = self.attn.w // 2 if self.shifted else 0
        y = self.attn(self.norm(x).roll((-s, -s), (1, 2))).roll((s, s), (1, 2))
        x = x + y
        return x + self.mlp(x)


class Swin(nn.Module):
    """Windows of 3 x 3, the second block's shifted round the edge."""

    def __init__(self, absolute=False):
        super().__init__()
        self.embed = nn.Conv2d(2, 8, 1)
        self.blocks = nn.Sequential(SwinBlock(8, 3, False), SwinBlock(8, 3, True, absolute))
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.blocks(self.embed(x).permute(0, 2, 3, 1)).mean((1, 2)))


CASES = (
    *pair("pre-activation residual", ResNet, partial(ResNet, ("circular", "replicate", "circular")),
          ["stages.1.conv2"], pictures, ("fixed",), T),
    *pair("residual, two faults", ResNet, partial(ResNet, ("zeros", "circular", "reflect")),
          ["stages.0.conv2", "stages.2.conv2"], partial(pictures, 11, 13), ("fixed",), T),
    *pair("down by three", UNet, partial(UNet, True), ["up"], partial(pictures, 21, step=3), ("grid",), T),
    *pair("response norm", ConvNeXt, partial(ConvNeXt, True), ["blocks.1.response"], partial(pictures, 10, 14),
          ("fixed",), T, hooks=False),
    *pair("a bottleneck", Autoencoder, partial(Autoencoder, True), ["neck.1", "neck"], partial(pictures, step=3),
          ("grid", "grid@3"), T, hooks=False),
    *pair("two of four experts", Mixture, partial(Mixture, ("zeros", "zeros", "circular", "circular")),
          ["experts.0.0", "experts.1.0"], partial(pictures, 9), ("grid",), T),
    *pair("written filters", Hyper, partial(Hyper, True), ["describe"], partial(pictures, 9), ("grid",), T),
    *pair("routed capsules", CapsNet, partial(CapsNet, True), ["digits"], partial(pictures, 9), ("fixed",), T,
          hooks=False),
    # windows have a place of their own in the picture: only whole ones may be shifted
    replace(whole := Case("windows that shift", Swin, partial(pictures, 12), T, ("fixed",), hooks=False), truth=BROKEN,
            culprit=("blocks.0.attn", "blocks.1.attn")),
    replace(whole, name="windows with numbers", make=partial(Swin, True), truth=BROKEN,
            culprit=("blocks.0.attn", "blocks.1.attn")),
)  # fmt: skip
