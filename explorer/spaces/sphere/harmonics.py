"""Real spherical harmonics from e3nn, Wigner matrices, and quadrature grids that are exact up to a degree.

Convention: that of e3nn. Axes are x, y, z; functions are expanded in an orthonormal basis, whose order m runs from -l
to l, and y is the axis of the poles. D(g) acts on coefficients as g does on points: f(g⁻¹ p) has the coefficients
D(g) f. Wigner matrices are solved from the harmonics: those of e3nn have the digits of float32.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from explorer.work.budget import budgeted


def on_sphere(degree: int, points: Tensor) -> Tensor:
    """Return all harmonics up to a degree at points (n, 3), (n, (degree + 1)²)."""
    from explorer.work.e3nn_parts import o3

    found: Tensor = o3().spherical_harmonics(list(range(degree + 1)), points, True, "norm")
    # "norm" has length one for each degree; orthonormal functions have (2 l + 1) / 4π
    scaled: Tensor = found * torch.cat([_factor(k) for k in range(degree + 1)]).to(found)
    return scaled


def _factor(degree: int) -> Tensor:
    return torch.full(
        (2 * degree + 1,), float(np.sqrt((2 * degree + 1) / (4 * np.pi))), dtype=torch.float64, device="cpu"
    )


@budgeted
def wigner(degree: int, linear: tuple[float, ...]) -> Tensor:
    """Return D of one degree for a rotation given row by row, (2 l + 1, 2 l + 1), float64.

    It is solved from Y(R p) = D Y(p) at more points than it has rows: angles would lose half of the digits at poles.
    """
    generator = torch.Generator().manual_seed(degree)
    points = torch.randn(6 * degree + 6, 3, generator=generator, device="cpu", dtype=torch.float64)
    turned = points @ torch.tensor(linear, dtype=torch.float64, device="cpu").view(3, 3).T
    block = slice(degree**2, (degree + 1) ** 2)
    before, after = on_sphere(degree, points)[:, block], on_sphere(degree, turned)[:, block]
    solved: Tensor = torch.linalg.lstsq(before, after).solution.T
    return solved


@budgeted
def sphere_grid(degree: int) -> tuple[Tensor, Tensor]:
    """Return points (n, 3) and weights (n,) whose sum is the integral of every function up to that degree."""
    heights, weights = np.polynomial.legendre.leggauss(degree // 2 + 1)
    around = 2 * np.pi * np.arange(degree + 1) / (degree + 1)
    ring = np.sqrt(1 - heights**2)
    shape = (len(heights), len(around))
    points = np.stack(
        [np.outer(ring, np.sin(around)), np.broadcast_to(heights[:, None], shape), np.outer(ring, np.cos(around))], -1
    )
    per = np.broadcast_to(weights[:, None] * 2 * np.pi / len(around), shape)
    return torch.from_numpy(points.reshape(-1, 3).copy()), torch.from_numpy(per.reshape(-1).copy())


@budgeted
def rotation_grid(degree: int, whole: int) -> tuple[Tensor, Tensor]:
    """Return D of all degrees up to `degree` at rotations, (n, coefficients), and weights (n,) that sum to one.

    Sums are integrals over SO(3) of every function up to the degree `whole`.
    """
    heights, weights = np.polynomial.legendre.leggauss(whole // 2 + 1)
    around = 2 * np.pi * np.arange(whole + 1) / (whole + 1)
    parts = []
    for k in range(degree + 1):
        about_y = torch.stack([wigner(k, _turn(float(a), 1)) for a in around])
        about_x = torch.stack([wigner(k, _turn(float(b), 0)) for b in np.arccos(heights)])
        parts.append(torch.einsum("amk,bkp,cpn->abcmn", about_y, about_x, about_y).flatten(3).flatten(0, 2))
    per = np.broadcast_to(weights[None, :, None] / 2, (len(around), len(heights), len(around)))
    return torch.cat(parts, 1), torch.from_numpy((per / len(around) ** 2).reshape(-1).copy())


def _turn(angle: float, axis: int) -> tuple[float, ...]:
    """Return the turn about x (0) or y (1), row by row."""
    c, s = float(np.cos(angle)), float(np.sin(angle))
    return (1.0, 0.0, 0.0, 0.0, c, -s, 0.0, s, c) if axis == 0 else (c, 0.0, s, 0.0, 1.0, 0.0, -s, 0.0, c)


@budgeted
def map_points(rows: int) -> Tensor:
    """Return the points of an equirectangular picture, (rows * 2 rows, 3): the north pole, +y, at the top."""
    polar = np.pi * (np.arange(rows) + 0.5) / rows
    around = np.pi * (2 * np.arange(2 * rows) + 1) / (2 * rows) - np.pi
    ring, height = np.sin(polar)[:, None], np.broadcast_to(np.cos(polar)[:, None], (rows, 2 * rows))
    points = np.stack([ring * np.sin(around), height, ring * np.cos(around)], -1)
    return torch.from_numpy(points.reshape(-1, 3).copy())


@budgeted
def map_basis(degree: int, rows: int) -> Tensor:
    """Return the harmonics at the points of a picture, (pixels, coefficients)."""
    return on_sphere(degree, map_points(rows))


def analysed(picture: np.ndarray, degree: int) -> np.ndarray:
    """Return the coefficients of an equirectangular picture, (channels, rows, columns) -> (channels, coefficients).

    Of all functions up to the degree it is the one nearest to the picture, pixels weighted by their area.
    """
    channels, rows, columns = picture.shape
    if columns != 2 * rows:
        raise ValueError(f"a panorama is twice as wide as it is high, not {columns}x{rows}")
    area = torch.from_numpy(np.sin(np.pi * (np.arange(rows) + 0.5) / rows)).repeat_interleave(columns).sqrt()
    basis = map_basis(degree, rows) * area[:, None]
    values = torch.from_numpy(np.asarray(picture, np.float64).reshape(channels, -1)).T * area[:, None]
    return np.asarray(torch.linalg.lstsq(basis, values).solution.T.numpy())
