"""The networks that other tools measured, rebuilt in plain torch: each as it was, and with one planted fault."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from equiscope import FieldType, Regular, group
from equiscope.fields import VERTEX, Ambient

VECTORS = FieldType(VERTEX.domain, Ambient("vector"))
FAULT = 0.3  # added to one number


def waves(*shape: int, pitch: float = 0.7) -> Tensor:
    """Return numbers that need no random generator, in float64."""
    count = torch.Size(shape).numel()
    k = torch.arange(count, dtype=torch.float64)
    return (torch.sin(pitch * k) + 0.5 * torch.cos(0.31 * k * k)).reshape(shape)


def smooth(side: int) -> Tensor:
    """Return one image of whole waves, (1, 1, side, side): its products with itself are band-limited."""
    t = 2 * torch.pi * torch.arange(side, dtype=torch.float64) / side
    return (torch.sin(t)[:, None] * torch.cos(2 * t + 0.4) + 0.5 * torch.cos(t + 0.9))[None, None]


class Conv(nn.Module):
    """A convolution with given filters, whose channels are those of quarter turns."""

    out_rep = Regular(group("C4"))

    def __init__(self, filters: Any) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(filters, dtype=torch.float64))

    def forward(self, x: Tensor) -> Tensor:
        return F.conv2d(x, self.weight, padding=self.weight.shape[-1] // 2)


def quarter_turns(filters: Sequence[Any], broken: bool) -> nn.Sequential:
    """Return a group convolution from images to regular fields, a ReLU and one between regular fields."""
    network = nn.Sequential(Conv(filters[0]), nn.ReLU(), Conv(filters[1]))
    if broken:
        with torch.no_grad():
            network.get_parameter("2.weight")[0, 0, 0, 0] += FAULT
    return network


class Vectors(nn.Module):
    """Scale the vector at each vertex by a weight, then by the sigmoid of its length; (V, 3) -> (V, 3)."""

    out_field = VECTORS

    def __init__(self, weight: float, broken: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(weight, dtype=torch.float64))
        self.fault = FAULT if broken else 0.0

    def forward(self, x: Tensor) -> Tensor:
        y = self.weight * x
        return y * y.norm(dim=-1, keepdim=True).sigmoid() + self.fault * torch.eye(3, dtype=x.dtype, device=x.device)[0]


class Circles(nn.Module):
    """A convolution on a circle of pixels and a square of its values; a fault weighs them by their column."""

    def __init__(self, broken: bool) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3, padding=1, padding_mode="circular", dtype=torch.float64)
        self.broken = broken
        with torch.no_grad():
            self.conv.weight.copy_(waves(2, 1, 3, 3))
            self.conv.bias.fill_(0.25)  # type: ignore[union-attr]

    def forward(self, x: Tensor) -> Tensor:
        y = self.conv(x).square()
        return y * torch.linspace(0.0, 1.0, y.shape[-1], dtype=y.dtype) if self.broken else y


def padded(broken: bool) -> nn.Sequential:
    """Return a network on images that obeys shifts away from the border, or averages over whole columns."""

    class Columns(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x * torch.linspace(0.0, 1.0, x.shape[-1], dtype=x.dtype)

    conv = nn.Conv2d(1, 2, 1, dtype=torch.float64)
    with torch.no_grad():
        conv.weight.copy_(waves(2, 1, 1, 1, pitch=1.3))
        conv.bias.zero_()  # type: ignore[union-attr]
    return nn.Sequential(conv, nn.Tanh(), *([Columns()] if broken else []))
