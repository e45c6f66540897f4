"""Functions of a distance and an angle: spherical Bessel functions times Legendre polynomials.

Gasteiger, Groß, Günnemann, "Directional Message Passing for Molecular Graphs", 2020, eq. (6):

    a_ln(d, α) = sqrt(2 / (c³ j_{l+1}(z_ln)²)) j_l(z_ln d / c) Y_l^0(α), z_ln the n-th zero of j_l
"""

from __future__ import annotations

import math
from functools import cache

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


def each_degree(x: Tensor) -> Tensor:
    """Return j_l of x[:, l] for each degree l: (E, degrees, ...), the values of `spherical_bessel`."""
    degrees = x.shape[1]
    away = x.clamp_min(SMALL)
    sine, cosine = torch.sin(away), torch.cos(away)
    here = sine / away
    above = here / away - cosine / away
    made = [here[:, 0]]
    for k in range(1, degrees):
        # row 0 of what is left is of degree k
        here, above, away = above[:, 1:], (2 * k + 1) / away[:, 1:] * above[:, 1:] - here[:, 1:], away[:, 1:]
        made.append(here[:, 0])
    near = x.clamp_max(SMALL)
    square = near.square()
    terms = _series(degrees, x.dtype, x.device)
    low = terms[-1].expand_as(x.movedim(1, -1)).movedim(-1, 1)
    for term in reversed(terms[:-1]):
        low = low * square + term.view(-1, *[1] * (x.ndim - 2))
    power = torch.arange(degrees, device=x.device).view(-1, *[1] * (x.ndim - 2))
    return torch.where(x < SMALL, low * near**power, torch.stack(made, 1))


@cache
def _series(degrees: int, dtype: torch.dtype, device: torch.device) -> tuple[Tensor, ...]:
    """Return the terms of j_l(x) / x^l in powers of x², for each l: below 1 the next one is beyond double precision."""
    with torch.inference_mode(False):
        made = [torch.tensor([1 / math.prod(range(1, 2 * k + 2, 2)) for k in range(degrees)], dtype=torch.float64)]
        for m in range(1, 10):
            made.append(
                made[-1] * torch.tensor([-0.5 / (m * (2 * k + 2 * m + 1)) for k in range(degrees)], dtype=torch.float64)
            )
        return tuple(term.to(device=device, dtype=dtype) for term in made)


def legendre(degree: int, cosine: Tensor) -> Tensor:
    """Return P_0 .. P_degree of a cosine, (degree + 1, ...)."""
    found = [torch.ones_like(cosine), cosine]
    for k in range(1, degree):
        found.append(((2 * k + 1) * cosine * found[k] - k * found[k - 1]) / (k + 1))
    return torch.stack(found[: degree + 1])


@cache
def _zeros(degrees: int, count: int, dtype: torch.dtype, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return z_ln and sqrt(2) / |j_(l+1)(z_ln)| sqrt((2 l + 1) / 4π), both (degrees, count)."""
    with torch.inference_mode(False):  # they are kept, and others take derivatives
        zeros = torch.tensor([bessel_roots(k, count) for k in range(degrees)], dtype=torch.float64)
        height = torch.stack([spherical_bessel(k + 1, zeros[k])[k + 1].abs() for k in range(degrees)])
        part = torch.tensor([math.sqrt((2 * k + 1) / (4 * math.pi)) for k in range(degrees)], dtype=torch.float64)
        scale = math.sqrt(2) / height * part[:, None]
        return zeros.to(device=device, dtype=dtype), scale.to(device=device, dtype=dtype)


class AngularBasis(nn.Module):
    """a_ln(d, α) for l < `degrees`, n = 1 .. `count`, smooth where it ends: (T,), (T,) -> (T, degrees · count).

    Equal to torch_geometric's SphericalBasisLayer but for its factor 1 / s of the envelope. It is no layer by itself:
    its rows are pairs of edges, which are no field over the points.
    """

    def __init__(self, reach: float, degrees: int, count: int, exponent: int = 5) -> None:
        super().__init__()
        self.reach, self.degrees, self.count, self.exponent = reach, degrees, count, exponent

    def values(self, lengths: Tensor, angles: Tensor, which: Tensor | None = None) -> Tensor:
        """Return the functions for lengths of the further edge and angles between two edges.

        Args:
            which: (T,) the number of each pair's further edge where `lengths` are those of edges, (E,).
        """
        share = lengths / self.reach
        # of the edges alone: there are many pairs of each
        waves = envelope(share, self.exponent)[:, None, None] * self._waves(share)
        around = legendre(self.degrees - 1, torch.cos(angles)).T
        return ((waves if which is None else waves[which]) * around[:, :, None]).flatten(1)

    def _waves(self, share: Tensor) -> Tensor:
        """Return what of the functions depends on the length, (E, degrees, count)."""
        zeros, scale = _zeros(self.degrees, self.count, share.dtype, share.device)
        return each_degree(share[:, None, None] * zeros) * scale

    def curves(self) -> tuple[Tensor, Tensor, str, str]:
        """Return angles, the polynomials of the angle, and in which quantity and unit."""
        along = torch.linspace(0, 180, 181, dtype=torch.float64)
        return along, legendre(self.degrees - 1, torch.cos(torch.deg2rad(along))), "angle", "°"

    def extra_repr(self) -> str:
        return f"degrees={self.degrees}, count={self.count}, reach={self.reach:g}"
