"""Signals on the sphere, as coefficients of spherical harmonics up to degree 4: (batch, channels, 25)."""

import torch
from torch import nn

INPUT_DEGREE = 4
INPUT_CHANNELS = 1
LMAX = 4
DEGREES = torch.tensor([l for l in range(LMAX + 1) for _ in range(2 * l + 1)])


class DegreeMix(nn.Module):
    """One matrix of channels for each degree."""

    def __init__(self, cin, cout, bias="l0"):
        super().__init__()
        self.w = nn.Parameter(torch.randn(LMAX + 1, cout, cin) / cin**0.5)
        self.b = nn.Parameter(torch.randn(cout) * 0.1)
        self.bias = bias

    def forward(self, x):
        y = torch.einsum("koi,nik->nok", self.w[DEGREES], x)
        b = self.b[:, None] * (DEGREES == 0).to(y.dtype) if self.bias == "l0" else self.b[:, None]
        return y + b


class NormGate(nn.Module):
    """Scales each degree by a sigmoid of its own norm."""

    def forward(self, x):
        parts = []
        for part in x.split([2 * l + 1 for l in range(LMAX + 1)], dim=-1):
            parts.append(part * torch.sigmoid(part.norm(dim=-1, keepdim=True) - 1))
        return torch.cat(parts, -1)


class Spectrum(nn.Module):
    def __init__(self, zonal=False):
        super().__init__()
        self.zonal = zonal

    def forward(self, x):
        if self.zonal:  # the middle coefficient alone
            return torch.stack([x[..., l * l + l] for l in range(LMAX + 1)], -1).flatten(1)
        squares = x.square()
        return torch.stack([squares[..., DEGREES == l].sum(-1) for l in range(LMAX + 1)], -1).flatten(1)


class Net(nn.Module):
    def __init__(self, c=3, bias="l0", act=NormGate, zonal=False):
        super().__init__()
        self.mix1, self.act1 = DegreeMix(1, c, bias), act()
        self.mix2, self.act2 = DegreeMix(c, c), NormGate()
        self.read = Spectrum(zonal)
        self.head = nn.Sequential(nn.Linear(c * (LMAX + 1), 8), nn.ReLU(), nn.Linear(8, 2))

    def forward(self, x):
        return self.head(self.read(self.act2(self.mix2(self.act1(self.mix1(x))))))


def biased():
    return Net(bias="all")


def rectified():
    return Net(act=nn.ReLU)


def zonal():
    return Net(zonal=True)


class Heat(nn.Module):
    """Blurs a signal on the sphere: exp(-l (l + 1) t)."""

    def __init__(self, by_number=False):
        super().__init__()
        self.t = nn.Parameter(torch.tensor(0.1))
        self.by_number = by_number

    def forward(self, x):
        l = torch.arange(25) / 6 if self.by_number else DEGREES
        return x * torch.exp(-self.t * (l * (l + 1)).to(x.dtype))


class Smoother(nn.Module):
    """Signals in, signals out."""

    def __init__(self, by_number=False):
        super().__init__()
        self.enter = DegreeMix(1, 2)
        self.heat = Heat(by_number)
        self.leave = DegreeMix(2, 1)

    def forward(self, x):
        return self.leave(self.heat(self.enter(x)))


def by_number():
    return Smoother(True)


class Functional(nn.Module):
    """No layers at all: the power in each degree, in a few lines."""

    first = 0

    def forward(self, x):
        return torch.stack([(x[..., l * l + self.first : (l + 1) ** 2] ** 2).sum(-1) for l in range(1, 5)], -1)


class Off(Functional):
    first = 1  # off by one


class Normalised(nn.Module):
    """Whitens a signal before it is mixed: by its own size, or each coefficient by itself (a LayerNorm of torch)."""

    def __init__(self, own=False):
        super().__init__()
        self.norm = nn.LayerNorm(25) if own else Whole()
        self.net = Net()

    def forward(self, x):
        return self.net(self.norm(x))


class Whole(nn.Module):
    def forward(self, x):
        return x / x.norm(dim=-1, keepdim=True).clamp_min(1e-6)


def layer_norm():
    return Normalised(True)
