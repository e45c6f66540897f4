"""Kernels that commute with turned frames, for features of any tangent orders.

A feature of order m turns by rho_m(-phi) when its frame turns by phi. A convolution with the kernel K(theta), where
theta is the direction of the neighbour, gives the same answer in every gauge if and only if

    K(theta - phi) = rho_out(-phi) K(theta) rho_in(phi)    for every phi        (the kernel constraint)

so K(theta) = rho_out(theta) K(0) rho_in(-theta) with a free matrix K(0); at the vertex itself, which has no direction,
K must commute with all turns. In Fourier terms a pair of orders n -> m has the frequencies m - n and m + n.

Cohen, Weiler, Kicanaoglu, Welling, "Gauge Equivariant Convolutional Networks and the Icosahedral CNN", 2019, eq. (3);
de Haan, Weiler, Cohen, Welling, "Gauge Equivariant Mesh CNNs", 2021, table 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor


def sizes(orders: Sequence[int]) -> list[int]:
    """Return how many channels the feature of each order has."""
    return [1 if m == 0 else 2 for m in orders]


def places(orders: Sequence[int]) -> list[slice]:
    """Return where the feature of each order stands in a block."""
    ends = torch.tensor([0, *sizes(orders)]).cumsum(0).tolist()
    return [slice(a, b) for a, b in pairwise(ends)]


def rotation(orders: Sequence[int], angle: Tensor) -> Tensor:
    """Return rho(angle), block diagonal; (...,) radians -> (..., size, size)."""
    size = sum(sizes(orders))
    made = angle.new_zeros(*angle.shape, size, size)
    for m, here in zip(orders, places(orders), strict=True):
        if m == 0:
            made[..., here, here] = 1.0
            continue
        c, s = torch.cos(m * angle), torch.sin(m * angle)
        made[..., here, here] = torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2)
    return made


def kernel_at(theta: Tensor, at_zero: Tensor, orders_in: Sequence[int], orders_out: Sequence[int]) -> Tensor:
    """Return K(theta) from K(0); (...,) and (size_out, size_in) -> (..., size_out, size_in)."""
    return rotation(orders_out, theta) @ at_zero @ rotation(orders_in, -theta)


def basis(orders_in: Sequence[int], orders_out: Sequence[int]) -> tuple[Tensor, tuple[str, ...]]:
    """Return values at theta = 0 of a basis of all kernels that obey the constraint, and their names.

    Each is one pair of orders with one frequency: (count, size_out, size_in) and such as "1 → 2: cos 3θ".
    """
    found, names = [], []
    for n, into in zip(orders_in, places(orders_in), strict=True):
        for m, out in zip(orders_out, places(orders_out), strict=True):
            for frequency, matrix in _pair(n, m):
                here = torch.zeros(sum(sizes(orders_out)), sum(sizes(orders_in)), dtype=torch.float64)
                here[out, into] = matrix
                found.append(here)
                names.append(f"{n} → {m}: frequency {frequency}")
    return torch.stack(found), tuple(names)


def _pair(n: int, m: int) -> list[tuple[int, Tensor]]:
    """Return (frequency, K(0)) of the basis kernels from order n to order m."""
    one = [[1.0, 0.0], [0.0, 1.0]]
    turned = [[0.0, -1.0], [1.0, 0.0]]
    flip = [[1.0, 0.0], [0.0, -1.0]]
    flip_turned = [[0.0, 1.0], [1.0, 0.0]]
    if n == 0 and m == 0:
        return [(0, _matrix([[1.0]]))]
    if n == 0:
        return [(m, _matrix([[1.0], [0.0]])), (m, _matrix([[0.0], [1.0]]))]
    if m == 0:
        return [(n, _matrix([[1.0, 0.0]])), (n, _matrix([[0.0, 1.0]]))]
    # matrices that commute with turns carry z to a z, the others z to its conjugate first
    plain = [(abs(m - n), _matrix(one)), (abs(m - n), _matrix(turned))]
    return [*plain, (m + n, _matrix(flip)), (m + n, _matrix(flip_turned))]


def _matrix(rows: list[list[float]]) -> Tensor:
    return torch.tensor(rows, dtype=torch.float64)


def self_basis(orders_in: Sequence[int], orders_out: Sequence[int]) -> Tensor:
    """Return a basis of the matrices that commute with every turn, (count, size_out, size_in)."""
    found = []
    for n, into in zip(orders_in, places(orders_in), strict=True):
        for m, out in zip(orders_out, places(orders_out), strict=True):
            if n != m:
                continue
            for _, matrix in _pair(n, m)[: 1 if n == 0 else 2]:
                here = torch.zeros(sum(sizes(orders_out)), sum(sizes(orders_in)), dtype=torch.float64)
                here[out, into] = matrix
                found.append(here)
    size = (sum(sizes(orders_out)), sum(sizes(orders_in)))
    return torch.stack(found) if found else torch.zeros(0, *size, dtype=torch.float64)
