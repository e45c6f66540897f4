"""A file of somebody's networks that halve what they are given, and say nowhere which sizes they take."""

import torch
import torch.nn.functional as F
from torch import nn


def conv(i, o, k=3):
    return nn.Conv2d(i, o, k, padding=k // 2, padding_mode="circular")


class UNet(nn.Module):
    """Takes sides that are multiples of four."""

    def __init__(self, up=None):
        super().__init__()
        self.inc, self.down1, self.down2 = conv(1, 4), conv(4, 6), conv(6, 6)
        self.up1, self.up2 = nn.Upsample(scale_factor=2), up or nn.Upsample(scale_factor=2)
        self.mix1, self.mix2, self.out = conv(12, 6), conv(10, 4), nn.Conv2d(4, 2, 1)

    def forward(self, x):
        a = self.inc(x).relu()
        b = self.down1(F.max_pool2d(a, 2)).relu()
        c = self.down2(F.max_pool2d(b, 2)).relu()
        b = self.mix1(torch.cat([b, self.up1(c)], 1)).relu()
        return {"logits": self.out(self.mix2(torch.cat([a, self.up2(b)], 1)).relu()), "deep": c}


def unet_with_corners():
    return UNet(nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True))


class Patches(nn.Module):
    """Runs on any sides, and leaves out what no patch covers."""

    def __init__(self, table=False):
        super().__init__()
        self.embed = Embed(table)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 1)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.encoder(self.embed(x)).mean(1))


class Embed(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.proj = nn.Conv2d(1, 8, 4, 4)
        self.table = nn.Parameter(torch.randn(1, 64, 8)) if table else None

    def forward(self, x):
        x = self.proj(x).flatten(2).transpose(1, 2)
        return x if self.table is None else x + self.table[:, : x.shape[1]]


def patches_with_a_table():
    return Patches(True)


class Spectral(nn.Module):
    """Runs on one size alone: there is a number for each frequency."""

    def __init__(self, window=False):
        super().__init__()
        self.a, self.filter, self.b = conv(1, 4), Frequencies(4, window), conv(4, 2)

    def forward(self, x):
        return self.b(self.filter(self.a(x)).relu())


class Frequencies(nn.Module):
    def __init__(self, channels, window):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(channels, 32, 17, 2) * 0.3)
        self.window = window

    def forward(self, x):
        x = x * torch.hann_window(x.shape[-1], dtype=x.dtype) if self.window else x
        return torch.fft.irfft2(torch.fft.rfft2(x) * torch.view_as_complex(self.weight), s=x.shape[-2:])


def spectral_with_a_window():
    return Spectral(True)


class Recurrent(nn.Module):
    """Its first convolution is given the state beside the image."""

    def __init__(self, learned=False):
        super().__init__()
        self.gates, self.out = conv(5, 8), nn.Conv2d(4, 1, 1)
        self.first = nn.Parameter(torch.randn(1, 4, 64, 64)) if learned else None

    def forward(self, x):
        h = x.new_zeros(len(x), 4, *x.shape[2:])
        h = h if self.first is None else h + self.first[..., : x.shape[2], : x.shape[3]]
        for _ in range(2):
            z, n = self.gates(torch.cat([x, h], 1)).chunk(2, 1)
            h = h + torch.sigmoid(z) * (torch.tanh(n) - h)
        return self.out(h)


class WaveUNet(nn.Module):
    """Takes even numbers of steps; on odd ones no order of its axes runs but a wrong one."""

    def __init__(self, fade=False):
        super().__init__()
        self.down, self.deep = nn.Conv1d(1, 4, 5, padding=2), nn.Conv1d(4, 6, 5, stride=2, padding=2)
        self.gate = Fade() if fade else nn.Identity()
        self.mix = nn.Conv1d(10, 2, 5, padding=2)

    def forward(self, x):
        a = self.down(x).relu()
        b = self.gate(self.deep(a).relu())
        return self.mix(torch.cat([a, F.interpolate(b, scale_factor=2)], 1))


class Fade(nn.Module):
    def forward(self, x):
        return x * torch.hann_window(x.shape[-1], periodic=False, dtype=x.dtype)


def faded():
    return WaveUNet(True)
