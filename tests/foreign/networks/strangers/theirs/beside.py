"""Networks on an image beside numbers that lie at no place: a time, a class, conditions, a style."""

import torch
import torch.nn.functional as F
from torch import nn


def conv(a, b, mode="circular", size=3):
    return nn.Conv2d(a, b, size, padding=size // 2, padding_mode=mode)


class Diffusion(nn.Module):
    """A time as sines and cosines (Ho et al. 2020), first among the arguments; the fault: zeros at the border."""

    def __init__(self, fault=0):
        super().__init__()
        self.inp, self.emb = conv(1, 8), nn.Linear(16, 8)
        self.mid, self.out = conv(8, 8, "zeros" if fault else "circular"), conv(8, 1)

    def forward(self, timesteps, x):
        by = timesteps.view(-1, 1).to(x.dtype) * torch.exp(torch.linspace(0, 5, 8, dtype=x.dtype, device=x.device))
        by = self.emb(torch.cat([by.sin(), by.cos()], -1))
        h = F.silu(self.inp(x) + by[:, :, None, None])
        return self.out(F.silu(self.mid(h)))


class Scheduled(nn.Module):
    """A whole number of steps looked up in a buffer; the fault: columns are weighted."""

    def __init__(self, fault=0):
        super().__init__()
        self.register_buffer("alphas", torch.linspace(0.99, 0.1, 200))
        self.one, self.two, self.fault = conv(3, 8), conv(8, 3), fault

    def forward(self, x, t):
        h = self.one(x * self.alphas[t].sqrt().view(-1, 1, 1, 1))
        if self.fault:
            h = h * torch.linspace(0.9, 1.1, h.shape[-1], dtype=h.dtype, device=h.device)
        return self.two(torch.sigmoid(h))


class OfClass(nn.Module):
    """A class, one-hot, scales channels; the fault: a table over the 29 rows that the class chooses."""

    def __init__(self, fault=0):
        super().__init__()
        self.one, self.scale, self.out = conv(3, 8), nn.Linear(10, 8), conv(8, 2)
        self.rows = nn.Embedding(10, 29) if fault else None

    def forward(self, image, label):
        h = self.one(image) * (1 + self.scale(F.one_hot(label, 10).to(image.dtype)))[:, :, None, None]
        if self.rows is not None:
            h = h + 0.1 * self.rows(label)[:, None, :, None]
        return self.out(torch.tanh(h))


class TimeAndClass(nn.Module):
    """A time and a class beside the image, as guided diffusion takes them; the fault: zeros at the border."""

    def __init__(self, fault=0):
        super().__init__()
        self.one, self.t, self.y = conv(3, 8), nn.Linear(1, 8), nn.Embedding(7, 8)
        self.norm, self.two = nn.GroupNorm(2, 8), conv(8, 3, "zeros" if fault else "circular", 5)

    def forward(self, x, t, y):
        by = F.silu(self.t(t[:, None])) + self.y(y)
        return self.two(F.silu(self.norm(self.one(x)) + by[..., None, None]))


class Film(nn.Module):
    """Conditions scale and shift channels (Perez et al. 2018); the fault: only in the left half."""

    def __init__(self, fault=0):
        super().__init__()
        self.stem, self.film, self.body, self.fault = conv(3, 8), nn.Linear(5, 16), conv(8, 8), fault

    def forward(self, image, condition):
        scale, shift = self.film(condition)[:, :, None, None].chunk(2, 1)
        h = self.stem(image)
        changed = h * (1 + scale) + shift
        if self.fault:
            changed = torch.cat([changed[..., : h.shape[-1] // 2], h[..., h.shape[-1] // 2 :]], -1)
        return self.body(torch.relu(changed)).mean((2, 3))


class Styled(nn.Module):
    """Filters modulated by a style (Karras et al. 2020), one set for each sample; the fault: zeros at the border."""

    def __init__(self, fault=0):
        super().__init__()
        self.weight, self.affine, self.out = nn.Parameter(torch.randn(8, 3, 3, 3) / 5), nn.Linear(12, 3), conv(8, 3)
        self.mode = "constant" if fault else "circular"

    def forward(self, x, style):
        n, _, h, w = x.shape
        filters = self.weight * (1 + self.affine(style))[:, None, :, None, None]
        filters = filters / (filters.square().sum((2, 3, 4), keepdim=True) + 1e-8).sqrt()
        x = F.pad(x, (1, 1, 1, 1), mode=self.mode).reshape(1, -1, h + 2, w + 2)
        x = F.conv2d(x, filters.reshape(-1, 3, 3, 3), groups=n).reshape(n, 8, h, w)
        return self.out(F.leaky_relu(x))


class Unclear(nn.Module):
    """An image, or one number, is added: nobody can tell."""

    def __init__(self, fault=0):
        super().__init__()
        self.one = conv(3, 4)

    def forward(self, x, noise):
        return self.one(x + noise)
