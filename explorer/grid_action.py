"""Move the values of a planar grid: exact gathers where the element permutes places, splines elsewhere.

Whole shifts, quarter turns and mirrors are index permutations, bit for bit. Sub-pixel circular shifts are phases
in the Fourier domain (an isometry, and a group but for the Nyquist row). Everything else is interpolation by
cubic B-splines (Unser, "Splines: A Perfect Fit", 1999) as a sparse matrix: at most 16 entries a row, applied to
all channels in one product and kept for the next layer of the same size.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from explorer.groups import Matrix

_PAD = 12  # pixels of zeros round the grid, so that the spline's periodic prefilter does not wrap round
_TINY = 1e-9

# torch says once per process that CSR is in beta; what is used here (build and multiply) is checked by the tests
warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")


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
        return _spline(values, matrix, (right, up), boundary)
    turns, mirrored = lattice
    if mirrored:
        values = values.flip(-1)
    if turns:
        values = torch.rot90(values, turns, (-2, -1))
    return _shift(values, right, up, boundary)


def lattice_index(matrix: Matrix) -> tuple[int, bool] | None:
    """Return (quarter turns, mirrored first) when `matrix` maps the square lattice to itself, else None."""
    whole = np.round(matrix)
    if np.abs(matrix - whole).max() > _TINY or abs(abs(np.linalg.det(whole)) - 1) > _TINY:
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
    return _spline(values, np.eye(2), (right, up), boundary)


def spectral_shift(values: Tensor, down: float | Tensor, right: float | Tensor) -> Tensor:
    """Shift periodically by any distance in pixels; differentiable in `down` and `right`."""
    h, w = values.shape[-2:]
    real = values.dtype if values.dtype in (torch.float32, torch.float64) else torch.float32
    fy = torch.fft.fftfreq(h, dtype=real, device=values.device)
    fx = torch.fft.rfftfreq(w, dtype=real, device=values.device)
    ay, ax = 2 * torch.pi * fy * down, 2 * torch.pi * fx * right
    py, px = torch.complex(ay.cos(), -ay.sin()), torch.complex(ax.cos(), -ax.sin())
    # the Nyquist frequency of an even size has no sign, so only its cosine part can stay
    if h % 2 == 0:
        keep = torch.ones(h, dtype=real, device=values.device)
        keep[h // 2] = 0
        py = torch.complex(py.real, py.imag * keep)
    if w % 2 == 0:
        keep = torch.ones(w // 2 + 1, dtype=real, device=values.device)
        keep[-1] = 0
        px = torch.complex(px.real, px.imag * keep)
    spectrum = torch.fft.rfft2(values.to(real)) * py[:, None] * px
    return torch.fft.irfft2(spectrum, s=(h, w)).to(values.dtype)


def spline_coefficients(values: Tensor) -> Tensor:
    """Return cubic B-spline coefficients of `values` continued by zeros, (..., H + 2 pad, W + 2 pad)."""
    real = values.dtype if values.dtype in (torch.float32, torch.float64) else torch.float32
    padded = torch.nn.functional.pad(values.to(real), (_PAD,) * 4)
    h, w = padded.shape[-2:]
    fy = torch.fft.fftfreq(h, dtype=real, device=values.device) * (2 * torch.pi)
    fx = torch.fft.rfftfreq(w, dtype=real, device=values.device) * (2 * torch.pi)
    response = ((2 + fy.cos()) / 3)[:, None] * ((2 + fx.cos()) / 3)  # B3 sampled at the integers
    return torch.fft.irfft2(torch.fft.rfft2(padded) / response, s=(h, w))


def _spline(values: Tensor, matrix: Matrix, shift: tuple[float, float], boundary: str) -> Tensor:
    h, w = values.shape[-2:]
    operator = _operator(h, w, _key(matrix), shift, str(values.device), real(values))
    return _apply(operator, spline_coefficients(values), h, w).to(values.dtype)


def real(values: Tensor) -> torch.dtype:
    """Return the precision splines are computed in: half precision is not enough."""
    return torch.float64 if values.dtype == torch.float64 else torch.float32


def _key(matrix: Matrix) -> tuple[float, float, float, float]:
    a, b, c, d = (float(v) for v in matrix.ravel())
    return (a, b, c, d)


def _apply(operator: Tensor, coefficients: Tensor, h: int, w: int) -> Tensor:
    flat = coefficients.flatten(-2).flatten(0, -2)  # (channels, places)
    moved = torch.sparse.mm(operator, flat.t().contiguous())  # channels last: contiguous columns, vectorised
    return moved.t().reshape(*coefficients.shape[:-2], h, w)


def _taps(
    h: int, w: int, linear: tuple[float, float, float, float], shift: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    """Return (indices, weights), both (h * w, 16), into the padded coefficient grid."""
    inverse = np.linalg.inv(np.array(linear).reshape(2, 2))
    cy, cx = (h - 1) / 2, (w - 1) / 2
    rows, columns = np.mgrid[0:h, 0:w]
    x, y = columns.ravel() - cx - shift[0], cy - rows.ravel() - shift[1]
    source_x = inverse[0, 0] * x + inverse[0, 1] * y + cx + _PAD
    source_y = cy - (inverse[1, 0] * x + inverse[1, 1] * y) + _PAD
    ix, iy = np.floor(source_x).astype(np.int64), np.floor(source_y).astype(np.int64)

    def cubic(t: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
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
    # a place outside the grid has no value: without this the spline would ring on beyond the edge
    inside = (source_x > _PAD - 1) & (source_x < _PAD + w) & (source_y > _PAD - 1) & (source_y < _PAD + h)
    return indices.reshape(h * w, 16), (weights * inside[:, None, None]).reshape(h * w, 16)


@lru_cache(maxsize=512)
def _operator(
    h: int,
    w: int,
    linear: tuple[float, float, float, float],
    shift: tuple[float, float],
    device: str,
    dtype: torch.dtype,
) -> Tensor:
    """Return the resampling as CSR, (h * w, (h + 2 pad) * (w + 2 pad))."""
    indices, weights = _taps(h, w, linear, shift)
    return _csr(indices, weights, (w + 2 * _PAD) * (h + 2 * _PAD), device, dtype)


def _csr(indices: np.ndarray, weights: np.ndarray, columns: int, device: str, dtype: torch.dtype) -> Tensor:  # type: ignore[type-arg]
    rows = len(indices)
    return torch.sparse_csr_tensor(
        torch.arange(0, 16 * rows + 1, 16),
        torch.from_numpy(indices.ravel()),
        torch.from_numpy(weights.ravel()).to(dtype),
        (rows, columns),
        check_invariants=False,
    ).to(device)


def known(
    size: tuple[int, int], matrix: Matrix, shift: Sequence[float], spacing: float, boundary: str, like: Tensor
) -> Tensor:
    """Return where the moved grid is determined by the given one, (height, width) in {0, 1}.

    A mask of ones is transformed: a place counts when its whole interpolation footprint came from inside.
    """
    h, w = size
    inverse = np.linalg.inv(matrix)
    cy, cx = (h - 1) / 2, (w - 1) / 2
    rows, columns = np.mgrid[0:h, 0:w]
    x, y = columns - cx - shift[0] / spacing, cy - rows - shift[1] / spacing
    source_x = inverse[0, 0] * x + inverse[0, 1] * y + cx
    source_y = cy - (inverse[1, 0] * x + inverse[1, 1] * y)
    resampled = lattice_index(matrix) is None or abs(shift[0] / spacing % 1) > _TINY or abs(shift[1] / spacing % 1) > _TINY
    margin = 1.0 if resampled else 0.0
    inside = (source_x >= margin - 1e-6) & (source_x <= w - 1 - margin + 1e-6)
    inside &= (source_y >= margin - 1e-6) & (source_y <= h - 1 - margin + 1e-6)
    if boundary == "circular" and lattice_index(matrix) is not None:
        inside[:] = True
    return torch.from_numpy(inside).to(device=like.device, dtype=like.dtype)


class Orbit:
    """Many elements at once on one grid size: one stacked sparse matrix, built once, used by every layer."""

    def __init__(self, matrices: Sequence[Matrix], size: tuple[int, int], device: str, dtype: torch.dtype) -> None:
        h, w = size
        self.size = size
        self.count = len(matrices)
        taps = [_orbit_taps(h, w, m) for m in matrices]
        self._matrix = _csr(
            np.concatenate([t[0] for t in taps]),
            np.concatenate([t[1] for t in taps]),
            (w + 2 * _PAD) * (h + 2 * _PAD),
            device,
            dtype,
        )
        # quarter turns must stay bit-exact: they gather from the values, not from the spline coefficients
        self._exact = [(k, index) for k, m in enumerate(matrices) if (index := lattice_index(m)) is not None]

    def act(self, values: Tensor) -> Tensor:
        """Return every element's image of `values`, (channels, h, w) -> (count, channels, h, w)."""
        h, w = self.size
        flat = spline_coefficients(values).flatten(-2)  # (channels, places)
        moved = torch.sparse.mm(self._matrix, flat.t().contiguous())  # (count * places, channels)
        result = moved.reshape(self.count, h * w, -1).transpose(1, 2).reshape(self.count, -1, h, w).to(values.dtype)
        for k, (turns, mirrored) in self._exact:
            result[k] = torch.rot90(values.flip(-1) if mirrored else values, turns, (-2, -1))
        return result


def _orbit_taps(h: int, w: int, matrix: Matrix) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    return _taps(h, w, _key(matrix), (0.0, 0.0))
