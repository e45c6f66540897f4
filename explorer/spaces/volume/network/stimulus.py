"""Choose the volumes that a network is measured on: real data that can show a fault, else band-limited noise."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

CONTRAST = 1e-3  # a fault shows in proportion to the contrast, and must stay far above the tolerance
BAND = 0.25  # cycles a voxel: half the Nyquist frequency


def noise(shape: Sequence[int], seed: int, band: float = BAND) -> Tensor:
    """Return unit-variance noise of `shape` (batch, channel, z, y, x) without frequencies above `band`, float64."""
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(tuple(shape), generator=generator, device="cpu", dtype=torch.float64)
    along = torch.meshgrid(
        *(torch.fft.fftfreq(side, dtype=torch.float64, device="cpu") for side in shape[-3:]), indexing="ij"
    )
    radius = torch.stack(along).norm(dim=0)
    axes, keep = (-3, -2, -1), torch.sigmoid((band - radius) * 60)
    values = torch.fft.ifftn(torch.fft.fftn(values, dim=axes) * keep, dim=axes).real
    scaled: Tensor = values / values.flatten(1).std(dim=1).view(-1, 1, 1, 1, 1).clamp_min(1e-12)
    return scaled


def stimulus(x: Tensor) -> Tensor:
    """Return `x`; raise ValueError when it can show nothing."""
    if x.ndim != 5 or x.numel() == 0:
        raise ValueError(f"the input must be (batch, channel, z, y, x), not empty, got shape {tuple(x.shape)}")
    if not x.is_floating_point():
        kind = str(x.dtype).removeprefix("torch.")
        raise ValueError(f"the input holds {kind} values, and volumes are real; make them real numbers")
    if not torch.isfinite(x).all():
        raise ValueError("the input holds NaN or infinite values; nothing can be measured on it")
    flat = x.detach().double().flatten(2)
    if bool(((flat.amax(2) - flat.amin(2)).amax(1) <= CONTRAST * flat.abs().amax((1, 2))).any()):
        raise ValueError(
            "the input is (nearly) constant, and a constant volume looks the same under every element; take other data"
        )
    return x


def another(x: Tensor, seed: int) -> Tensor:
    """Return a different volume for each sample of `x`: the next sample, or noise where that is the same one."""
    other = x.roll(1, 0)
    alike = (x - other).flatten(1).norm(dim=1) <= 1e-3 * x.flatten(1).norm(dim=1)
    fresh = noise(x.shape, seed).to(x) * x.std() + x.mean()
    return torch.where(alike[:, None, None, None, None], fresh, other)
