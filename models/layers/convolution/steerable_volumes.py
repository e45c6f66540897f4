"""Steerable convolutions on volumes: kernels made of radial shells and spherical harmonics, between irreps at voxels.

Weiler, Geiger, Welling, Boomsma, Cohen, "3D Steerable CNNs: Learning Rotationally Equivariant Features in Volumetric
Data", 2018, section 4, eq. (11) to (14), with parity as in Geiger, Smidt, "e3nn", 2022:

    K(u)_{oi} = sum over paths (l_i, l_f, l_o) and shells m of w φ_m(|u|) C(Y_{l_f}(u / |u|), e_i)_o
    (K ⋆ f)(k) = sum_u K(u) f(k + u)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import accumulate

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.spaces.points.fields import Irreps, irreps
from explorer.spaces.points.harmonics import coupling, spherical
from models.layers.points.irreps import paths_between

WIDTH = 0.6  # of a shell, in voxels, as the authors have it


def shells(size: int) -> Tensor:
    """Return exp(-(|u| - m)² / (2 σ²)) for m = 0, 1, ... up to half the side, (shells, size, size, size).

    Outside of the ball they are cut off, so that no corner of the cube stands out.
    """
    return _shells_at(_ways(size).norm(dim=1), size).view(-1, size, size, size)


def _shells_at(length: Tensor, size: int) -> Tensor:
    """Return the same at these distances from the middle, (shells, distances)."""
    half = size // 2
    made = [torch.exp(-((length - m) ** 2) / (2 * WIDTH**2)) for m in range(half + 1)]
    return torch.stack(made) * (length <= half + 0.5).to(length.dtype)


def _ways(size: int) -> Tensor:
    """Return the offsets of a kernel's voxels, (size³, 3) as (x, y, z): x right, y up, z along the slices."""
    axis = torch.arange(size, dtype=torch.float64) - (size - 1) / 2
    z, y, x = torch.meshgrid(axis, -axis, axis, indexing="ij")
    return torch.stack([x, y, z], -1).view(-1, 3)


def _starts(rep: Irreps) -> list[int]:
    """Return the first channel of each term."""
    return [0, *accumulate(count * (2 * degree + 1) for count, degree, _ in rep.terms)]


class SteerableConv3d(nn.Module):
    """Convolve fields of irreps, (N, inputs, Z, Y, X) -> (N, outputs, Z, Y, X), with zeros around or on a torus.

    The kernel is a sum over paths and shells, each with a number for each pair of channels. Equal to the kernel of
    e3nn's Convolution on voxels for the same shells, but for the size of a path's numbers.
    """

    table: Tensor

    def __init__(
        self, inputs: str, outputs: str, size: int = 5, degree: int = 2, circular: bool = False,
        radial: Tensor | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.inputs, self.outputs, self.out_rep = irreps(inputs), irreps(outputs), irreps(outputs)
        self.kernel_size, self.circular, self.others = size, circular, radial
        radial = shells(size) if radial is None else radial
        filters = irreps("+".join(f"1x{k}{'eo'[k % 2]}" for k in range(degree + 1)))
        ways = _ways(size)
        here = ways.square().sum(1) == 0
        most = max(k for _, k, _ in self.outputs.terms)
        kinds = {(k, parity): i for i, (_, k, parity) in enumerate(self.outputs.terms)}
        self.routes: list[tuple[int, int, int]] = []  # term of the inputs, of the outputs, where its table begins
        self.names: list[str] = []  # of these paths: "1o_x_2e_to_1o"
        tables, at = [], 0
        self.weights = nn.ParameterList()
        for i, j, out, parity in paths_between(self.inputs, filters, most):
            if (o := kinds.get((out, parity))) is None:
                continue
            count, one, _ = self.inputs.terms[i]
            harmonic = spherical([j], ways)
            if j:  # at the middle there is no direction
                harmonic = torch.where(here[:, None], torch.zeros_like(harmonic), harmonic)
            block = torch.einsum("vf,ifo->oiv", harmonic, coupling(one, j, out)) * math.sqrt(2 * out + 1)
            made = block[None] * radial.to(block).flatten(1)[:, None, None]  # (shells, 2 l + 1, 2 l_i + 1, voxels)
            # each shell has unit size, so that the numbers of all paths mean alike
            norm = made.square().sum((1, 2, 3), keepdim=True).sqrt()
            there = norm.flatten() > 1e-9
            made = made[there] / norm[there]
            if not len(made):
                continue
            tables.append(made.flatten())
            self.routes.append((i, o, at))
            self.names.append(f"{one}{self.inputs.terms[i][2]}_x_{j}{'eo'[j % 2]}_to_{out}{parity}")
            at += made.numel()
            self.weights.append(nn.Parameter(torch.randn(len(made), self.outputs.terms[o][0], count)))
        # derived from the harmonics: no part of the weights
        self.register_buffer("table", torch.cat(tables), persistent=False)
        into = [0.0] * len(self.outputs.terms)
        for weight, (_, o, _) in zip(self.weights, self.routes, strict=True):
            into[o] += weight.shape[0] * weight.shape[2] / (2 * self.outputs.terms[o][1] + 1)
        self.scale = [1 / math.sqrt(max(total, 1e-9)) for total in into]
        scalars = sum(c for c, k, parity in self.outputs.terms if (k, parity) == (0, "e"))
        self.bias = nn.Parameter(torch.zeros(scalars))

    def kernel(self) -> Tensor:
        """Return K, (outputs, inputs, size, size, size)."""
        rows: list[list[Tensor]] = []
        size = self.kernel_size**3
        for o, (count, k, _) in enumerate(self.outputs.terms):
            row = []
            for i, (given, one, _) in enumerate(self.inputs.terms):
                block = self.table.new_zeros(count * (2 * k + 1), given * (2 * one + 1), size)
                for number, (a, b, _) in enumerate(self.routes):
                    if (a, b) == (i, o):
                        block = block + self._of_path(number)
                row.append(block)
            rows.append(row)
        flat = torch.cat([torch.cat(row, 1) for row in rows])
        return flat.view(*flat.shape[:2], *(self.kernel_size,) * 3)

    def _of_path(self, number: int) -> Tensor:
        """Return what one path adds to K, (its outputs, its inputs, size³)."""
        weight, (i, o, at) = self.weights[number], self.routes[number]
        size = self.kernel_size**3
        shape = (weight.shape[0], 2 * self.outputs.terms[o][1] + 1, 2 * self.inputs.terms[i][1] + 1, size)
        basis = self.table[at : at + math.prod(shape)].view(shape)
        made = torch.einsum("soi,sabv->oaibv", weight, basis)
        return self.scale[o] * made.reshape(shape[1] * weight.shape[1], shape[2] * weight.shape[2], size)

    def by_path(self, x: Tensor) -> Iterator[tuple[str, int, Tensor]]:
        """Yield the name of each path, the first channel that it adds to, and what it adds: (N, its outputs, Z, Y, X).

        All of them and the bias add up to what the layer gives.
        """
        given, made = (_starts(rep) for rep in (self.inputs, self.outputs))
        for number, (name, (i, o, _)) in enumerate(zip(self.names, self.routes, strict=True)):
            kernel = self._of_path(number)
            kernel = kernel.view(*kernel.shape[:2], *(self.kernel_size,) * 3)
            yield name, made[o], self._convolved(x[:, given[i] : given[i] + kernel.shape[1]], kernel)

    def curves(self) -> tuple[Tensor, Tensor, str, str]:
        """Return distances, its shells at them, and in which quantity and unit: a view draws them."""
        if self.others is None:
            along = torch.linspace(0, self.kernel_size // 2 + 1, 241, dtype=torch.float64)
            return along, _shells_at(along, self.kernel_size), "distance", "voxels"
        # of shells that are given nothing is known but their values at voxels, the first of each distance
        length = _ways(self.kernel_size).norm(dim=1)
        along = length.unique()
        first = (length[None] == along[:, None]).long().argmax(1)
        return along, self.others.to(along).flatten(1)[:, first], "distance", "voxels"

    def offset(self) -> Tensor:
        """Return the bias of every channel: scalars have one, and nothing else may."""
        parts, at = [], 0
        for count, k, parity in self.outputs.terms:
            width = count * (2 * k + 1)
            scalar = (k, parity) == (0, "e")
            parts.append(self.bias[at : at + count] if scalar else self.bias.new_zeros(width))
            at += count if scalar else 0
        return torch.cat(parts)

    def _convolved(self, x: Tensor, kernel: Tensor, bias: Tensor | None = None) -> Tensor:
        reach = self.kernel_size // 2
        if self.circular:
            return F.conv3d(F.pad(x, (reach,) * 6, mode="circular"), kernel, bias)
        return F.conv3d(x, kernel, bias, padding=reach)

    def forward(self, x: Tensor) -> Tensor:
        return self._convolved(x, self.kernel(), self.offset())

    def extra_repr(self) -> str:
        return f"{self.inputs.written} -> {self.outputs.written}, kernel_size={self.kernel_size}"


class VoxelGate(nn.Module):
    """σ on scalars; values of higher degree times the sigmoid of a scalar of their own, voxel by voxel.

    "8x0e+4x1o" needs 8 + 4 scalars and 4 vectors: (N, `needed`, Z, Y, X) -> (N, outputs, Z, Y, X).
    Source: Weiler et al., "3D Steerable CNNs", 2018, section 4.3.
    """

    kernel_size = 1

    def __init__(self, outputs: str) -> None:
        super().__init__()
        self.out_rep = irreps(outputs)
        first, *self.others = self.out_rep.terms
        assert first[1:] == (0, "e"), "scalars come first"
        self.scalars, self.gates = first[0], sum(count for count, *_ in self.others)
        rest = [f"{count}x{k}{parity}" for count, k, parity in self.others]
        self.needed = "+".join([f"{self.scalars + self.gates}x0e", *rest])

    def forward(self, values: Tensor) -> Tensor:
        own = F.relu(values[:, : self.scalars])
        gate = torch.sigmoid(values[:, self.scalars : self.scalars + self.gates])
        parts, at, k = [own], self.scalars + self.gates, 0
        for count, degree, _ in self.others:
            width = count * (2 * degree + 1)
            part = values[:, at : at + width].unflatten(1, (count, -1))
            parts.append((part * gate[:, k : k + count, None]).flatten(1, 2))
            at, k = at + width, k + count
        return torch.cat(parts, 1)
