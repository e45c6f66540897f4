"""Functions of a distance and an angle: spherical Bessel functions times Legendre polynomials.

Gasteiger, Groß, Günnemann, "Directional Message Passing for Molecular Graphs", 2020, eq. (6):

    a_ln(d, α) = sqrt(2 / (c³ j_{l+1}(z_ln)²)) j_l(z_ln d / c) Y_l^0(α), z_ln the n-th zero of j_l
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from explorer.spaces.points.harmonics import bessel_roots
from models.layers.points.geometry import envelope

SMALL = 1.0  # below which a power series is more precise than the recurrence


def spherical_bessel(degree: int, x: Tensor) -> Tensor:
    """Return j_0 .. j_degree of x >= 0, (degree + 1, ...): upward recurrence, and a power series where x is small."""
    away = x.clamp_min(SMALL)
    high = [torch.sin(away) / away]
    if degree:
        high.append(torch.sin(away) / away**2 - torch.cos(away) / away)
    for k in range(1, degree):
        high.append((2 * k + 1) / away * high[k] - high[k - 1])
    low, near = [], x.clamp_max(SMALL)
    for k in range(degree + 1):
        term = near**k / math.prod(range(1, 2 * k + 2, 2))
        total = term
        for m in range(1, 12):
            term = term * (-(near**2) / 2) / (m * (2 * k + 2 * m + 1))
            total = total + term
        low.append(total)
    return torch.where(x < SMALL, torch.stack(low), torch.stack(high))


def legendre(degree: int, cosine: Tensor) -> Tensor:
    """Return P_0 .. P_degree of a cosine, (degree + 1, ...)."""
    found = [torch.ones_like(cosine), cosine]
    for k in range(1, degree):
        found.append(((2 * k + 1) * cosine * found[k] - k * found[k - 1]) / (k + 1))
    return torch.stack(found[: degree + 1])


class AngularBasis(nn.Module):
    """a_ln(d, α) for l < `degrees`, n = 1 .. `count`, smooth where it ends: (T,), (T,) -> (T, degrees · count).

    Equal to torch_geometric's SphericalBasisLayer but for its factor 1 / s of the envelope. It is no layer by itself:
    its rows are pairs of edges, which are no field over the points.
    """

    def __init__(self, reach: float, degrees: int, count: int, exponent: int = 5) -> None:
        super().__init__()
        self.reach, self.degrees, self.count, self.exponent = reach, degrees, count, exponent

    def values(self, lengths: Tensor, angles: Tensor) -> Tensor:
        """Return the functions for lengths of the further edge and angles between two edges."""
        share = lengths / self.reach
        around = legendre(self.degrees - 1, torch.cos(angles))
        made = []
        for k in range(self.degrees):
            zeros = torch.tensor(bessel_roots(k, self.count), dtype=lengths.dtype, device=lengths.device)
            height = spherical_bessel(k + 1, zeros)[k + 1].abs()
            waves = spherical_bessel(k, share[:, None] * zeros)[k] * math.sqrt(2) / height
            made.append(waves * (math.sqrt((2 * k + 1) / (4 * math.pi)) * around[k])[:, None])
        return envelope(share, self.exponent)[:, None] * torch.cat(made, 1)

    def curves(self) -> tuple[Tensor, Tensor, str, str]:
        """Return angles, the polynomials of the angle, and in which quantity and unit."""
        along = torch.linspace(0, 180, 181, dtype=torch.float64)
        return along, legendre(self.degrees - 1, torch.cos(torch.deg2rad(along))), "angle", "°"

    def extra_repr(self) -> str:
        return f"degrees={self.degrees}, count={self.count}, reach={self.reach:g}"
