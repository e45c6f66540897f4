"""Gauge-equivariant convolution on a mesh, with kernels of any tangent orders.

    f'_i = K_self f_i + mean over the neighbours j of  K(r_ij, theta_ij) rho_in(g_{j -> i}) f_j

theta_ij is the direction of j in the frame of i, g_{j->i} carries a tangent vector from j to i. K obeys the kernel
constraint (`models.layers.gauge.kernel`), so the answer does not depend on the frames.

The neighbours enter through sums of e^{i(k theta + n g)} z_j alone, z_j being the feature of order n as a complex
number: one sparse product for each frequency k. Weights act on these sums, at vertices instead of edges.

Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.6, eq. (37); de Haan, Weiler, Cohen,
Welling, "Gauge Equivariant Mesh CNNs", 2021, eq. (4).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

from explorer.declare.types.fields import FieldType
from explorer.spaces.mesh.fields import Tangent, Vertices
from models.layers.gauge.kernel import basis, kernel_at, places, self_basis, sizes
from models.layers.graph.propagation import Kept, Pattern, pattern, product

_operators = Kept(96)


class GaugeConv(nn.Module):
    """(V, C_in * size_in), edge_index, radius, angle, transport -> (V, C_out * size_out).

    Attributes:
        weight: (rings, C_out, C_in, size_out, size_in), K(0) of each ring; no constraint is left on it.
        self_weight: (count, C_out, C_in), coefficients of `self_basis`.
        bias: (C_out,), added to the features of order 0, the only ones that all frames agree on.
    """

    self_kernels: Tensor

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        orders_in: Sequence[int] = (0, 1, 2),
        orders_out: Sequence[int] = (0, 1, 2),
        rings: int = 1,
    ) -> None:
        super().__init__()
        self.orders_in, self.orders_out, self.rings = tuple(orders_in), tuple(orders_out), rings
        self.in_channels, self.out_channels = in_channels, out_channels
        self.out_field = FieldType(Vertices(), Tangent(self.orders_out))
        size_in, size_out = sum(sizes(orders_in)), sum(sizes(orders_out))
        self.weight = nn.Parameter(torch.empty(rings, out_channels, in_channels, size_out, size_in))
        self.register_buffer("self_kernels", self_basis(orders_in, orders_out).float(), persistent=False)
        self.self_weight = nn.Parameter(torch.empty(len(self.self_kernels), out_channels, in_channels))
        self.bias = nn.Parameter(torch.zeros(out_channels))
        bound = math.sqrt(6.0 / (in_channels * size_in + out_channels * size_out))
        nn.init.uniform_(self.weight, -bound, bound)
        nn.init.uniform_(self.self_weight, -bound, bound)

    def forward(self, x: Tensor, edge_index: Tensor, radius: Tensor, angle: Tensor, transport: Tensor) -> Tensor:
        n, tensors = len(x), (edge_index, radius, angle, transport)
        net = pattern(edge_index, n)
        z = x.reshape(n, self.in_channels, -1)
        entering = [z[..., here].movedim(2, 1).flatten(1) for here in places(self.orders_in)]  # (V, C) or (V, 2C)
        parts: list[Tensor | None] = [None] * len(self.orders_out)
        for ring in range(self.rings):
            at_zero = self.weight[ring].permute(2, 3, 1, 0)  # (size_out, size_in, C_in, C_out)
            for order, into, features in zip(self.orders_in, places(self.orders_in), entering, strict=True):
                mixings = _mixings(order, at_zero[:, into], self.orders_out)
                summed = _one_by_one if torch.is_grad_enabled() else _side_by_side
                for place, waves, matrix in summed(net, tensors, features, order, mixings, (ring, self.rings)):
                    here = parts[place]
                    parts[place] = waves @ matrix if here is None else torch.addmm(here, waves, matrix)
        out = z.flatten(1) @ self._alone().to(x.dtype).t()
        blocks = [
            (part if part is not None else x.new_zeros(n, self.out_channels * size)).view(n, size, self.out_channels)
            for part, size in zip(parts, sizes(self.orders_out), strict=True)
        ]
        out = out.view(n, self.out_channels, -1) + torch.cat(blocks, 1).mT
        if 0 in self.orders_out:
            lift = torch.zeros_like(out[0])
            lift[:, places(self.orders_out)[self.orders_out.index(0)]] = self.bias[:, None]
            out = out + lift
        return out.flatten(1)

    def _alone(self) -> Tensor:
        """Return K_self, (C_out * size_out, C_in * size_in)."""
        whole = torch.einsum("boi,bmn->omin", self.self_weight, self.self_kernels.to(self.self_weight))
        return whole.reshape(self.out_channels * whole.shape[1], -1)

    def kernels(self, directions: int = 48) -> tuple[Tensor, tuple[str, ...]]:
        """Return the basis kernels over theta, (count * size_out * size_in, 1, directions), and their names."""
        at_zero, names = basis(self.orders_in, self.orders_out)
        theta = torch.arange(directions, dtype=torch.float64) * (2 * math.pi / directions)
        around = kernel_at(theta[:, None], at_zero[None], self.orders_in, self.orders_out)  # (D, count, out, in)
        entries = (at_zero != 0).any(0)
        rows, labels = [], []
        for k, name in enumerate(names):
            used = (around[:, k].abs().amax(0) > 1e-9) & entries
            for out, into in used.nonzero().tolist():
                rows.append(around[:, k, out, into])
                labels.append(f"{name} [{out},{into}]")
        return torch.stack(rows)[:, None], tuple(labels)


def ring_weights(net: Pattern, edge_index: Tensor, radius: Tensor, rings: int) -> list[Tensor]:
    """Return the share of each edge in each ring divided by the number of neighbours, a list of (E,).

    Rings stand at equal distances from 0 to the longest edge, and an edge is shared linearly by the two next to it; of
    one ring alone every edge is all.
    """

    def make() -> list[Tensor]:
        degree = (net.starts[1:] - net.starts[:-1]).clamp_min(1).to(radius.dtype)
        mean = 1.0 / degree[net.target]
        if rings == 1:
            return [mean]
        at = radius / radius.max().clamp_min(torch.finfo(radius.dtype).tiny) * (rings - 1)
        return [(1.0 - (at - k).abs()).clamp_min(0.0) * mean for k in range(rings)]

    return _operators.get((edge_index, radius), ("rings", rings, len(net.starts)), make)


Mixings = dict[int, list[tuple[int, Tensor]]]
Connection = tuple[Tensor, ...]


def _one_by_one(
    net: Pattern, tensors: Connection, features: Tensor, order: int, mixings: Mixings, ring: tuple[int, int]
) -> Iterator[tuple[int, Tensor, Tensor]]:
    """Yield (place in orders_out, sums, what turns them into that output), a frequency at a time; differentiable."""
    for k, found in mixings.items():
        waves = _waves(net, tensors, features, order, k, ring)
        for place, matrix in found:
            yield place, waves, matrix


def _side_by_side(
    net: Pattern, tensors: Connection, features: Tensor, order: int, mixings: Mixings, ring: tuple[int, int]
) -> Iterator[tuple[int, Tensor, Tensor]]:
    """Yield the same from one sparse product: the rows of a vertex, one for each frequency, follow each other.

    A neighbour's feature is then read once for all of them, and few large products use all threads.
    """
    frequencies = sorted(mixings, key=lambda k: (mixings[k][0][0], k))
    width = [1 if order == 0 and k == 0 else 2 for k in frequencies]
    first = [sum(width[:at]) for at in range(len(width))]
    total = sum(width)

    def make() -> Tensor:
        share = ring_weights(net, tensors[0], tensors[1], ring[1])[ring[0]]
        rows: list[Tensor] = []
        for k, parts in zip(frequencies, width, strict=True):
            phase = k * tensors[2] + order * tensors[3]
            rows += [(f(phase) * share)[net.order].to(features.dtype) for f in (torch.cos, torch.sin)[:parts]]
        degree = net.starts[1:] - net.starts[:-1]
        at = torch.arange(total, device=features.device)
        starts = (net.starts[:-1, None] * total + at * degree[:, None]).flatten()
        starts = torch.cat([starts, starts.new_tensor([total * net.edges])])
        within = torch.arange(net.edges, device=features.device) - net.starts[net.rows]
        where = starts[net.rows[None] * total + at[:, None]] + within
        values = torch.empty(total * net.edges, dtype=features.dtype, device=features.device)
        columns = torch.empty(total * net.edges, dtype=torch.int64, device=features.device)
        values[where.flatten()] = torch.stack(rows).flatten()
        columns[where.flatten()] = net.columns.expand(total, -1).flatten()
        size = (total * net.nodes, net.nodes)
        return torch.sparse_csr_tensor(
            starts.to(torch.int32), columns.to(torch.int32), values, size, check_invariants=False
        )

    matrix = _operators.get(tensors, ("waves", order, tuple(frequencies), ring, features.dtype, net.nodes), make)
    channels = features.shape[1]
    waves = (matrix @ features).view(net.nodes, total * channels)
    by_place: dict[int, list[tuple[int, Tensor]]] = {}
    for at, k in enumerate(frequencies):
        for place, mixing in mixings[k]:
            by_place.setdefault(place, []).append((at, _stacked(mixing, order, width[at])))
    for place, found in by_place.items():
        for run in _runs(found):
            here = slice(first[run[0][0]] * channels, (first[run[-1][0]] + width[run[-1][0]]) * channels)
            yield place, waves[:, here], torch.cat([mixing for _, mixing in run], 0)


def _stacked(mixing: Tensor, order: int, width: int) -> Tensor:
    """Return what acts on [cos z | sin z] as `mixing` does on [S_r | S_i], z being [z_r | z_i] of orders above 0."""
    if order == 0 or width == 1:
        return mixing
    real, imaginary = mixing.chunk(2, 0)
    return torch.cat([real, imaginary, imaginary, -real], 0)


def _runs(found: list[tuple[int, Tensor]]) -> list[list[tuple[int, Tensor]]]:
    """Cut a list into pieces whose numbers follow each other."""
    runs: list[list[tuple[int, Tensor]]] = []
    for one in sorted(found, key=lambda pair: pair[0]):
        if runs and runs[-1][-1][0] + 1 == one[0]:
            runs[-1].append(one)
        else:
            runs.append([one])
    return runs


def _waves(
    net: Pattern, tensors: tuple[Tensor, ...], features: Tensor, order: int, k: int, ring: tuple[int, int]
) -> Tensor:
    """Return S_k = sum over the neighbours j of share e^{i (k theta + order g)} z_j, real parts beside imaginary ones.

    `features` are z, (V, C) of order 0 and (V, 2C) of others; the answer has 2C columns, of order 0 with k = 0 only C.
    """
    edge_index, radius, angle, transport = tensors

    def make() -> tuple[Tensor, Tensor]:
        share = ring_weights(net, edge_index, radius, ring[1])[ring[0]]
        phase = k * angle + order * transport
        cos, sin = ((f(phase) * share)[net.order][None].to(features.dtype) for f in (torch.cos, torch.sin))
        return cos, sin

    key = ("wave", order, k, ring, features.dtype, net.nodes)
    cos, sin = _operators.get(tensors, key, make)
    c = product(net, cos, None, features, listed=False)
    if order == 0 and k == 0:
        return c
    s = product(net, sin, None, features, listed=False)
    if order == 0:
        return torch.cat([c, s], 1)
    half = features.shape[1] // 2
    return torch.cat([c[:, :half] - s[:, half:], s[:, :half] + c[:, half:]], 1)


def _mixings(n: int, at_zero: Tensor, orders_out: Sequence[int]) -> Mixings:
    """Return {k: [(place in orders_out, what turns S_k into that output)]} for K(0) from order n, (size_out, 1 or 2).

    With K(0) = [[a, b], [c, d]] the output is alpha S_{m-n} + beta conj S_{-(m+n)}, alpha = (a + d + i (c - b)) / 2 and
    beta = (a - d + i (c + b)) / 2.
    """
    found: dict[int, list[tuple[int, Tensor]]] = {}
    for place, (m, out) in enumerate(zip(orders_out, places(orders_out), strict=True)):
        block = at_zero[out]
        if n == 0:
            # (a + i c) S_m; a scalar has no imaginary part
            column = block[:, 0]
            matrix = column[0] if m == 0 else _complex(column[0], column[1])
            found.setdefault(m, []).append((place, matrix))
        elif m == 0:
            # Re((a - i b) S_{-n})
            found.setdefault(-n, []).append((place, torch.cat([block[0, 0], block[0, 1]], 0)))
        else:
            (a, b), (c, d) = block[0], block[1]
            found.setdefault(m - n, []).append((place, _complex((a + d) / 2, (c - b) / 2)))
            found.setdefault(-(m + n), []).append((place, _conjugating((a - d) / 2, (c + b) / 2)))
    return found


def _complex(real: Tensor, imaginary: Tensor) -> Tensor:
    """Return the matrix of S -> (real + i imaginary) S on [S_r | S_i], (2C, 2C')."""
    return torch.cat([torch.cat([real, imaginary], 1), torch.cat([-imaginary, real], 1)], 0)


def _conjugating(real: Tensor, imaginary: Tensor) -> Tensor:
    """Return the matrix of S -> (real + i imaginary) conj S."""
    return torch.cat([torch.cat([real, imaginary], 1), torch.cat([imaginary, -real], 1)], 0)
