"""Pictures under turns and mirrors: lifting, group convolutions by hand, averages over frames, odd and even sizes."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.foreign.case import Case, Given, drawn, pair


def picture(size: int = 9) -> Given:
    return Given((drawn(2, 3, size, size),), ("grid",))


def symmetric(weight: Tensor) -> Tensor:
    turned = [torch.rot90(w, k, (-2, -1)) for w in (weight, weight.flip(-1)) for k in range(4)]
    return sum(turned) / 8  # type: ignore[return-value]


class SymmetricConv(nn.Conv2d):
    def forward(self, x: Tensor) -> Tensor:
        return F.conv2d(x, symmetric(self.weight), self.bias, self.stride, self.padding, self.dilation, self.groups)


class Lift(nn.Module):
    """Cohen and Welling: one filter in four directions; (n, c, 4, h, w)."""

    def __init__(self, i: int, o: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(0.3 * torch.randn(o, i, 3, 3))

    def forward(self, x: Tensor) -> Tensor:
        return torch.stack([F.conv2d(x, self.weight.rot90(k, (-2, -1)), padding=1) for k in range(4)], 2)


class P4Conv(nn.Module):
    def __init__(self, i: int, o: int, direction: int = 1) -> None:
        super().__init__()
        self.weight = nn.Parameter(0.3 * torch.randn(o, i, 4, 3, 3))
        self.bias = nn.Parameter(torch.randn(o))
        self.direction = direction

    def forward(self, x: Tensor) -> Tensor:
        n, c, r, h, w = x.shape
        filters = [self.weight.roll(self.direction * k, 2).rot90(k, (-2, -1)) for k in range(4)]
        full = torch.stack(filters, 1).reshape(-1, c * r, 3, 3)
        out = F.conv2d(x.reshape(n, c * r, h, w), full, padding=1).view(n, -1, 4, h, w)
        return out + self.bias[None, :, None, None, None]


class P4Net(nn.Module):
    def __init__(self, direction: int = 1, pooled: bool = True) -> None:
        super().__init__()
        self.lift, self.conv1, self.conv2 = Lift(3, 4), P4Conv(4, 4), P4Conv(4, 5, direction)
        self.head = nn.Linear(5, 3)
        self.pooled = pooled

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.lift(x))
        x = F.relu(self.conv1(x))
        x = self.conv2(x).amax(2)
        return self.head(x.mean((-2, -1))) if self.pooled else x


class Branches(nn.Module):
    """One network sees the picture in all its poses, and the answers are turned back and added."""

    def __init__(self, f: nn.Module, forgotten: bool = False, wrong: bool = False) -> None:
        super().__init__()
        self.f, self.forgotten, self.wrong = f, forgotten, wrong

    def forward(self, x: Tensor) -> Tensor:
        total = 0
        for mirrored in (False, True):
            for k in range(4):
                y = torch.rot90(x.flip(-1) if mirrored else x, k, (2, 3))
                y = torch.rot90(self.f(y), k if self.wrong and k == 1 and mirrored else -k, (2, 3))
                total = total + (y if not mirrored or (self.forgotten and k == 3) else y.flip(-1))
        return total / 8


def averaged(**fault: bool) -> nn.Module:
    torch.manual_seed(3)
    f = nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.GELU(), nn.Conv2d(6, 4, 3, padding=1))
    g = nn.Sequential(nn.Conv2d(4, 6, 5, padding=2), nn.Tanh(), nn.Conv2d(6, 2, 1))
    return nn.Sequential(OrderedDict(first=Branches(f), act=nn.SELU(), second=Branches(g, **fault)))


class FourTowers(nn.Module):
    """Towers that are meant to share weights; a deep copy of one was trained a little further."""

    def __init__(self, apart: float) -> None:
        super().__init__()
        tower = nn.Sequential(nn.Conv2d(3, 5, 3, padding=1), nn.ReLU(), nn.Conv2d(5, 5, 3, padding=1))
        towers = [tower] * 4
        if apart:
            towers[2] = copy.deepcopy(tower)
            with torch.no_grad():
                towers[2][2].weight[0, 0, 0, 0] += apart
        self.towers = nn.ModuleList(towers)

    def forward(self, x: Tensor) -> Tensor:
        return sum(torch.rot90(t(torch.rot90(x, k, (2, 3))), -k, (2, 3)) for k, t in enumerate(self.towers))


def towers(apart: float) -> nn.Module:
    return nn.Sequential(
        OrderedDict(stem=SymmetricConv(3, 3, 3, padding=1), towers=FourTowers(apart), out=nn.Conv2d(5, 2, 1))
    )


class Resize(nn.Module):
    def __init__(self, mode: str, size: int) -> None:
        super().__init__()
        self.mode, self.size = mode, size

    def forward(self, x: Tensor) -> Tensor:
        more = {} if self.mode == "nearest" else {"align_corners": False}
        return F.interpolate(x, (self.size, self.size), mode=self.mode, **more)  # type: ignore[arg-type]


def resized(mode: str) -> nn.Module:
    return nn.Sequential(
        SymmetricConv(3, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(), Resize("bicubic", 14), SymmetricConv(6, 6, 3),
        Resize(mode, 5), nn.Conv2d(6, 2, 1),
    )  # fmt: skip


def strided(pool: nn.Module) -> nn.Module:
    return nn.Sequential(
        SymmetricConv(3, 6, 3, padding=1), nn.ReLU(), pool, SymmetricConv(6, 6, 3, padding=1), nn.AdaptiveMaxPool2d(1),
        nn.Flatten(), nn.Linear(6, 4),
    )  # fmt: skip


class Moments(nn.Module):
    """Sums over a picture: those of powers of the radius; or of the first coordinate, slightly."""

    def __init__(self, tilt: float) -> None:
        super().__init__()
        self.tilt = tilt

    def forward(self, x: Tensor) -> Tensor:
        y = torch.linspace(-1, 1, x.shape[-1], dtype=x.dtype, device=x.device)
        r = (y[:, None] ** 2 + y**2 + self.tilt * y).sqrt() if self.tilt else (y[:, None] ** 2 + y**2).sqrt()
        return torch.stack([(x * r**p).mean((-2, -1)) for p in (1, 2, 3)], -1).flatten(1)


class Canonical(nn.Module):
    """Turn the picture until its brightest quarter comes first, look, turn back; or do not turn back."""

    def __init__(self, back: bool) -> None:
        super().__init__()
        self.net, self.back = (
            nn.Sequential(nn.Conv2d(3, 5, 3, padding=1), nn.SiLU(), nn.Conv2d(5, 2, 3, padding=1)),
            back,
        )

    def forward(self, x: Tensor) -> Tensor:
        out = []
        for one in x:
            sums = [one.rot90(k, (-2, -1))[:, :4, :4].pow(2).sum() for k in range(4)]
            k = int(torch.stack(sums).argmax())
            y = self.net(one.rot90(k, (-2, -1))[None])[0]
            out.append(y.rot90(-k if self.back else k, (-2, -1)))
        return torch.stack(out)


class Polar(nn.Module):
    """Samples on circles about the middle by grid_sample, averaged over the angle; the fault: 7 angles, not 8."""

    def __init__(self, angles: int) -> None:
        super().__init__()
        a = torch.arange(angles) * 2 * torch.pi / angles
        r = torch.linspace(0.2, 0.9, 4)
        self.register_buffer("at", torch.stack([r[:, None] * a.cos(), r[:, None] * a.sin()], -1)[None])

    def forward(self, x: Tensor) -> Tensor:
        at = self.at.expand(len(x), -1, -1, -1).to(x.dtype)
        return F.grid_sample(x, at, align_corners=True).mean(-1).flatten(1)


class Attend(nn.Module):
    """Every pixel attends to all, with a bias of the distance; or of the distance along rows."""

    def __init__(self, dim: int, size: int, rows: bool) -> None:
        super().__init__()
        self.qkv = nn.Conv2d(dim, 3 * dim, 1)
        at = torch.stack(torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij"), -1).view(-1, 2).float()
        apart = at[:, None] - at
        self.register_buffer("bias", -(apart[..., 0].abs() if rows else apart.pow(2).sum(-1)) / 5, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(x).flatten(2).chunk(3, 1)
        out = F.scaled_dot_product_attention(q.mT, k.mT, v.mT, attn_mask=self.bias.to(q.dtype))
        return x + out.mT.view_as(x)


class ModReLU(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.b = nn.Parameter(-0.1 * torch.rand(dim, 1, 1))

    def forward(self, z: Tensor) -> Tensor:
        size = z.abs()
        return z * F.relu(size + self.b) / (size + 1e-6)


class Spectrum(nn.Module):
    """Power spectra do not see shifts, and a mean over all angles sees no turns; the phase of one corner does."""

    def __init__(self, phase: bool) -> None:
        super().__init__()
        self.act, self.phase = ModReLU(3), phase

    def forward(self, x: Tensor) -> Tensor:
        z = self.act(torch.fft.fft2(x, norm="ortho"))
        out = torch.stack([z.abs().mean((-2, -1)), z.abs().pow(2).mean((-2, -1))], -1)
        return (out + 1e-3 * z[..., 0, 1].angle()[..., None] if self.phase else out).flatten(1)


def spectrum(phase: bool) -> nn.Module:
    return nn.Sequential(Spectrum(phase), nn.Linear(6, 8), nn.Dropout(0.5), nn.GLU(), nn.Linear(4, 2))


class Padded(nn.Module):
    def __init__(self, sides: Sequence[int]) -> None:
        super().__init__()
        self.conv, self.sides = SymmetricConv(6, 6, 4), list(sides)

    def forward(self, x: Tensor) -> Tensor:
        return self.conv(F.pad(x, self.sides, value=0.3))


def padded(*sides: int) -> nn.Module:
    return nn.Sequential(
        SymmetricConv(3, 6, 3, padding=1), nn.LogSigmoid(), Padded((2, 2, 2, 2)), nn.ReLU(), Padded(sides)
    )


class Functional(nn.Module):
    """Weights in a dictionary, functional calls; the fault: axes exchanged in one residual branch."""

    def __init__(self, exchanged: bool) -> None:
        super().__init__()
        self.w = nn.ParameterDict({"a": 0.3 * torch.randn(6, 3, 3, 3), "b": 0.3 * torch.randn(6, 6, 3, 3)})
        self.post = nn.Identity()
        self.branch = Exchanged() if exchanged else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        h = F.hardtanh(F.conv2d(x, symmetric(self.w["a"]), padding=1))
        h = h + self.branch(F.softsign(F.conv2d(h, symmetric(self.w["b"]), padding=1)))
        return self.post(F.normalize(h, dim=1))


class Exchanged(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.transpose(-1, -2)


p4, p4_fault = pair("p4 by hand", P4Net, lambda: P4Net(-1), ["conv2"], picture, ("fixed",), "C4", hooks=False)
frames, _ = pair("frames of D4", averaged, averaged, [], picture, ("grid",), "D4", hooks=False)
CASES: tuple[Case, ...] = (
    p4, p4_fault,
    *pair("p4, a map of features", lambda: P4Net(1, False), lambda: P4Net(-1, False), ["conv2"], picture, ("grid",),
          "C4",
          hooks=False),
    frames,
    frames.broken("a mirror forgotten", lambda: averaged(forgotten=True), "second"),
    frames.broken("turned on, not back", lambda: averaged(wrong=True), "second"),
    *pair("towers that share", lambda: towers(0), lambda: towers(1e-4), ["towers"], picture, ("grid",), "C4",
          hooks=False),
    *pair("resized", lambda: resized("bilinear"), lambda: resized("nearest"), ["5"], picture, ("grid",), "D4",
          details=True),
    *pair("strides on nine", lambda: strided(SymmetricConv(6, 6, 3, 2, 1)), lambda: strided(nn.MaxPool2d(2)), ["2"],
          picture,
          ("fixed",), "D4", hooks=False),
    *pair("moments", lambda: nn.Sequential(Moments(0), nn.Linear(9, 3)), lambda: nn.Sequential(Moments(1e-3),
          nn.Linear(9, 3)),
          ["0"], lambda: picture(8), ("fixed",), "C4"),
    *pair("canonical pose", lambda: Canonical(True), lambda: Canonical(False), [], picture, ("grid",), "C4",
          hooks=False),
    *pair("circles", lambda: nn.Sequential(Polar(8), nn.Linear(12, 4)), lambda: nn.Sequential(Polar(7), nn.Linear(12,
          4)),
          ["0"], picture, ("fixed",), "D4", limit=1e-5),
    *pair("attention by distance",
          lambda: nn.Sequential(SymmetricConv(3, 4, 1), Attend(4, 9, False), nn.ReLU(), Attend(4, 9, False)),
          lambda: nn.Sequential(SymmetricConv(3, 4, 1), Attend(4, 9, False), nn.ReLU(), Attend(4, 9, True)),
          ["3"], picture, ("grid",), "D4"),
    *pair("power spectrum", lambda: spectrum(False), lambda: spectrum(True), ["0"], picture, ("fixed",), "C4"),
    *pair("filters of even width", lambda: padded(1, 1, 1, 1), lambda: padded(1, 2, 1, 2), ["4"], lambda: picture(8),
          ("grid",), "D4"),
    *pair("functional", lambda: Functional(False), lambda: Functional(True), ["branch"], picture, ("grid",), "C4"),
)  # fmt: skip
