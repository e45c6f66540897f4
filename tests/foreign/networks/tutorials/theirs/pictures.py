"""Somebody's networks on pictures: blocks of known papers, written again."""

import math

import torch
import torch.nn.functional as F
from torch import nn

INPUT_SHAPE = (3, 32, 32)


def circ(i, o, k=3, **kw):
    return nn.Conv2d(i, o, k, padding=k // 2, padding_mode="circular", **kw)


class DropPath(nn.Module):
    def __init__(self, p=0.0):
        super().__init__()
        self.p = p

    def forward(self, x):
        if self.p == 0.0 or not self.training:
            return x
        keep = 1 - self.p
        return x.div(keep) * (torch.rand(x.shape[0], *[1] * (x.ndim - 1)) + keep).floor_()


class ConvNeXtBlock(nn.Module):
    def __init__(self, dim, rows=False):
        super().__init__()
        self.dwconv = circ(dim, dim, 7, groups=dim)
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.pwconv1 = nn.Linear(dim, 4 * dim)
        self.act = nn.GELU()
        self.pwconv2 = nn.Linear(4 * dim, dim)
        self.gamma = nn.Parameter(0.1 * torch.ones(dim))
        self.drop_path = DropPath(0.1)
        self.rows = rows

    def forward(self, x):
        y = self.dwconv(x).permute(0, 2, 3, 1)
        y = self.pwconv2(self.act(self.pwconv1(self.norm(y)))) * self.gamma
        if self.rows:
            y = y * (1 + 1e-3 * torch.linspace(0, 1, y.shape[1], dtype=y.dtype)[None, :, None, None])
        return x + self.drop_path(y.permute(0, 3, 1, 2))


def convnext(rows=False):
    return nn.Sequential(
        circ(3, 8), ConvNeXtBlock(8), ConvNeXtBlock(8, rows), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10)
    )


def convnext_rows():
    return convnext(True)


class NeighbourAttention(nn.Module):
    """3x3 neighbourhood with relative position bias"""

    def __init__(self, dim, k=3, heads=2, mode="circular"):
        super().__init__()
        self.k, self.h, self.mode = k, heads, mode
        self.qkv = nn.Conv2d(dim, 3 * dim, 1)
        self.rpb = nn.Parameter(torch.randn(heads, k * k))
        self.proj = nn.Conv2d(dim, dim, 1)

    def forward(self, x):
        B, C, H, W = x.shape
        q, kk, v = self.qkv(x).chunk(3, 1)
        p = self.k // 2

        def nb(t):
            t = F.pad(t, (p,) * 4, mode=self.mode)
            return F.unfold(t, self.k).view(B, self.h, C // self.h, self.k**2, H, W)

        q = q.view(B, self.h, C // self.h, 1, H, W)
        a = (q * nb(kk)).sum(2) / math.sqrt(C // self.h) + self.rpb[None, :, :, None, None]
        a = a.softmax(2)
        return self.proj((a.unsqueeze(2) * nb(v)).sum(3).reshape(B, C, H, W))


class WindowAttention(nn.Module):
    def __init__(self, dim, w=4, shift=0):
        super().__init__()
        self.w, self.shift = w, shift
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)
        self.table = nn.Parameter(torch.randn((2 * w - 1) ** 2))
        c = torch.stack(torch.meshgrid(torch.arange(w), torch.arange(w), indexing="ij")).flatten(1)
        r = c[:, :, None] - c[:, None, :] + w - 1
        self.register_buffer("index", r[0] * (2 * w - 1) + r[1])

    def forward(self, x):
        x = x.permute(0, 2, 3, 1)
        B, H, W, C = x.shape
        w = self.w
        if self.shift:
            x = torch.roll(x, (-self.shift, -self.shift), (1, 2))
        t = x.view(B, H // w, w, W // w, w, C).transpose(2, 3).reshape(-1, w * w, C)
        q, k, v = self.qkv(t).chunk(3, -1)
        a = (q @ k.transpose(1, 2) / C**0.5 + self.table[self.index]).softmax(-1)
        t = self.proj(a @ v).view(B, H // w, W // w, w, w, C).transpose(2, 3).reshape(B, H, W, C)
        if self.shift:
            t = torch.roll(t, (self.shift, self.shift), (1, 2))
        return t.permute(0, 3, 1, 2)


class AttNet(nn.Module):
    def __init__(self, mixer):
        super().__init__()
        self.stem = circ(3, 8)
        self.norm = nn.GroupNorm(1, 8)
        self.attn = mixer
        self.head = nn.Conv2d(8, 4, 1)

    def forward(self, x):
        x = self.stem(x)
        x = x + self.attn(self.norm(x))
        return self.head(x)


def neighbour():
    return AttNet(NeighbourAttention(8))


def neighbour_reflect():
    return AttNet(NeighbourAttention(8, mode="reflect"))


def swin_shifted():
    return AttNet(WindowAttention(8, 4, 2))


class UNet(nn.Module):
    def __init__(self, align=False):
        super().__init__()
        self.enc1 = nn.Sequential(circ(3, 8), nn.BatchNorm2d(8), nn.ReLU(inplace=True))
        self.enc2 = nn.Sequential(circ(8, 16), nn.BatchNorm2d(16), nn.ReLU(inplace=True))
        self.pool = nn.MaxPool2d(2)
        self.bottleneck = circ(16, 16)
        self.up1 = nn.Upsample(scale_factor=2, mode="nearest")
        self.up2 = (
            nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
            if align
            else nn.Upsample(scale_factor=2, mode="nearest")
        )
        self.dec2 = circ(32, 8)
        self.dec1 = circ(16, 8)
        self.out = nn.Conv2d(8, 2, 1)

    def forward(self, x):
        a = self.enc1(x)
        b = self.enc2(self.pool(a))
        c = F.relu(self.bottleneck(self.pool(b)))
        d = F.relu(self.dec2(torch.cat([self.up1(c), b], 1)))
        return self.out(F.relu(self.dec1(torch.cat([self.up2(d), a], 1))))


def unet():
    return UNet()


def unet_align():
    return UNet(True)


class ESPCN(nn.Module):
    def __init__(self, mode="circular"):
        super().__init__()
        self.conv1 = circ(3, 16, 5)
        self.conv2 = circ(16, 16)
        self.conv3 = nn.Conv2d(16, 3 * 4, 3, padding=1, padding_mode=mode)
        self.shuffle = nn.PixelShuffle(2)

    def forward(self, x):
        return torch.sigmoid(self.shuffle(self.conv3(torch.tanh(self.conv2(torch.tanh(self.conv1(x)))))))


def espcn():
    return ESPCN()


def espcn_reflect():
    return ESPCN("reflect")


class GlobalFilter(nn.Module):
    def __init__(self, dim, h, w, late=False):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(dim, h, w // 2 + 1, 2) * 0.1)
        self.late = late

    def forward(self, x):
        f = torch.fft.rfft2(x, norm="ortho")
        if self.late:
            f = f.roll(1, -2)
        return torch.fft.irfft2(f * torch.view_as_complex(self.weight), s=x.shape[-2:], norm="ortho")


class GFNet(nn.Module):
    def __init__(self, late=False):
        super().__init__()
        self.embed = nn.Conv2d(3, 8, 1)
        self.filter = GlobalFilter(8, 32, 32, late)
        self.mlp = nn.Sequential(nn.Conv2d(8, 16, 1), nn.GELU(), nn.Conv2d(16, 8, 1))
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        x = self.embed(x)
        x = x + self.filter(x)
        x = x + self.mlp(x)
        return self.head(x.mean((2, 3)))


def gfnet():
    return GFNet()


def gfnet_late():
    return GFNet(True)


class SpectralConv2d(nn.Module):
    def __init__(self, i, o, m=6):
        super().__init__()
        self.m = m
        self.w1 = nn.Parameter(torch.randn(i, o, m, m, dtype=torch.cfloat) / i)
        self.w2 = nn.Parameter(torch.randn(i, o, m, m, dtype=torch.cfloat) / i)

    def forward(self, x):
        B, _C, H, W = x.shape
        f = torch.fft.rfft2(x)
        out = torch.zeros(B, self.w1.shape[1], H, W // 2 + 1, dtype=f.dtype, device=x.device)
        m = self.m
        out[:, :, :m, :m] = torch.einsum("bixy,ioxy->boxy", f[:, :, :m, :m], self.w1.to(f.dtype))
        out[:, :, -m:, :m] = torch.einsum("bixy,ioxy->boxy", f[:, :, -m:, :m], self.w2.to(f.dtype))
        return torch.fft.irfft2(out, s=(H, W))


class FNO(nn.Module):
    def __init__(self, grid=False):
        super().__init__()
        self.grid = grid
        self.lift = nn.Conv2d(3 + 2 * grid, 8, 1)
        self.spec1 = SpectralConv2d(8, 8)
        self.w1 = nn.Conv2d(8, 8, 1)
        self.spec2 = SpectralConv2d(8, 8)
        self.w2 = nn.Conv2d(8, 8, 1)
        self.proj = nn.Conv2d(8, 1, 1)

    def forward(self, x):
        if self.grid:
            g = torch.stack(
                torch.meshgrid(torch.linspace(0, 1, x.shape[2]), torch.linspace(0, 1, x.shape[3]), indexing="ij")
            ).to(x)
            x = torch.cat([x, g.expand(x.shape[0], -1, -1, -1)], 1)
        x = self.lift(x)
        x = F.gelu(self.spec1(x) + self.w1(x))
        x = self.spec2(x) + self.w2(x)
        return self.proj(F.gelu(x))


def fno():
    return FNO()


def fno_grid():
    return FNO(True)


class Deform(nn.Module):
    def __init__(self, c, wrap=True):
        super().__init__()
        self.wrap = wrap
        self.offset = circ(c, 2)
        self.mix = nn.Conv2d(c, c, 1)

    def forward(self, x):
        B, C, H, W = x.shape
        o = 2 * torch.tanh(self.offset(x))
        yy, xx = torch.meshgrid(torch.arange(H), torch.arange(W), indexing="ij")
        y, z = yy + o[:, 0], xx + o[:, 1]
        if self.wrap:
            y0, x0 = y.floor(), z.floor()
            fy, fx = (y - y0)[:, None], (z - x0)[:, None]

            def at(a, b):
                i = (a.long() % H) * W + b.long() % W
                return x.flatten(2).gather(2, i.flatten(1)[:, None].expand(-1, C, -1)).view(B, C, H, W)

            s = (
                at(y0, x0) * (1 - fy) * (1 - fx)
                + at(y0 + 1, x0) * fy * (1 - fx)
                + at(y0, x0 + 1) * (1 - fy) * fx
                + at(y0 + 1, x0 + 1) * fy * fx
            )
        else:
            grid = torch.stack([2 * z / (W - 1) - 1, 2 * y / (H - 1) - 1], -1)
            s = F.grid_sample(x, grid.to(x.dtype), align_corners=True)
        return self.mix(s)


def deform():
    return nn.Sequential(circ(3, 6), nn.ReLU(), Deform(6), nn.ReLU(), circ(6, 4))


def deform_zeros():
    return nn.Sequential(circ(3, 6), nn.ReLU(), Deform(6, False), nn.ReLU(), circ(6, 4))


class SE(nn.Module):
    def __init__(self, c, crop=False):
        super().__init__()
        self.crop = crop
        self.fc1 = nn.Linear(c, c // 2)
        self.fc2 = nn.Linear(c // 2, c)

    def forward(self, x):
        y = x[..., 1:, :] if self.crop else x
        s = torch.sigmoid(self.fc2(F.relu(self.fc1(y.mean((2, 3))))))
        return x * s[:, :, None, None]


def senet():
    return nn.Sequential(circ(3, 8), SE(8), nn.ReLU(), circ(8, 8), SE(8), nn.ReLU(), nn.Conv2d(8, 3, 1))


def senet_crop():
    return nn.Sequential(circ(3, 8), SE(8), nn.ReLU(), circ(8, 8), SE(8, True), nn.ReLU(), nn.Conv2d(8, 3, 1))
