"""Layers on volumes: convolution on Z³ ⋊ O and Z³ ⋊ O_h by transform + convolve, pooling, vectors from orientations.

References: M. Bronstein, J. Bruna, T. Cohen, P. Veličković, "Geometric Deep Learning" (2021), section 5.2, eq. 31-32;
D. Worrall, G. Brostow, "CubeNet: Equivariance to 3D Rotation and Translation" (2018); M. Winkels, T. Cohen, "3D
G-CNNs for Pulmonary Nodule Detection" (2018).

A field of the regular representation of H has |H| channels, innermost: channel = field * |H| + h.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.groups import FiniteGroup
from explorer.declare.types.fields import INVARIANT, Scalar
from explorer.spaces.volume.fields import Orientations, Vector


def transformed_indices(group: FiniteGroup, size: int, lifted: bool) -> NDArray[np.int64]:
    """Return index with (ρ(h)θ).flatten() = θ.flatten()[index[h]], where ρ(h)θ_u = θ_{h⁻¹u} (below eq. 31).

    Shapes:
        index: (|H|, size³), or (|H|, |H| * size³) when lifted: then orientation k of a filter goes to h k.
    """
    middle = (size - 1) / 2
    axis = np.arange(size) - middle
    z, y, x = np.meshgrid(axis, -axis, axis, indexing="ij")  # x points right, y up, z along the slices
    source = np.einsum("hdc,...d->h...c", group.matrices, np.stack([x, y, z], -1))  # h⁻¹ u = hᵀ u
    column, row, plane = source[..., 0] + middle, middle - source[..., 1], source[..., 2] + middle
    index = np.rint((plane * size + row) * size + column).astype(np.int64).reshape(group.order, -1)
    if lifted:
        fibre = np.stack([group.regular_permutation(h) for h in group.elements()])
        index = (fibre[:, :, None] * size**3 + index[:, None, :]).reshape(group.order, -1)
    return index


class TransformConvolve3d(nn.Module):
    """(x ⋆ θ)(kh) = (x ⋆ θ_h)(k), θ_h = ρ(h)θ: a plain convolution with |H| copies of each filter (eq. 32)."""

    index: Tensor

    def __init__(
        self, group: FiniteGroup, in_fields: int, out_fields: int, kernel_size: int, circular: bool, lifted: bool
    ) -> None:
        super().__init__()
        self.group, self.kernel_size, self.circular = group, kernel_size, circular
        self.out_rep = Orientations(group)
        shape = (group.order if lifted else 1, *(kernel_size,) * 3)
        self.weight = nn.Parameter(torch.empty(out_fields, in_fields, *shape))
        self.bias = nn.Parameter(torch.empty(out_fields))
        # derived from the group: no part of the weights
        index = torch.from_numpy(transformed_indices(group, kernel_size, lifted))
        self.register_buffer("index", index, persistent=False)
        bound = (6 / self.weight[0].numel()) ** 0.5  # He's: what a ReLU lets through keeps its size from layer to layer
        nn.init.uniform_(self.weight, -bound, bound)
        nn.init.zeros_(self.bias)

    def filters(self) -> tuple[Tensor, Tensor]:
        """Transform: return all θ_h = ρ(h)θ, shape (O*|H|, I or I*|H|, k, k, k), and the bias, (O*|H|,)."""
        n, size = self.group.order, self.kernel_size
        out_fields, in_fields = self.weight.shape[:2]
        theta = self.weight.flatten(2).index_select(2, self.index.flatten())  # (O, I, |H| * coefficients)
        theta = theta.view(out_fields, in_fields, n, -1).transpose(1, 2)  # (O, |H|, I, coefficients)
        # every orientation has the same bias: a constant is the only function on H that no h moves
        return theta.reshape(out_fields * n, -1, size, size, size), self.bias.repeat_interleave(n)

    def forward(self, x: Tensor) -> Tensor:
        """Convolve: (N, I or I*|H|, Z, Y, X) -> (N, O*|H|, Z, Y, X)."""
        theta, bias = self.filters()
        reach = self.kernel_size // 2
        if self.circular:
            return F.conv3d(F.pad(x, (reach,) * 6, mode="circular"), theta, bias)
        return F.conv3d(x, theta, bias, padding=reach)

    def extra_repr(self) -> str:
        out_fields, in_fields = self.weight.shape[:2]
        return f"{self.group.name}, {in_fields} -> {out_fields}, kernel_size={self.kernel_size}"


class LiftingConv3d(TransformConvolve3d):
    """Lift a volume to the group: (x ⋆ θ)(kh) = Σ_u x_u (ρ(h)θ)_{u-k}, one output for each orientation h.

    Shapes:
        weight: (O, I, 1, k, k, k); input (N, I, Z, Y, X) of scalars; output (N, O*|H|, Z, Y, X), regular fields.
    """

    def __init__(
        self, group: FiniteGroup, channels: int, out_fields: int, kernel_size: int = 3, circular: bool = False
    ) -> None:
        super().__init__(group, channels, out_fields, kernel_size, circular, lifted=False)


class GroupConv3d(TransformConvolve3d):
    """Convolve on the group: θ has orientations of its own, and ρ(h) turns each and permutes them.

    Shapes:
        weight: (O, I, |H|, k, k, k); input (N, I*|H|, Z, Y, X); output (N, O*|H|, Z, Y, X), both regular fields.
    """

    def __init__(
        self, group: FiniteGroup, in_fields: int, out_fields: int, kernel_size: int = 3, circular: bool = False
    ) -> None:
        super().__init__(group, in_fields, out_fields, kernel_size, circular, lifted=True)


class OrientationPool(nn.Module):
    """Take the maximum over the orientations of each field; (N, C*|H|, Z, Y, X) -> (N, C, Z, Y, X), scalars."""

    kernel_size = 1

    def __init__(self, group: FiniteGroup) -> None:
        super().__init__()
        self.order = group.order
        self.out_rep = Scalar()

    def forward(self, x: Tensor) -> Tensor:
        return x.unflatten(1, (-1, self.order)).amax(dim=2)


class OrientationVectors(nn.Module):
    """Make a vector at each voxel of its orientations: v_u = Σ_h f_u(h) h w, which g turns into g v_{g⁻¹u}.

    Shapes:
        weight: (3,), the vector that the identity stands for; (N, C*|H|, Z, Y, X) -> (N, 3*C, Z, Y, X).
    """

    kernel_size = 1
    directions: Tensor

    def __init__(self, group: FiniteGroup) -> None:
        super().__init__()
        self.out_rep = Vector()
        self.weight = nn.Parameter(torch.randn(3))
        self.register_buffer("directions", torch.from_numpy(group.matrices.copy()).float(), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        turned = self.directions @ self.weight  # (|H|, 3): h w
        fields = x.unflatten(1, (-1, len(turned)))
        return torch.einsum("nch...,hd->ncd...", fields, turned).flatten(1, 2) / len(turned)


class VolumeMean(nn.Module):
    """Average over all voxels; (N, C, Z, Y, X) -> (N, C)."""

    out_field = INVARIANT

    def forward(self, x: Tensor) -> Tensor:
        return x.mean((-3, -2, -1))
