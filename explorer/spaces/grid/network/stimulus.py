"""Choose the images that a network is measured on: real data that can show a fault, else band-limited noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import FieldType
from explorer.spaces.grid.fields import Grid

CONTRAST = 1e-3  # a fault shows in proportion to the contrast, and must stay far above the tolerance


def noise(shape: Sequence[int], seed: int, dtype: torch.dtype = torch.float64) -> Tensor:
    """Return unit-variance noise of `shape` (batch, channel, h, w), band-limited to half the Nyquist frequency."""
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(tuple(shape), generator=generator, device="cpu", dtype=torch.float64)
    h, w = values.shape[-2:]
    radius = (torch.fft.fftfreq(h, device="cpu")[:, None].square() + torch.fft.fftfreq(w, device="cpu").square()).sqrt()
    keep = torch.sigmoid((0.25 - radius) * 60)
    values = torch.fft.ifft2(torch.fft.fft2(values) * keep).real
    spread = values.flatten(1).std(dim=1).view(-1, 1, 1, 1)
    scaled: Tensor = values / spread.clamp_min(1e-12)
    return scaled.to(dtype)


def stimulus(inputs: Tensor | Sequence[int], seed: int) -> Tensor:
    """Return `inputs`, or noise of that shape (two samples at least); raise ValueError when it can show nothing."""
    if isinstance(inputs, Tensor):
        x = inputs.detach()
    elif len(inputs) == 4 and min(inputs) > 0:
        x = noise((max(2, inputs[0]), *inputs[1:]), seed)
    else:
        raise ValueError(f"the shape must be (batch, channel, height, width), all positive, got {tuple(inputs)}")
    if x.ndim != 4 or x.numel() == 0:
        raise ValueError(f"the input must be (batch, channel, height, width), not empty, got shape {tuple(x.shape)}")
    if not x.is_floating_point():
        kind = str(x.dtype).removeprefix("torch.")
        raise ValueError(f"the input holds {kind} values, and images are real; x.float() / 255 makes one of bytes")
    if not torch.isfinite(x).all():
        raise ValueError("the input holds NaN or infinite values; nothing can be measured on it")
    flat = x.double().flatten(2)
    # per channel: an image of one colour is constant too
    spread = (flat.amax(2) - flat.amin(2)).amax(1)
    if bool((spread <= CONTRAST * flat.abs().amax((1, 2))).any()):
        raise ValueError(
            "the input is (nearly) constant, and a constant image looks the same under every element; "
            "take other data, or subtract its mean"
        )
    return x


def has_blank_frame(x: Tensor) -> bool:
    """Say whether the outermost pixels of all images (batch, channel, h, w) are of one colour."""
    frame = torch.cat([x[..., 0, :], x[..., -1, :], x[..., :, 0], x[..., :, -1]], -1)
    spread = frame.amax((0, 2)) - frame.amin((0, 2))
    return bool((spread <= CONTRAST * (x.amax((0, 2, 3)) - x.amin((0, 2, 3)))).all())


def noise_like(x: Tensor, seed: int) -> Tensor:
    """Return noise between the least and the largest value of each channel of images (batch, channel, h, w)."""
    fresh = noise(x.shape, seed).to(x)
    least, most = fresh.amin((2, 3), keepdim=True), fresh.amax((2, 3), keepdim=True)
    low, high = x.amin((0, 2, 3), keepdim=True), x.amax((0, 2, 3), keepdim=True)
    return low + (high - low) * (fresh - least) / (most - least).clamp_min(1e-12)


def another(x: Tensor, seed: int) -> Tensor:
    """Return a different image for each sample of `x`: the next sample, or noise where that is the same one."""
    other = x.roll(1, 0)
    size = x.flatten(1).norm(dim=1)
    alike = (x - other).flatten(1).norm(dim=1) <= 1e-3 * size
    fresh = noise(x.shape, seed).to(x) * x.std() + x.mean()
    return torch.where(alike[:, None, None, None], fresh, other)


def elsewhere(x: Tensor, seed: int) -> Tensor:
    """Return images that are mirrored and moved on; noise where that is the same again."""
    moved = x.flip(-1).roll((x.shape[-2] // 3, x.shape[-1] // 3), (-2, -1))
    return noise(tuple(x.shape), seed, x.dtype).to(x.device) if torch.allclose(moved, x) else moved


def each_image(inputs: Inputs, change: Callable[[Tensor], Tensor]) -> Inputs:
    """Return inputs with x and all other images changed."""

    def changed(value: Tensor, field: FieldType) -> Tensor:
        image = value.ndim == 4 and value.is_floating_point() and isinstance(field.domain, Grid)
        return change(value) if image or value is inputs.x else value

    return inputs.map(changed)
