"""Spherical harmonics and coupling coefficients, as e3nn has them."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch
    from torch import Tensor

NONE = 1e-12  # a length that has no direction, as e3nn has it


def spherical(degrees: int | list[int], directions: Tensor) -> Tensor:
    """Return Y_l of directions (n, 3) of any length, (n, 2 l + 1) for each degree l, each as long as sqrt(2 l + 1).

    e3nn's harmonics of "component" normalisation, degree by degree: Y_l is the part of degree l of Y_(l - 1) times the
    direction, one product with a table of e3nn's coupling coefficients. Of length 0 all but Y_0 is 0.
    """
    import torch

    wanted = [degrees] if isinstance(degrees, int) else list(degrees)
    # components come first meanwhile: operations on few long rows are quicker than on many short ones
    rows = directions.mT.contiguous()
    x, y, z = rows.square().unbind(-2)
    unit = rows / (x + y + z).sqrt().clamp_min(NONE).unsqueeze(-2)
    found = [torch.ones_like(unit[..., :1, :]), math.sqrt(3) * unit]
    for degree in range(2, max(wanted, default=0) + 1):
        pairs = (found[-1].unsqueeze(-2) * unit.unsqueeze(-3)).flatten(-3, -2)
        found.append(_next(degree, unit.dtype, unit.device) @ pairs)
    return torch.cat([found[degree] for degree in wanted], -2).mT.contiguous()


@cache
def _next(degree: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Return the table from Y_(l - 1) and the direction to Y_l, (2 l + 1, 3 (2 l - 1))."""
    import torch

    table = coupling(degree - 1, 1, degree)
    # at the pole, along y, only the middle of Y_l is there, and it is as long as all of Y_l
    scale = math.sqrt((2 * degree + 1) / (2 * degree - 1)) / float(table[degree - 1, 1, degree])
    with torch.inference_mode(False):  # it is kept, and others take derivatives
        return (scale * table).flatten(0, 1).T.contiguous().to(device=device, dtype=dtype)


@cache
def coupling(one: int, two: int, out: int) -> Tensor:
    """Return the coupling coefficients (2 l1 + 1, 2 l2 + 1, 2 l + 1) in double precision: e3nn's Wigner 3j symbols."""
    import torch

    from explorer.work.e3nn_parts import o3

    with torch.inference_mode(False):  # they are kept, and others take derivatives
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
