"""Ways between the ends of edges, their lengths, and functions of the length.

An edge j -> i is a column (j, i) of edge_index; its way r_ij = x_j - x_i is seen from i, which hears.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from explorer.spaces.graph.fields import EDGE
from explorer.spaces.points.fields import EDGE_VECTOR


class Ways(nn.Module):
    """r_ij = x_j - x_i on the edge j -> i: (N, 3), (2, E) -> (E, 3); whatever shifts all points leaves it alone."""

    out_field = EDGE_VECTOR

    def forward(self, position: Tensor, edge_index: Tensor) -> Tensor:
        return position.index_select(0, edge_index[0]) - position.index_select(0, edge_index[1])


class Lengths(nn.Module):
    """|r_ij|: (E, 3) -> (E, 1)."""

    out_field = EDGE

    def forward(self, ways: Tensor) -> Tensor:
        return ways.square().sum(1, keepdim=True).sqrt()


class GaussianBasis(nn.Module):
    """exp(-γ (d - μ_k)²) for `count` centres between 0 and `reach`: (E, 1) -> (E, count).

    Schütt et al., "SchNet", 2017, section 3.1; equal to torch_geometric's GaussianSmearing.
    """

    out_field = EDGE

    def __init__(self, reach: float, count: int) -> None:
        super().__init__()
        self.reach, self.count = reach, count
        self.gamma = 0.5 / (reach / (count - 1)) ** 2

    def forward(self, lengths: Tensor) -> Tensor:
        centres = torch.linspace(0, self.reach, self.count, dtype=lengths.dtype, device=lengths.device)
        return (lengths - centres).square().mul_(-self.gamma).exp_()  # in place: edges are many

    def curves(self) -> tuple[Tensor, Tensor, str, str]:
        """Return distances, these functions of them, and in which quantity and unit: a view draws them."""
        along = torch.linspace(0, self.reach, 241, dtype=torch.float64)
        return along, self(along[:, None]).T, "distance", "Å"

    def extra_repr(self) -> str:
        return f"count={self.count}, reach={self.reach:g}"


class BesselBasis(nn.Module):
    """u(d) sqrt(2 / c) sin(n π d / c) / d for n = 1 .. `count`, smooth where it ends: (E, 1) -> (E, count).

    Gasteiger, Groß, Günnemann, "Directional Message Passing for Molecular Graphs", 2020, eq. (7) and (8); equal to
    torch_geometric's BesselBasisLayer times sqrt(2 / c) c.
    """

    out_field = EDGE

    def __init__(self, reach: float, count: int, exponent: int = 5) -> None:
        super().__init__()
        self.reach, self.count, self.exponent = reach, count, exponent

    def forward(self, lengths: Tensor) -> Tensor:
        n = torch.arange(1, self.count + 1, dtype=lengths.dtype, device=lengths.device)
        share = lengths / self.reach
        # sin(n π s) / s, which is n π where points coincide
        wave = n * math.pi * torch.sinc(n * share)
        return envelope(share, self.exponent) * math.sqrt(2 / self.reach**3) * wave

    def curves(self) -> tuple[Tensor, Tensor, str, str]:
        """Return distances, these functions of them, and in which quantity and unit."""
        along = torch.linspace(0, self.reach, 241, dtype=torch.float64)
        return along, self(along[:, None]).T, "distance", "Å"

    def extra_repr(self) -> str:
        return f"count={self.count}, reach={self.reach:g}"


def envelope(share: Tensor, exponent: int) -> Tensor:
    """Return u(s) = 1 - (p+1)(p+2)/2 s^p + p(p+2) s^(p+1) - p(p+1)/2 s^(p+2) below 1, and 0 from there on."""
    p = exponent
    inside = 1 - (p + 1) * (p + 2) / 2 * share**p + p * (p + 2) * share ** (p + 1) - p * (p + 1) / 2 * share ** (p + 2)
    return torch.where(share < 1, inside, torch.zeros_like(inside))


def cosine_cutoff(lengths: Tensor, reach: float) -> Tensor:
    """Return (cos(π d / c) + 1) / 2 below c, and 0 from there on."""
    inside = 0.5 * (torch.cos(math.pi * lengths / reach) + 1)
    return torch.where(lengths < reach, inside, torch.zeros_like(inside))


def summed(values: Tensor, edge_index: Tensor, places: int) -> Tensor:
    """Return the sum of what the edges that lead to each point carry: (E, ...), (2, E) -> (places, ...)."""
    return values.new_zeros(places, *values.shape[1:]).index_add_(0, edge_index[1], values)


def heard(edge_index: Tensor, places: int, like: Tensor) -> Tensor:
    """Return how many edges lead to each point, at least 1: (places, 1)."""
    return summed(like.new_ones(edge_index.shape[1], 1), edge_index, places).clamp_min(1)
