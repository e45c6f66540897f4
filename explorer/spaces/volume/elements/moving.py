"""Move the values of volumes, (..., z, y, x): permutations of voxels, shifts between them, rotations by splines."""

from __future__ import annotations

import warnings

import numpy as np
import torch
from torch import Tensor

from explorer.spaces.points.elements.wigner import wigner
from explorer.spaces.points.fields import Irreps
from explorer.work.budget import budgeted

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
        angle = -2 * torch.pi * step * torch.fft.fftfreq(side, dtype=torch.float64, device="cpu")
        phase = torch.polar(torch.ones_like(angle), angle)
        if side % 2 == 0:
            phase[side // 2] = torch.cos(angle[side // 2]).to(phase)  # the Nyquist frequency has no sign
        kind = torch.complex128 if volume.dtype == torch.float64 else torch.complex64
        shape = [-1 if k == volume.ndim + axis else 1 for k in range(volume.ndim)]
        spectrum = torch.fft.fft(volume, dim=axis) * phase.to(volume.device, kind).view(shape)
        volume = torch.fft.ifft(spectrum, dim=axis).real
    return volume


def mixed_irreps(values: Tensor, rep: Irreps, linear: tuple[float, ...]) -> Tensor:
    """Return values (batch, channels, ...) with the channels of each degree mixed by the Wigner block of a matrix."""
    if linear == (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0) or rep.still:
        return values
    blocks = values.unflatten(1, (-1, rep.size))
    parts, at = [], 0
    for count, degree, parity in rep.terms:
        width = count * (2 * degree + 1)
        part = blocks[:, :, at : at + width].unflatten(2, (count, -1))
        block = torch.as_tensor(wigner(degree, parity, linear), dtype=values.dtype, device=values.device)
        parts.append(torch.einsum("ij,nbcj...->nbci...", block, part).flatten(2, 3))
        at += width
    return torch.cat(parts, 2).flatten(1, 2)


def resampled(volume: Tensor, linear: tuple[float, ...]) -> Tensor:
    """Return f(A⁻¹ u) by cubic splines, with nothing outside: one sparse product for all channels."""
    sides = volume.shape[-3:]
    flat = volume.reshape(-1, *sides)
    for axis, side in zip((-3, -2, -1), sides, strict=True):
        filtered = torch.as_tensor(_prefilter(side), dtype=volume.dtype, device=volume.device)
        flat = (flat.movedim(axis, -1) @ filtered.T).movedim(-1, axis)
    taps = _taps((sides[0], sides[1], sides[2]), linear).to(volume.device, volume.dtype)
    return (taps @ flat.flatten(1).T).T.reshape(volume.shape)


@budgeted
def _prefilter(side: int) -> np.ndarray:
    """Return the matrix that makes spline coefficients of values, continued by their mirror image."""
    from scipy.ndimage import spline_filter1d

    return np.asarray(spline_filter1d(np.eye(side), 3, axis=0, mode="mirror"))


@budgeted
def _taps(sides: tuple[int, int, int], linear: tuple[float, ...]) -> Tensor:
    """Return the sparse matrix (voxels, voxels) that evaluates a spline at A⁻¹ u."""
    axes = [np.arange(n) - (n - 1) / 2 for n in sides]
    z, y, x = np.meshgrid(axes[0], -axes[1], axes[2], indexing="ij")
    there = np.stack([x, y, z], -1).reshape(-1, 3) @ np.array(linear).reshape(3, 3)
    at = there[:, ::-1] * np.array([1, -1, 1]) + (np.array(sides) - 1) / 2  # slice, row, column
    inside = ((at >= -1e-9) & (at <= np.array(sides) - 1 + 1e-9)).all(1)
    first = np.floor(at).astype(np.int64) - 1
    index = np.zeros((len(at), 1), np.int64)
    weight = np.ones((len(at), 1))
    for axis, side in enumerate(sides):
        t = at[:, axis] - first[:, axis] - 1
        cubic = np.stack([(1 - t) ** 3, 3 * t**3 - 6 * t**2 + 4, -3 * t**3 + 3 * t**2 + 3 * t + 1, t**3], 1) / 6
        place = np.abs(first[:, axis, None] + np.arange(4))
        place = np.where(place >= side, 2 * (side - 1) - place, place).clip(0, side - 1)
        index = (index[:, :, None] * side + place[:, None]).reshape(len(at), -1)
        weight = (weight[:, :, None] * cubic[:, None]).reshape(len(at), -1)
    weight[~inside] = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the format is in beta state
        return torch.sparse_csr_tensor(
            torch.arange(0, index.size + 1, index.shape[1], device="cpu"), torch.from_numpy(index.ravel()),
            torch.from_numpy(weight.ravel()), (len(at),) * 2, check_invariants=False,
        )  # fmt: skip
