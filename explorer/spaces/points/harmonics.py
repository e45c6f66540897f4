"""Spherical harmonics and coupling coefficients, as e3nn has them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def spherical(degrees: int | list[int], directions: Tensor) -> Tensor:
    """Return Y_l of directions (n, 3) of any length, (n, 2 l + 1) for each degree l, each as long as sqrt(2 l + 1)."""
    from e3nn.o3 import spherical_harmonics  # type: ignore[import-untyped]

    found: Tensor = spherical_harmonics(degrees, directions, True, "component")
    return found


@cache
def coupling(one: int, two: int, out: int) -> Tensor:
    """Return the coupling coefficients (2 l1 + 1, 2 l2 + 1, 2 l + 1) in double precision: e3nn's Wigner 3j symbols."""
    import torch
    from e3nn.o3 import wigner_3j

    found: Tensor = wigner_3j(one, two, out, dtype=torch.float64)
    return found
