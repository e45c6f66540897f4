"""Convolutions on Z² ⋊ H for a point group H: transform the filter, then convolve (eq. 31-32).

Reference: M. Bronstein, J. Bruna, T. Cohen, P. Veličković, "Geometric Deep Learning" (2021), section 5.2,
equations 31-32; T. Cohen, M. Welling, "Group Equivariant Convolutional Networks" (2016).

A field of the regular representation of H has |H| channels, one per orientation, innermost:
channel = field * |H| + h. Turning the input by g turns every map and permutes the orientations, h -> gh.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.groups import FiniteGroup
from explorer.declare.types.fields import Regular, Scalar


def transformed_indices(group: FiniteGroup, size: int, lifted: bool) -> NDArray[np.int64]:
    """Return index with (ρ(h)θ).flatten() = θ.flatten()[index[h]], where ρ(h)θ_u = θ_{h⁻¹u} (below eq. 31).

    A filter is a small signal and moves like one: a point u of the `size` x `size` window goes to h u and,
    when the input carries orientations (`lifted`), orientation k goes to h k. H only permutes the
    coefficients, so one table, made once, replaces every later rotation.

    Shapes:
        index: (|H|, size * size), or (|H|, |H| * size * size) when lifted.

    Raises:
        ValueError: an element does not map the square window onto itself (an eighth of a turn).
    """
    axis = np.arange(size) - (size - 1) / 2
    u = np.stack(np.meshgrid(axis, -axis), axis=-1)  # (row, column, xy): x points right and y up
    source = np.einsum("hdc,rsd->hrsc", group.matrices, u)  # h⁻¹ u = hᵀ u, for all h at once
    column, row = source[..., 0] + (size - 1) / 2, (size - 1) / 2 - source[..., 1]  # (|H|, row, column)
    if np.abs(row - row.round()).max() > 1e-9 or np.abs(column - column.round()).max() > 1e-9:
        raise ValueError(f"{group.name} does not map a {size} x {size} filter onto its own grid points")
    index = (row.round() * size + column.round()).astype(np.int64).reshape(group.order, size * size)
    if lifted:
        fibre = np.stack([group.regular_permutation(h) for h in group.elements()])  # (|H|, |H|)
        index = (fibre[:, :, None] * size * size + index[:, None, :]).reshape(group.order, -1)
    return index


class _Expanded(NamedTuple):
    """Filters θ_h ready for use, and the parameters that they were made from."""

    theta: Tensor
    bias: Tensor | None
    # detached parameters: they keep their storage alive, so that its address is given to no other tensor
    sources: tuple[Tensor, ...]
    versions: tuple[int, ...]


class TransformConvolve(nn.Module):
    """(x ⋆ θ)(kh) = (x ⋆ θ_h)(k), θ_h = ρ(h)θ: a plain convolution with |H| copies of each filter (eq. 32).

    In eval mode, where no gradient with respect to the filters is asked for, the copies are made once and
    kept until a parameter is changed, replaced or moved. Writing in place through `weight.data` is hidden
    from that test, as it is from autograd; `train()`, then `eval()`, drops the copies.
    """

    index: Tensor

    def __init__(
        self,
        group: FiniteGroup,
        in_fields: int,
        out_fields: int,
        kernel_size: int,
        padding: int | None,
        lifted: bool,
    ) -> None:
        super().__init__()
        self.group = group
        self.out_rep = Regular(group)
        self.kernel_size = kernel_size
        self.padding = kernel_size // 2 if padding is None else padding
        shape = (group.order, kernel_size, kernel_size) if lifted else (kernel_size, kernel_size)
        self.weight = nn.Parameter(torch.empty(out_fields, in_fields, *shape))
        self.bias = nn.Parameter(torch.empty(out_fields))
        index = torch.from_numpy(transformed_indices(group, kernel_size, lifted))
        # derived from the group: no part of the weights
        self.register_buffer("index", index, persistent=False)
        self._expanded: _Expanded | None = None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw fresh parameters with the bounds of nn.Conv2d for the same number of inputs."""
        bound = self.weight[0].numel() ** -0.5
        nn.init.uniform_(self.weight, -bound, bound)
        nn.init.uniform_(self.bias, -bound, bound)

    def filters(self) -> tuple[Tensor, Tensor]:
        """Transform: return all θ_h = ρ(h)θ, shape (O*|H|, I or I*|H|, k, k), and the bias, (O*|H|,)."""
        n, size = self.group.order, self.kernel_size
        out_fields, in_fields = self.weight.shape[:2]
        theta = self.weight.flatten(2)  # (O, I, coefficients)
        theta = theta.index_select(2, self.index.flatten())  # (O, I, |H| * coefficients)
        theta = theta.view(out_fields, in_fields, n, -1).transpose(1, 2)  # (O, |H|, I, coefficients)
        # every orientation has the same bias: a constant is the only function on H that no h moves
        return theta.reshape(out_fields * n, -1, size, size), self.bias.repeat_interleave(n)

    def forward(self, x: Tensor) -> Tensor:
        """Convolve: (N, I or I*|H|, Y, X) -> (N, O*|H|, Y', X')."""
        theta, bias = self._ready_filters()
        return F.conv2d(x, theta, bias, padding=self.padding)

    def _ready_filters(self) -> tuple[Tensor, Tensor | None]:
        parameters = (self.weight, self.bias)
        wanted = torch.is_grad_enabled() and any(p.requires_grad for p in parameters)
        # an inference tensor counts no versions: a change to it could not be noticed
        if self.training or wanted or any(p.is_inference() for p in parameters):
            return self.filters()
        kept = self._expanded
        if kept is None or not all(map(_unchanged, kept.sources, kept.versions, parameters)):
            # outside inference mode: what is kept may later be used where gradients of the input are recorded
            with torch.inference_mode(False), torch.no_grad():
                theta, bias = self.filters()
            sources = tuple(p.detach() for p in parameters)
            kept = self._expanded = _Expanded(theta, bias, sources, tuple(p._version for p in parameters))
        return kept.theta, kept.bias

    def train(self, mode: bool = True) -> Self:
        if mode != self.training:
            self._expanded = None
        return super().train(mode)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_expanded": None}  # copies and files carry the parameters alone

    def extra_repr(self) -> str:
        out_fields, in_fields = self.weight.shape[:2]
        return f"{self.group.name}, {in_fields} -> {out_fields}, kernel_size={self.kernel_size}"


def _unchanged(source: Tensor, version: int, parameter: Tensor) -> bool:
    return (
        source.data_ptr() == parameter.data_ptr()
        and version == parameter._version
        and source.dtype == parameter.dtype
        and source.device == parameter.device
    )


class LiftingConv2d(TransformConvolve):
    """Lift an image to the group: (x ⋆ θ)(kh) = Σ_u x_u (ρ(h)θ)_{u-k}, one output map per orientation h.

    Shapes:
        weight: (O, I, k, k); input (N, I, Y, X) of scalar fields; output (N, O*|H|, Y, X), regular fields.
    """

    def __init__(
        self,
        group: FiniteGroup,
        in_channels: int,
        out_fields: int,
        kernel_size: int = 3,
        padding: int | None = None,
    ) -> None:
        super().__init__(group, in_channels, out_fields, kernel_size, padding, lifted=False)


class GroupConv2d(TransformConvolve):
    """Convolve on the group: θ has orientations of its own, and ρ(h) turns each and permutes them.

    Shapes:
        weight: (O, I, |H|, k, k); input (N, I*|H|, Y, X); output (N, O*|H|, Y, X), both regular fields.
    """

    def __init__(
        self,
        group: FiniteGroup,
        in_fields: int,
        out_fields: int,
        kernel_size: int = 3,
        padding: int | None = None,
    ) -> None:
        super().__init__(group, in_fields, out_fields, kernel_size, padding, lifted=True)


class GroupBatchNorm(nn.BatchNorm3d):
    """Batch normalisation with one mean and one scale per field, shared by its orientations.

    Statistics per channel would differ from orientation to orientation and not move with them.

    Shapes:
        (N, C*|H|, Y, X) -> the same.
    """

    def __init__(self, group: FiniteGroup, fields: int) -> None:
        super().__init__(fields)
        self.group = group
        self.out_rep = Regular(group)

    def forward(self, input: Tensor) -> Tensor:
        fields = input.unflatten(1, (self.num_features, self.group.order))  # (N, C, |H|, Y, X)
        return super().forward(fields).flatten(1, 2)


class GroupPool(nn.Module):
    """Take the maximum over the orientations of each field; what permutes before cannot be told apart after.

    Shapes:
        (N, C*|H|, Y, X) -> (N, C, Y, X), scalar fields; (N, C*|H|) -> (N, C), invariants.
    """

    def __init__(self, group: FiniteGroup) -> None:
        super().__init__()
        self.group = group
        self.out_rep = Scalar()

    def forward(self, x: Tensor) -> Tensor:
        return x.unflatten(1, (-1, self.group.order)).amax(dim=2)
