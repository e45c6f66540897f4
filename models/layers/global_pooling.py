"""One value of each map for a whole image: the mean or the maximum over all places, which no shift or turn can change.

Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.1 (global pooling): y = max_u h(u) or
y = mean_u h(u).
"""

from __future__ import annotations

from torch import Tensor, nn


class GlobalMax(nn.Module):
    """Keep the largest value of each map, wherever it is; (N, C, Y, X) -> (N, C)."""

    def forward(self, x: Tensor) -> Tensor:
        return x.amax(dim=(-2, -1))


class GlobalMean(nn.Module):
    """Average over all places: what is left does not know where anything was; (N, C, h, w) -> (N, C)."""

    def forward(self, x: Tensor) -> Tensor:
        return x.mean((-2, -1))
