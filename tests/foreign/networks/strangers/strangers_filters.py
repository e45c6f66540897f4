"""Networks whose filters are made as they run: by Fourier series, state spaces, small networks, or of the root."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.foreign.case import Case, Given, drawn, pair
from tests.foreign.their_files import their_file

PICTURE = lambda: Given((drawn(2, 3, 16, 16),), ("grid",))  # noqa: E731
SERIES = lambda: Given((drawn(1, 40, 3),), ("steps@1",), layout="NTC")  # noqa: E731
MEMBERS = lambda: Given((drawn(2, 9, 5),), ("nodes@1",))  # noqa: E731
FILE = Path(__file__).parent / "theirs" / "of_one_size.py"


class Spectral(nn.Module):
    def __init__(self, width: int, modes: int) -> None:
        super().__init__()
        self.modes = modes
        self.w1, self.w2 = (nn.Parameter(torch.randn(width, width, modes, modes, 2) / width) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        f, m = torch.fft.rfft2(x), self.modes
        out = torch.zeros_like(f)
        out[:, :, :m, :m] = torch.einsum("bixy,ioxy->boxy", f[:, :, :m, :m], torch.view_as_complex(self.w1))
        out[:, :, -m:, :m] = torch.einsum("bixy,ioxy->boxy", f[:, :, -m:, :m], torch.view_as_complex(self.w2))
        return torch.fft.irfft2(out, s=x.shape[-2:])


class Operator(nn.Module):
    """A Fourier neural operator; with coordinates beside the values, as it is mostly written, no shift is respected."""

    def __init__(self, coordinates: bool) -> None:
        super().__init__()
        self.coordinates = coordinates
        self.fc0 = nn.Conv2d(5 if coordinates else 3, 8, 1)
        self.spectral = nn.ModuleList([Spectral(8, 5), Spectral(8, 5)])
        self.beside = nn.ModuleList([nn.Conv2d(8, 8, 1), nn.Conv2d(8, 8, 1)])
        self.fc1 = nn.Sequential(nn.Conv2d(8, 16, 1), nn.GELU(), nn.Conv2d(16, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        if self.coordinates:
            t = torch.linspace(0, 1, x.shape[-1], dtype=x.dtype, device=x.device)
            both = torch.stack(torch.meshgrid(t, t, indexing="ij"))[None]
            x = torch.cat([x, both.expand(len(x), -1, -1, -1)], 1)
        x = self.fc0(x)
        for one, other in zip(self.spectral, self.beside):
            x = F.gelu(one(x) + other(x))
        return self.fc1(x)


def _causal(x: Tensor, kernel: Tensor, length: int) -> Tensor:
    """Return the convolution along the last axis by Fourier series of so many steps: twice the steps wrap nothing."""
    product = torch.fft.rfft(x, n=length) * torch.fft.rfft(kernel, n=length)
    return torch.fft.irfft(product, n=length)[..., : x.shape[-1]]


class Diagonal(nn.Module):
    """A diagonal state space (S4D); the fault: a Fourier transform without padding."""

    def __init__(self, width: int, wraps: bool) -> None:
        super().__init__()
        self.step = nn.Parameter(torch.rand(width) - 2)
        self.real, self.imag = nn.Parameter(-torch.rand(width, 4) - 0.5), nn.Parameter(math.pi * torch.rand(width, 4))
        self.c = nn.Parameter(torch.randn(width, 4, 2))
        self.wraps = wraps

    def forward(self, x: Tensor) -> Tensor:
        u, steps = x.transpose(1, 2), x.shape[1]
        a = torch.complex(self.real, self.imag)
        by_step = a * self.step.exp()[:, None]
        c = torch.view_as_complex(self.c) * (by_step.exp() - 1) / a
        times = torch.arange(steps, device=x.device)
        kernel = 2 * torch.einsum("dn,dnl->dl", c, torch.exp(by_step[..., None] * times)).real
        return x + F.gelu(_causal(u, kernel, steps if self.wraps else 2 * steps).transpose(1, 2))


class Implicit(nn.Module):
    """A long filter made by a small network and a gate (Hyena); the fault: a window laid over what comes out."""

    def __init__(self, width: int, window: bool) -> None:
        super().__init__()
        self.proj, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.filter = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, width))
        self.window = window

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.proj(x).transpose(1, 2).chunk(3, 1)
        t = torch.arange(x.shape[1], dtype=x.dtype, device=x.device)[:, None] / 10
        y = _causal(k * v, (self.filter(t) * torch.exp(-t)).t(), 2 * x.shape[1])
        y = y * torch.exp(-0.05 * t.t()) if self.window else y
        return self.out((q * y).transpose(1, 2))


class Selective(nn.Module):
    """A scan whose steps hang on what comes (Mamba); the fault: every eighth state fades."""

    def __init__(self, width: int, fades: bool) -> None:
        super().__init__()
        self.a = nn.Parameter(-torch.rand(width, 3))
        self.dt, self.b, self.c = nn.Linear(width, width), nn.Linear(width, 3), nn.Linear(width, 3)
        self.fades = fades

    def forward(self, x: Tensor) -> Tensor:
        dt, b, c = F.softplus(self.dt(x)), self.b(x), self.c(x)
        h, seen = x.new_zeros(len(x), x.shape[2], 3), []
        for t in range(x.shape[1]):
            h = torch.exp(dt[:, t, :, None] * self.a) * h + (dt[:, t] * x[:, t])[..., None] * b[:, t, None, :]
            h = 0.9 * h if self.fades and t % 8 == 0 else h
            seen.append((h * c[:, t, None, :]).sum(-1))
        return x + torch.stack(seen, 1)


def series(layer: type[nn.Module], fault: bool) -> nn.Module:
    return nn.Sequential(nn.Linear(3, 6, bias=False), layer(6, False), layer(6, fault), nn.Linear(6, 2))


class Ranked(nn.Module):
    """A weight for each rank, so that it takes nine members and no other number; the fault: they are not sorted."""

    def __init__(self, ranks: bool) -> None:
        super().__init__()
        self.weight, self.ranks = nn.Parameter(torch.randn(9, 6)), ranks

    def forward(self, x: Tensor) -> Tensor:
        x = x.sort(dim=-2, descending=True).values if self.ranks else x
        return (x * self.weight).sum(-2)


def ranked(ranks: bool) -> nn.Module:
    return nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 6), Ranked(ranks), nn.Linear(6, 2))


@dataclass
class Answers:
    logits: Tensor
    depth: Tensor


class TwoHeads(nn.Module):
    """Answers in a dataclass; the fault: depths are told from that of a corner."""

    def __init__(self, corner: bool) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, padding=1, padding_mode="circular")
        self.logits, self.depth, self.corner = nn.Linear(6, 4), nn.Conv2d(6, 1, 1), corner

    def forward(self, x: Tensor) -> Answers:
        h = torch.relu(self.conv(x))
        depth = self.depth(h)
        return Answers(self.logits(h.mean((2, 3))), depth - depth[:, :, :1, :1] if self.corner else depth)


def made(name: str, fault: int) -> nn.Module:
    found: nn.Module = getattr(their_file(FILE), name)(fault=fault)
    return found


def of_one_size(name: str, given: Given, group: str, culprit: tuple[str, ...]) -> tuple[Case, ...]:
    """Return a network of the file and its twin, called and as the command line opens it."""
    found: list[Case] = []
    for door in (False, True):
        title = f"{name}, from a file" if door else name
        makes = [partial(made, name, k) for k in (0, 1)]
        both = pair(title, *makes, culprit, lambda: given, given.acts, group, hooks=False)
        found += [replace(case, door=f"{FILE}:{name}(fault={k})" if door else "") for k, case in enumerate(both)]
    return tuple(found)


CASES: tuple[Case, ...] = (
    *pair("Fourier operator", lambda: Operator(False), lambda: Operator(True), ["fc0"], PICTURE, ("grid",),
          "translation", hooks=False),
    *pair("state space", lambda: series(Diagonal, False), lambda: series(Diagonal, True), ["2"], SERIES, ("steps@1",),
          "shift", hooks=False),
    *pair("long filter", lambda: series(Implicit, False), lambda: series(Implicit, True), ["2"], SERIES, ("steps@1",),
          "shift", hooks=False),
    *pair("selective scan", lambda: series(Selective, False), lambda: series(Selective, True), ["2"], SERIES,
          ("steps@1",), "shift", hooks=False),
    *pair("ranks", lambda: ranked(True), lambda: ranked(False), ["3"], MEMBERS, ("fixed",), "permutation", hooks=False,
          refusable=True, tells=r"nothing shorter along any axis.*Nodes\(axis\)"),
    *pair("two heads", lambda: TwoHeads(False), lambda: TwoHeads(True), ["output[1]"], PICTURE, ("fixed", "grid"),
          "translation", hooks=False),
    *of_one_size("Places", PICTURE(), "translation", ("second",)),
    *(Case("patches of one size" + ", a fault" * k, partial(made, "Mixed", k),
           lambda: Given((drawn(1, 3, 28, 28),), ("grid",), step=4), "translation", ("grid@4",),
           "broken" if k else "holds", ("mix",) * k, hooks=False, door=f"{FILE}:Mixed(fault={k})",
           sample="random:1x3x28x28") for k in (0, 1)),
    *of_one_size("Cube", Given((drawn(1, 2, 7, 7, 7),), ("volume",)), "Oh", ("head", "output")),
)  # fmt: skip
