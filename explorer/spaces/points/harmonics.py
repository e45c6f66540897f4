"""Spherical harmonics and coupling coefficients, as e3nn has them."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def spherical(degrees: int | list[int], directions: Tensor) -> Tensor:
    """Return Y_l of directions (n, 3) of any length, (n, 2 l + 1) for each degree l, each as long as sqrt(2 l + 1)."""
    from explorer.work.e3nn_parts import o3

    found: Tensor = o3().spherical_harmonics(degrees, directions, True, "component")
    return found


@cache
def coupling(one: int, two: int, out: int) -> Tensor:
    """Return the coupling coefficients (2 l1 + 1, 2 l2 + 1, 2 l + 1) in double precision: e3nn's Wigner 3j symbols."""
    import torch

    from explorer.work.e3nn_parts import o3

    found: Tensor = o3().wigner_3j(one, two, out, dtype=torch.float64)
    return found


@cache
def bessel_roots(degree: int, count: int) -> tuple[float, ...]:
    """Return the first positive zeros of the spherical Bessel function j_l."""
    # zeros of j_l lie between those of j_(l - 1); those of j_0 are the multiples of pi

    from scipy.optimize import brentq
    from scipy.special import spherical_jn

    zeros = [math.pi * k for k in range(1, count + degree + 1)]
    for below in range(1, degree + 1):
        pairs = pairwise(zeros)
        zeros = [float(brentq(lambda x, k=below: spherical_jn(k, x), a, b)) for a, b in pairs]
    return tuple(zeros[:count])
