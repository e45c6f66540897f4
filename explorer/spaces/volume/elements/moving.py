"""Move the values of volumes, (..., z, y, x): permutations of voxels, and shifts between them by their spectrum."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

_UP = (1, -1, 1)  # y points upwards, and rows are counted downwards


def turned(volume: Tensor, linear: tuple[float, ...]) -> Tensor:
    """Return f(A⁻¹ u), where A is a signed permutation of (x, y, z), row by row: voxels change places, bit for bit."""
    matrix = np.array(linear).reshape(3, 3)
    goes = np.abs(matrix).argmax(0)  # axis j of the source becomes axis goes[j]
    source = np.argsort(goes)
    lead = volume.ndim - 3
    # the last axis of a tensor is x, the one before it y
    order = [lead + 2 - int(source[2 - k]) for k in range(3)]
    flips = []
    for j in range(3):
        i = int(goes[j])
        if matrix[i, j] * _UP[i] * _UP[j] < 0:
            flips.append(lead + 2 - i)
    moved = volume.permute(*range(lead), *order)
    return moved.flip(flips) if flips else moved.contiguous()


def shifted(volume: Tensor, steps: tuple[int, int, int], boundary: str) -> Tensor:
    """Return f(u - t) for t in whole places, right, up and along the slices."""
    if not any(steps):
        return volume
    by = {-1: steps[0], -2: -steps[1], -3: steps[2]}
    if boundary == "circular":
        return volume.roll(tuple(by.values()), tuple(by))
    moved = torch.zeros_like(volume)
    target, origin = [slice(0)] * 3, [slice(0)] * 3
    for axis, step in by.items():
        side = volume.shape[axis]
        if abs(step) >= side:
            return moved
        target[axis] = slice(max(step, 0), side + min(step, 0))
        origin[axis] = slice(max(-step, 0), side + min(-step, 0))
    moved[..., target[0], target[1], target[2]] = volume[..., origin[0], origin[1], origin[2]]
    return moved


def between(volume: Tensor, steps: tuple[float, float, float]) -> Tensor:
    """Return f(u - t) on a torus for any t in places, by phases in the Fourier domain: an isometry."""
    for axis, step in ((-1, steps[0]), (-2, -steps[1]), (-3, steps[2])):
        side = volume.shape[axis]
        angle = -2 * torch.pi * step * torch.fft.fftfreq(side, dtype=torch.float64)
        phase = torch.polar(torch.ones_like(angle), angle)
        if side % 2 == 0:
            phase[side // 2] = torch.cos(angle[side // 2]).to(phase)  # the Nyquist frequency has no sign
        kind = torch.complex128 if volume.dtype == torch.float64 else torch.complex64
        shape = [-1 if k == volume.ndim + axis else 1 for k in range(volume.ndim)]
        spectrum = torch.fft.fft(volume, dim=axis) * phase.to(volume.device, kind).view(shape)
        volume = torch.fft.ifft(spectrum, dim=axis).real
    return volume
