"""Move the values of a planar grid: exact gathers where the element permutes places, splines elsewhere.

Whole shifts, quarter turns and mirrors are index permutations, bit for bit. Sub-pixel circular shifts are phases
in the Fourier domain (an isometry, and a group but for the Nyquist row). Everything else is interpolation by
cubic B-splines (Unser, "Splines: A Perfect Fit", 1999) as a sparse matrix: at most 16 entries a row, applied to
all channels in one product and kept for the next layer of the same size. Beyond its edges the grid is continued by
point reflection, so that the spline keeps its accuracy up to the last pixel.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.declare.groups import Matrix
from explorer.work.budget import budgeted

Array = NDArray[Any]
Linear = tuple[float, float, float, float]
Shift = tuple[float, float]

_PAD = 12  # pixels round the grid, so that the spline's periodic prefilter does not wrap round
_REACH = 2  # coefficients beyond the edge that a value inside it is made of
_TINY = 1e-9
LARGEST_MATRIX = 512  # side of a grid up to which filtering by a matrix is the faster way

# torch says once per process that CSR is in beta; what is used here (build and multiply) is checked by the tests
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch.sparse_csr_tensor([0, 1], [0], [1.0], (1, 1), check_invariants=False)


def move(values: Tensor, matrix: Matrix, shift: Sequence[float], spacing: float, boundary: str) -> Tensor:
    """Return f(g^-1 u) for g u = matrix u + shift about the centre of the grid.

    Args:
        values: (..., height, width).
        matrix: (2, 2), x right and y up.
        shift: input pixels, right and up; divided by `spacing`, the grid's step in input pixels.
        boundary: "circular" or "zero": what enters from outside under a shift.
    """
    lattice = lattice_index(matrix)
    right, up = shift[0] / spacing, shift[1] / spacing
    if lattice is None:
        return _spline(values, matrix, (right, up))
    turns, mirrored = lattice
    if mirrored:
        values = values.flip(-1)
    if turns:
        values = torch.rot90(values, turns, (-2, -1))
    return _shift(values, right, up, boundary)


def lattice_index(matrix: Matrix) -> tuple[int, bool] | None:
    """Return (quarter turns, mirrored first) when `matrix` maps the square lattice to itself, else None."""
    whole = np.round(matrix)
    # integer entries and determinant 1 are not enough: a shear has them too
    if np.abs(matrix - whole).max() > _TINY or not np.array_equal(whole @ whole.T, np.eye(2)):
        return None
    mirrored = bool(np.linalg.det(whole) < 0)
    c, s = (whole[0, 0], whole[1, 0]) if not mirrored else (-whole[0, 0], -whole[1, 0])
    return {(1, 0): 0, (0, 1): 1, (-1, 0): 2, (0, -1): 3}[(int(c), int(s))], mirrored


def _shift(values: Tensor, right: float, up: float, boundary: str) -> Tensor:
    if abs(right) < _TINY and abs(up) < _TINY:
        return values
    columns, rows = round(right), -round(up)
    if abs(columns - right) < _TINY and abs(rows + up) < _TINY:
        if boundary == "circular":
            return torch.roll(values, (rows, columns), (-2, -1))
        h, w = values.shape[-2:]
        moved = torch.zeros_like(values)
        if abs(rows) < h and abs(columns) < w:
            target = (slice(max(rows, 0), h + min(rows, 0)), slice(max(columns, 0), w + min(columns, 0)))
            origin = (slice(max(-rows, 0), h + min(-rows, 0)), slice(max(-columns, 0), w + min(-columns, 0)))
            moved[(..., *target)] = values[(..., *origin)]
        return moved
    if boundary == "circular":
        return spectral_shift(values, -up, right)
    return _spline(values, np.eye(2), (right, up))


def spectral_shift(values: Tensor, down: float | Tensor, right: float | Tensor) -> Tensor:
    """Shift periodically by any distance in pixels; differentiable in `down` and `right`."""
    h, w = values.shape[-2:]
    dtype = real(values)
    fy = torch.fft.fftfreq(h, dtype=dtype, device=values.device)
    fx = torch.fft.rfftfreq(w, dtype=dtype, device=values.device)
    ay, ax = 2 * torch.pi * fy * down, 2 * torch.pi * fx * right
    py, px = torch.complex(ay.cos(), -ay.sin()), torch.complex(ax.cos(), -ax.sin())
    # the Nyquist frequency of an even size has no sign, so only its cosine part can stay
    if h % 2 == 0:
        keep = torch.ones(h, dtype=dtype, device=values.device)
        keep[h // 2] = 0
        py = torch.complex(py.real, py.imag * keep)
    if w % 2 == 0:
        keep = torch.ones(w // 2 + 1, dtype=dtype, device=values.device)
        keep[-1] = 0
        px = torch.complex(px.real, px.imag * keep)
    spectrum = torch.fft.rfft2(values.to(dtype)) * py[:, None] * px
    moved: Tensor = torch.fft.irfft2(spectrum, s=(h, w))
    return moved.to(values.dtype)


def spline_coefficients(values: Tensor) -> Tensor:
    """Return cubic B-spline coefficients of `values` continued beyond their edges, (..., H + 2 pad, W + 2 pad).

    Continuing and filtering are linear along each axis, so on grids of ordinary size they are one small matrix per
    axis: many times faster than a Fourier transform of an awkward length for every layer.
    """
    given = values.to(real(values))
    h, w = given.shape[-2:]
    if max(h, w) > LARGEST_MATRIX:
        return _filtered(_filtered(_continued(_continued(given, -1), -2), -1), -2)
    device = str(given.device)
    coefficients: Tensor = _prefilter(h, given.dtype, device) @ given @ _prefilter(w, given.dtype, device).t()
    return coefficients


def by_place(planes: Tensor) -> Tensor:
    """Return what `resampling_by_place` acts on, (coefficients + h * w, channels), contiguous.

    First come the coefficients up to `_REACH` places beyond the edges, then the values themselves.

    Args:
        planes: (channels, h, w).
    """
    channels, h, w = planes.shape
    crop = _PAD - _REACH
    given = planes.to(real(planes)).permute(1, 2, 0).reshape(h, w * channels)
    if max(h, w) > LARGEST_MATRIX:
        near = spline_coefficients(planes)[:, crop:-crop, crop:-crop].permute(1, 2, 0)
    else:
        device = str(planes.device)
        down = _prefilter(h, given.dtype, device)[crop:-crop] @ given
        near = _prefilter(w, given.dtype, device)[crop:-crop] @ down.view(-1, w, channels)
    return torch.cat([near.reshape(-1, channels), given.view(-1, channels)])


@budgeted
def _prefilter(n: int, dtype: torch.dtype, device: str) -> Tensor:
    """Return the matrix (n + 2 pad, n) from n values to the coefficients of their continuation."""
    # made outside of inference mode, so that a later call may differentiate through it
    with torch.inference_mode(False):
        return _filtered(_continued(torch.eye(n, dtype=torch.float64), -1), -1).t().contiguous().to(device, dtype)


def _filtered(values: Tensor, axis: int) -> Tensor:
    """Return B-spline coefficients along `axis`, by dividing by the B3 spline sampled at the integers."""
    n = values.shape[axis]
    frequency = torch.fft.rfftfreq(n, dtype=values.dtype, device=values.device) * (2 * torch.pi)
    response = (2 + frequency.cos()) / 3
    response = response if axis == -1 else response[:, None]
    coefficients: Tensor = torch.fft.irfft(torch.fft.rfft(values, dim=axis) / response, n=n, dim=axis)
    return coefficients


def _continued(values: Tensor, axis: int) -> Tensor:
    """Return `values` with `_PAD` more places at both ends of `axis`: reflected in the end point, fading to zero.

    Zeros there would be a jump, on which the spline rings: 1 % of error among places that count as known.
    """
    n = values.shape[axis]
    distance = torch.arange(1, _PAD + 1, device=values.device)
    t = (1.5 * (1 - distance.to(values.dtype) / (_PAD + 1))).clamp(0, 1)
    fade = t * t * (3 - 2 * t)  # 1 for the four nearest places
    fade = fade if axis == -1 else fade[:, None]
    inward = distance.clamp(max=n - 1)
    first, last = values.narrow(axis, 0, 1), values.narrow(axis, n - 1, 1)
    before = (2 * first - values.index_select(axis, inward)) * fade
    after = (2 * last - values.index_select(axis, n - 1 - inward)) * fade
    return torch.cat([before.flip(axis), values, after], axis)


def _spline(values: Tensor, matrix: Matrix, shift: Shift) -> Tensor:
    h, w = values.shape[-2:]
    by = operator(h, w, _key(matrix), shift, str(values.device), real(values))
    return _apply(by, spline_coefficients(values), h, w).to(values.dtype)


def real(values: Tensor) -> torch.dtype:
    """Return the precision splines are computed in: half precision is not enough."""
    return torch.float64 if values.dtype == torch.float64 else torch.float32


def _key(matrix: Matrix) -> Linear:
    a, b, c, d = (float(v) for v in matrix.ravel())
    return (a, b, c, d)


def _apply(by: Tensor, coefficients: Tensor, h: int, w: int) -> Tensor:
    flat = coefficients.flatten(-2).flatten(0, -2)  # (channels, places)
    moved: Tensor = torch.sparse.mm(by, flat.t().contiguous())  # channels last: contiguous columns, vectorised
    return moved.t().reshape(*coefficients.shape[:-2], h, w)


def _taps(h: int, w: int, linear: Linear, shift: Shift) -> tuple[Array, Array]:
    """Return (indices, weights), both (h * w, 16), into the padded coefficient grid."""
    rows, columns = np.mgrid[0:h, 0:w]
    return _footprint(h, w, *_source(h, w, rows.ravel(), columns.ravel(), np.array(linear).reshape(2, 2), shift))


def resampling_at(
    places: Array, size: tuple[int, int], matrices: Sequence[Matrix], shifts: Sequence[Shift], device: str,
    dtype: torch.dtype,
) -> Tensor:  # fmt: skip
    """Return CSR (elements * places, padded grid): the moved values at chosen places alone.

    Args:
        places: (elements, places), flat indices into the grid of `size`.
        shifts: in steps of this grid, right and up.
    """
    h, w = size
    sources = []
    for row, matrix, shift in zip(places, matrices, shifts, strict=True):
        rows, columns = np.divmod(row, w)
        sources.append(_source(h, w, rows, columns, matrix, shift))
    source_x, source_y = (np.concatenate([s[k] for s in sources]) for k in (0, 1))
    indices, weights = _footprint(h, w, source_x, source_y)
    with torch.inference_mode(False):
        return _csr(indices, weights, (w + 2 * _PAD) * (h + 2 * _PAD), device, dtype)


def resampling_by_place(
    places: Array, size: tuple[int, int], matrices: Sequence[Matrix], shifts: Sequence[Shift], device: str,
    dtype: torch.dtype,
) -> Tensor:  # fmt: skip
    """Return the same as `resampling_at`, acting on what `by_place` gives: quarter turns and mirrors stay bit-exact."""
    h, w = size
    near = w + 2 * _REACH
    indices, weights = [], []
    for row, matrix, shift in zip(places, matrices, shifts, strict=True):
        lattice = lattice_index(matrix)
        if lattice is not None and shift == (0.0, 0.0):
            turns, mirrored = lattice
            grid = np.arange(h * w).reshape(h, w)
            source = np.rot90(grid[:, ::-1] if mirrored else grid, turns).ravel()[row]
            indices.append(np.repeat((h + 2 * _REACH) * near + source[:, None], 16, 1))  # the values themselves
            weights.append(np.repeat(np.eye(1, 16), len(row), 0))
            continue
        rows, across = np.divmod(row, w)
        index, weight = _footprint(h, w, *_source(h, w, rows, across, matrix, shift))
        y, x = np.divmod(index, w + 2 * _PAD)
        y, x = (y - _PAD + _REACH).clip(0, h + 2 * _REACH - 1), (x - _PAD + _REACH).clip(0, near - 1)
        indices.append(y * near + x)
        weights.append(weight)
    columns = (h + 2 * _REACH) * near + h * w
    with torch.inference_mode(False):
        return _csr(np.concatenate(indices), np.concatenate(weights), columns, device, dtype)


def _source(h: int, w: int, rows: Array, columns: Array, matrix: Matrix, shift: Shift) -> tuple[Array, Array]:
    """Return where in the padded grid the values at (rows, columns) come from, (x, y)."""
    inverse = np.linalg.inv(matrix)
    cy, cx = (h - 1) / 2, (w - 1) / 2
    x, y = columns - cx - shift[0], cy - rows - shift[1]
    source_x = inverse[0, 0] * x + inverse[0, 1] * y + cx + _PAD
    source_y = cy - (inverse[1, 0] * x + inverse[1, 1] * y) + _PAD
    return source_x, source_y


def _footprint(h: int, w: int, source_x: Array, source_y: Array) -> tuple[Array, Array]:
    """Return the 16 coefficients that each value is made of, and their weights, both (values, 16)."""
    ix, iy = np.floor(source_x).astype(np.int64), np.floor(source_y).astype(np.int64)

    def cubic(t: Array) -> Array:
        return np.stack(
            [(1 - t) ** 3 / 6, (4 - 6 * t**2 + 3 * t**3) / 6, (1 + 3 * t + 3 * t**2 - 3 * t**3) / 6, t**3 / 6], -1
        )

    wx, wy = cubic(source_x - ix), cubic(source_y - iy)  # (places, 4)
    kx, ky = ix[:, None] + np.arange(-1, 3), iy[:, None] + np.arange(-1, 3)
    ww, hh = w + 2 * _PAD, h + 2 * _PAD
    # what falls outside the padded grid is zero anyway; the index only has to be legal
    wx = np.where((kx >= 0) & (kx < ww), wx, 0.0)
    wy = np.where((ky >= 0) & (ky < hh), wy, 0.0)
    kx, ky = kx.clip(0, ww - 1), ky.clip(0, hh - 1)
    indices = ky[:, :, None] * ww + kx[:, None, :]
    weights = wy[:, :, None] * wx[:, None, :]
    # a place outside the grid has no value; a pixel reaches half a step beyond its centre
    inside = (source_x > _PAD - 0.5) & (source_x < _PAD + w - 0.5)
    inside &= (source_y > _PAD - 0.5) & (source_y < _PAD + h - 0.5)
    return indices.reshape(-1, 16), (weights * inside[:, None, None]).reshape(-1, 16)


@budgeted
def operator(h: int, w: int, linear: Linear, shift: Shift, device: str, dtype: torch.dtype) -> Tensor:
    """Return resampling as CSR, (h * w, (h + 2 pad) * (w + 2 pad)); an orbit asks for hundreds of them."""
    indices, weights = _taps(h, w, linear, shift)
    # made outside of inference mode, so that a later call may differentiate through it
    with torch.inference_mode(False):
        return _csr(indices, weights, (w + 2 * _PAD) * (h + 2 * _PAD), device, dtype)


def _csr(indices: Array, weights: Array, columns: int, device: str, dtype: torch.dtype) -> Tensor:
    rows = len(indices)
    return torch.sparse_csr_tensor(
        torch.arange(0, 16 * rows + 1, 16, dtype=torch.int32, device="cpu"),
        torch.from_numpy(indices.ravel().astype(np.int32)),
        torch.from_numpy(weights.ravel()).to(dtype),
        (rows, columns),
        check_invariants=False,
    ).to(device)


def known(
    size: tuple[int, int], matrix: Matrix, shift: Sequence[float], spacing: float, boundary: str, like: Tensor
) -> Tensor:
    """Return where the moved grid is determined by the given one of `size`, (height, width) in {0, 1}.

    A mask of ones is transformed: a place counts when its whole interpolation footprint came from inside.
    """
    h, w = size
    lattice = lattice_index(matrix)
    out_h, out_w = (w, h) if lattice is not None and lattice[0] % 2 else (h, w)
    if boundary == "circular" and lattice is not None:
        return torch.ones((out_h, out_w), device=like.device, dtype=like.dtype)
    inverse = np.linalg.inv(matrix)
    right, up = shift[0] / spacing, shift[1] / spacing
    rows, columns = np.mgrid[0:out_h, 0:out_w]
    x, y = columns - (out_w - 1) / 2 - right, (out_h - 1) / 2 - rows - up
    source_x = inverse[0, 0] * x + inverse[0, 1] * y + (w - 1) / 2
    source_y = (h - 1) / 2 - (inverse[1, 0] * x + inverse[1, 1] * y)
    whole = max(abs(right - round(right)), abs(up - round(up))) < _TINY
    margin = 0.0 if lattice is not None and whole else 1.0
    inside = (source_x >= margin - 1e-6) & (source_x <= w - 1 - margin + 1e-6)
    inside &= (source_y >= margin - 1e-6) & (source_y <= h - 1 - margin + 1e-6)
    return torch.from_numpy(inside).to(device=like.device, dtype=like.dtype)


class StackedElements:
    """Many elements at once on one grid size: one stacked sparse matrix, built once, used by every layer."""

    def __init__(self, matrices: Sequence[Matrix], size: tuple[int, int], device: str, dtype: torch.dtype) -> None:
        h, w = size
        self.size = size
        self.count = len(matrices)
        places = np.tile(np.arange(h * w), (self.count, 1))
        self._matrix = resampling_at(places, size, matrices, [(0.0, 0.0)] * self.count, device, dtype)
        # quarter turns must stay bit-exact: they gather from the values, not from the spline coefficients
        self._exact = [(k, index) for k, m in enumerate(matrices) if (index := lattice_index(m)) is not None]

    def act(self, values: Tensor) -> Tensor:
        """Return every element's image of `values`, (channels, h, w) -> (count, channels, h, w)."""
        h, w = self.size
        flat = spline_coefficients(values).flatten(-2)  # (channels, places)
        moved: Tensor = torch.sparse.mm(self._matrix, flat.t().contiguous())  # (count * places, channels)
        images = moved.reshape(self.count, h * w, -1).transpose(1, 2)  # (count, channels, places)
        result = images.reshape(self.count, -1, h, w).to(values.dtype)
        for k, (turns, mirrored) in self._exact:
            result[k] = torch.rot90(values.flip(-1) if mirrored else values, turns, (-2, -1))
        return result
