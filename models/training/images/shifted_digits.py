"""Digits on a torus: enlarged to 32 x 32, so that three coarsenings fit, and judged after circular shifts."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.spaces.grid.samples import digit_images as digits

SIZE = 32  # divisible by the total stride of 8, without which a circular shift cannot survive subsampling


def resized(images: Tensor) -> Tensor:
    """Enlarge digits to 32 x 32, as they are when shown to the network; (N, 1, 29, 29) -> (N, 1, 32, 32)."""
    return F.interpolate(images, size=(SIZE, SIZE), mode="bicubic", align_corners=False).clamp(0.0, 1.0)


class Resized(nn.Module):
    """A network of 32 x 32 images fed with digits of 29 x 29, for training; (N, 1, 29, 29) -> (N, 10)."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: Tensor) -> Tensor:
        return self.network(resized(x))


def shifted_error(network: nn.Module, shifts: int = 8, seed: int = 0) -> float:
    """Return the fraction of test digits misread after random circular shifts by whole pixels."""
    images, labels = (torch.tensor(part) for part in digits.load("test"))
    images = resized(images)
    chance = torch.Generator().manual_seed(seed)
    wrong = []
    with torch.no_grad():
        for _ in range(shifts):
            shift = torch.randint(SIZE, (2,), generator=chance).tolist()
            wrong.append(network(images.roll(shift, (-2, -1))).argmax(1) != labels)
    return float(torch.cat(wrong).double().mean())
