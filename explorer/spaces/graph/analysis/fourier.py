"""The graph Fourier transform of a signal, given the eigenvectors: numpy only, so that views can use it too."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.graph.analysis.laplacian import sums

Array = NDArray[np.floating[Any]]

SAME = 1e-6  # eigenvalues closer than this are one level: only sums over an eigenspace do not depend on its basis
NOTHING = 1e-24  # share of the energy below which an input has no such frequency, and no response is defined


def fourier(vectors: Array, signal: Array) -> NDArray[np.float64]:
    """Return the coefficients U^T x, (k, C) float64, of a signal (N, C) or (N,) in eigenvectors (N, k)."""
    return np.asarray(np.asarray(vectors, dtype=np.float64).T @ _columns(signal))


def _columns(values: Array) -> NDArray[np.float64]:
    """Return (places, channels), also of nothing, where numpy cannot work out a -1."""
    shape = np.shape(values)
    return np.asarray(values, dtype=np.float64).reshape(shape[0], math.prod(shape[1:]))


def levels(eigenvalues: Array, tolerance: float = SAME) -> NDArray[np.int64]:
    """Return for each of the ascending eigenvalues the number of its level, (k,): equal ones share a level."""
    values = np.asarray(eigenvalues, dtype=np.float64)
    if not len(values):
        return np.zeros(0, np.int64)
    return np.concatenate([[0], np.cumsum(np.diff(values) > tolerance)]).astype(np.int64)


def energy_per_level(coefficients: Array, level: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the squared coefficients summed over channels and each level's eigenvectors, (number of levels,)."""
    power = (_columns(coefficients) ** 2).sum(1)
    return sums(level, power, int(level.max(initial=-1)) + 1)


def filter_response(x_coeff: Array, h_coeff: Array, level: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
    """Return |h^| / |x^| for each eigenvalue, norms over channels, (k,); for each level when those are given.

    NaN where the input has (next to) nothing of that frequency. For h = g(L) x W with W orthogonal it is |g|.
    """
    level = np.arange(len(x_coeff)) if level is None else level
    before, after = energy_per_level(x_coeff, level), energy_per_level(h_coeff, level)
    known = before > NOTHING * max(float(np.nansum(before)), np.finfo(np.float64).tiny)
    ratio: NDArray[np.float64] = np.divide(after, before, where=known, out=np.full(len(before), np.nan))
    return np.sqrt(ratio)


def rayleigh(eigenvalues: Array, coefficients: Array) -> NDArray[np.float64]:
    """Return the Rayleigh quotient x^T L x / x^T x of each channel from all of its coefficients (N, C), (C,).

    It is the mean eigenvalue weighted by energy; NaN for a channel of zeros. True only when all N were computed.
    """
    power = _columns(coefficients) ** 2
    total, weighted = power.sum(0), np.asarray(eigenvalues, dtype=np.float64) @ power
    quotient: NDArray[np.float64] = np.divide(weighted, total, where=total > 0, out=np.full(len(total), np.nan))
    return quotient


def mean_rayleigh(eigenvalues: Array, coefficients: Array) -> float:
    """Return tr(X^T L X) / ||X||^2 from all coefficients: the Rayleigh quotient of all channels together."""
    power = (_columns(coefficients) ** 2).sum(1)
    total = float(power.sum())
    return float(np.asarray(eigenvalues, dtype=np.float64) @ power) / total if total > 0 else float("nan")
