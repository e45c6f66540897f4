"""Densities on a grid of cells: divergences and the best discriminator by quadrature, and what a generator makes.

Goodfellow et al., "Generative Adversarial Nets", 2014:

    V(D, G) = E_data log D(x) + E_z log(1 - D(G(z))) (1)
    D*(x) = p_data(x) / (p_data(x) + p_g(x)) (2)
    V(D*, G) = 2 JSD(p_data, p_g) - log 4 (6)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Mixture:
    """Gaussians of equal weight and width, (count, dimensions) of middles."""

    middles: tuple[tuple[float, ...], ...]
    width: float

    def draw(self, chance: torch.Generator, count: int) -> Tensor:
        """Draw samples, (count, dimensions)."""
        middles = torch.tensor(self.middles)
        which = torch.randint(len(middles), (count,), generator=chance)
        return middles[which] + self.width * torch.randn(count, middles.shape[1], generator=chance)

    def density(self, x: Floats) -> Floats:
        """Return p_data at (..., dimensions)."""
        apart = ((x[..., None, :] - np.array(self.middles)) / self.width) ** 2
        norm = (2 * math.pi * self.width**2) ** (x.shape[-1] / 2)
        found: Floats = np.exp(-0.5 * apart.sum(-1)).mean(-1) / norm
        return found


TWO = Mixture(((-1.2,), (1.0,)), 0.35)
RING = Mixture(tuple((1.5 * math.cos(k * math.pi / 4), 1.5 * math.sin(k * math.pi / 4)) for k in range(8)), 0.25)


def jsd(p: Floats, q: Floats, cell: float) -> float:
    """Return the Jensen-Shannon divergence of two densities on cells of that size, in nats."""
    return 0.5 * (kl(p, 0.5 * (p + q), cell) + kl(q, 0.5 * (p + q), cell))


def kl(p: Floats, q: Floats, cell: float) -> float:
    """Return the Kullback-Leibler divergence of p from q; infinite where p has what q has not."""
    there = p > 0
    if (q[there] <= 0).any():
        return math.inf
    return float((p[there] * np.log(p[there] / q[there])).sum() * cell)


def pearson(p: Floats, q: Floats, cell: float) -> float:
    """Return the Pearson divergence of p + q from 2 q, the integral of (q - p)^2 / (p + q)."""
    there = p + q > 0
    return float(((q - p)[there] ** 2 / (p + q)[there]).sum() * cell)


def best(p: Floats, q: Floats) -> Floats:
    """Return D* = p / (p + q), one half where there is nothing."""
    return np.where(p + q > 0, p / np.maximum(p + q, 1e-300), 0.5)


def value(d: Floats, p: Floats, q: Floats, cell: float) -> float:
    """Return V(D, G), equation 1, by quadrature."""
    d = np.clip(d, 1e-12, 1 - 1e-12)
    return float((p * np.log(d) + q * np.log(1 - d)).sum() * cell)


def pushed(z: Floats, x: Floats, edges: Floats) -> Floats:
    """Return p_g on cells between edges of x = G(z), z evenly spaced and all z alike, straight lines between them."""
    low, high = np.minimum(x[:-1], x[1:]), np.maximum(x[:-1], x[1:])
    width = np.maximum(high - low, 1e-12)
    share = np.clip((edges[:, None] - low) / width, 0, 1).mean(1)  # cumulative distribution at the edges
    found: Floats = np.diff(share) / np.diff(edges)
    return found
