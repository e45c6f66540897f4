"""Small networks whose symmetry is known by construction, written with torch alone."""

from __future__ import annotations

from collections import OrderedDict

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.groups import group
from explorer.declare.types.fields import Regular, Scalar

D4 = [(r, m) for m in (0, 1) for r in range(4)]  # index 4 m + r: r quarter turns after m left-right mirrors


def move(x: Tensor, turns: int, mirrored: int) -> Tensor:
    """Return rot90^turns(fliplr^mirrored(x))."""
    return torch.rot90(x.flip(-1) if mirrored else x, turns, (-2, -1))


def symmetric(weight: Tensor) -> Tensor:
    """Return the mean over the eight images of a filter."""
    return torch.stack([move(weight, *g) for g in D4]).mean(0)


def conv(inputs: int, outputs: int, kernel: int = 3, fault: bool = False, **options: object) -> nn.Conv2d:
    """Return a convolution with filters that D4 leaves as they are; with a `fault`, any filters."""
    made = nn.Conv2d(inputs, outputs, kernel, **{"padding": kernel // 2, **options})
    if not fault:
        with torch.no_grad():
            made.weight.copy_(symmetric(made.weight))
    return made


def resymmetrise(net: nn.Module) -> None:
    """Make symmetric in double precision what was so in single precision."""
    with torch.no_grad():
        for module in net.modules():
            if isinstance(module, nn.Conv2d) and float((module.weight - symmetric(module.weight)).norm()) < 1e-5:
                module.weight.copy_(symmetric(module.weight))


def three(fault: int | None = 2, scale: float = 1.0) -> nn.Sequential:
    """Return three convolutions in double precision, of which one (1, 2, 3 or None) is no layer of D4."""
    layers = OrderedDict((f"conv{k}", conv(1 if k == 1 else 4, 4, fault=k == fault)) for k in (1, 2, 3))
    net = nn.Sequential(layers).double()
    resymmetrise(net)
    with torch.no_grad():
        net.conv3.weight.mul_(scale)
        net.conv3.bias.mul_(scale)
    return net


class Lift(nn.Module):
    """Scalars to a regular field of C4 or D4: filters W[:, h] = S(h) w."""

    def __init__(self, name: str, inputs: int, fields: int) -> None:
        super().__init__()
        self.out_rep = Regular(group(name))
        self.order = group(name).order
        self.weight = nn.Parameter(torch.randn(fields, inputs, 3, 3) / 3)
        self.kernel_size = 3

    def filters(self) -> Tensor:
        return torch.stack([move(self.weight, *g) for g in D4[: self.order]], 1).flatten(0, 1)

    def forward(self, x: Tensor) -> Tensor:
        return F.conv2d(x, self.filters(), padding=1)


class Mix(nn.Module):
    """Regular to regular: W[:, h] = rho(h) w, by the formulas of tests/models/data/README.md."""

    MIRRORED = (4, 7, 6, 5, 0, 3, 2, 1)

    def __init__(self, name: str, inputs: int, fields: int, wrong: bool = False) -> None:
        super().__init__()
        self.out_rep = Regular(group(name))
        self.order = group(name).order
        self.weight = nn.Parameter(torch.randn(fields, inputs, self.order, 3, 3) / 6)
        self.bias = nn.Parameter(torch.randn(fields))
        self.wrong = wrong  # the orientations turned against the plane
        self.kernel_size = 3

    def filters(self) -> Tensor:
        filters = []
        for r, m in D4[: self.order]:
            w = self.weight[:, :, list(self.MIRRORED)].flip(-1) if m else self.weight
            halves = torch.rot90(w, r, (-2, -1)).unflatten(2, (-1, 4))
            filters.append(halves.roll(-r if self.wrong else r, 3).flatten(2, 3).flatten(1, 2))
        return torch.stack(filters, 1).flatten(0, 1)

    def forward(self, x: Tensor) -> Tensor:
        return F.conv2d(x, self.filters(), self.bias.repeat_interleave(self.order), padding=1)


class GroupMax(nn.Module):
    """The largest of the orientations: a regular field to scalars."""

    def __init__(self, order: int) -> None:
        super().__init__()
        self.out_rep = Scalar()
        self.order = order

    def forward(self, x: Tensor) -> Tensor:
        return x.unflatten(1, (-1, self.order)).amax(2)


class GlobalMean(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.mean((-2, -1))


def group_cnn(name: str, wrong: bool = False, declared: bool = True) -> nn.Sequential:
    """Return lift, relu, mix, relu, group pooling, global pooling, classifier."""
    order = group(name).order
    net = nn.Sequential(
        OrderedDict(
            lift=Lift(name, 1, 2), relu1=nn.ReLU(), mix=Mix(name, 2, 3, wrong), relu2=nn.ReLU(),
            pool=GroupMax(order), mean=GlobalMean(), head=nn.Linear(3, 4),
        )
    )  # fmt: skip
    if not declared:
        for module in net:
            if hasattr(module, "out_rep"):
                del module.out_rep
    return net


class Steerable(nn.Module):
    """Eight orientations of a Gaussian derivative: exact at quarter turns, nearly so between."""

    def __init__(self) -> None:
        super().__init__()
        self.out_rep = Regular(group("C8"))
        self.kernel_size = 7
        y, x = torch.meshgrid(*[torch.arange(-3.0, 4.0, dtype=torch.float64)] * 2, indexing="ij")
        y = -y  # up
        bell = torch.exp(-(x.square() + y.square()) / 2.5)
        angles = torch.arange(8, dtype=torch.float64) * torch.pi / 4
        angles = [(round(float(a.cos()), 15), round(float(a.sin()), 15)) for a in angles]
        self.register_buffer("weight", torch.stack([(c * x + s * y) * bell for c, s in angles])[:, None])

    def forward(self, x: Tensor) -> Tensor:
        return F.conv2d(x, self.weight, padding=3)


class Kept(nn.Module):
    """Gives its answers in the same memory each time, as code does that saves allocations."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = torch.empty(0)

    def forward(self, x: Tensor) -> Tensor:
        if self.kept.shape != x.shape or self.kept.dtype != x.dtype:
            self.kept = torch.empty_like(x)
        return self.kept.copy_(x)
