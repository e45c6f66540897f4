"""Group convolutional networks on Z² ⋊ C4 and Z² ⋊ D4: transform the filter, then convolve (eq. 31-32).

Reference: M. Bronstein, J. Bruna, T. Cohen, P. Veličković, "Geometric Deep Learning" (2021), section 5.2,
equations 31-32; T. Cohen, M. Welling, "Group Equivariant Convolutional Networks" (2016).

A field of the regular representation of H has |H| channels, one per orientation, innermost:
channel = field * |H| + h. Turning the input by g turns every map and permutes the orientations, h -> gh.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.card import Card
from explorer.declare.groups import FiniteGroup, group
from explorer.spaces.grid.network.form import InputSpec
from models.layers.convolution.groups import (
    GroupBatchNorm,
    GroupConv2d,
    GroupPool,
    LiftingConv2d,
    TransformConvolve,
    transformed_indices,
)
from models.layers.global_pooling import GlobalMax
from models.training.images.digits import DIGITS, SIZE, Recipe, measured, train


class GroupCNN(nn.Module):
    """A digit classifier: three blocks h = P(σ(F(x))) (eq. 29), F a group convolution, then pooling over G.

    29 -> 15 -> 8: a window of 3 with stride 2 is centred on odd sizes only, so nothing is strided after the
    8 x 8 grid, and every step commutes exactly with the point group. Orientations are pooled before places:
    first the elements of H can no longer be told apart, then, up to the strides, the shifts.
    """

    def __init__(self, group: FiniteGroup, fields: tuple[int, int, int]) -> None:
        super().__init__()
        a, b, c = fields
        self.lift = LiftingConv2d(group, 1, a, kernel_size=5)
        self.norm1 = GroupBatchNorm(group, a)
        self.relu1 = nn.ReLU()
        self.pool1 = nn.AvgPool2d(3, stride=2, padding=1)  # a local mean: less aliasing between quarter turns
        self.conv2 = GroupConv2d(group, a, b, kernel_size=3)
        self.norm2 = GroupBatchNorm(group, b)
        self.relu2 = nn.ReLU()
        self.pool2 = nn.AvgPool2d(3, stride=2, padding=1)
        self.conv3 = GroupConv2d(group, b, c, kernel_size=5)
        self.norm3 = GroupBatchNorm(group, c)
        self.relu3 = nn.ReLU()
        self.group_pool = GroupPool(group)
        self.global_pool = GlobalMax()
        self.head = nn.Linear(c, 10)

    def forward(self, x: Tensor) -> Tensor:
        """Return the scores of the ten digits, (N, 1, 29, 29) -> (N, 10)."""
        x = self.pool1(self.relu1(self.norm1(self.lift(x))))  # (N, a*|H|, 15, 15)
        x = self.pool2(self.relu2(self.norm2(self.conv2(x))))  # (N, b*|H|, 8, 8)
        x = self.relu3(self.norm3(self.conv3(x)))  # (N, c*|H|, 8, 8)
        x = self.global_pool(self.group_pool(x))  # (N, c)
        return self.head(x)


def build_c4() -> nn.Module:
    """Build the network on Z² ⋊ C4; its number of parameters is about that of the plain CNN."""
    return GroupCNN(group("C4"), (12, 14, 18))


def build_d4() -> nn.Module:
    """Build the network on Z² ⋊ D4: more orientations, fewer fields, about as many parameters."""
    return GroupCNN(group("D4"), (8, 10, 12))


def matrix(model: nn.Module) -> dict[str, Tensor]:
    """Return pictures of the transformed filters: the lifting filters, and one filter of the second layer."""
    assert isinstance(model, GroupCNN)
    n = model.lift.group.order
    with torch.no_grad():
        lift, conv2 = model.lift.filters()[0], model.conv2.filters()[0]
    return {
        "lift: field down, orientation h across": _tiled(lift.unflatten(0, (-1, n))[:, :, 0]),
        "conv2: orientation h down, orientation of the input across": _tiled(conv2[:n, :n]),
    }


def _tiled(filters: Tensor) -> Tensor:
    """Lay filters (rows, columns, k, k) out side by side, a line of zeros between them."""
    framed = F.pad(filters, (0, 1, 0, 1))
    picture = framed.permute(0, 2, 1, 3).flatten(2).flatten(0, 1)[:-1, :-1]  # (rows * (k + 1) - 1, ...)
    return picture


REFERENCE = (
    'Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.2, eq. (31)-(32); '
    'Cohen, Welling, "Group Equivariant Convolutional Networks", 2016'
)


def _equation(name: str) -> str:
    return (
        "(x ⋆ θ)(g) = Σ_{u∈Ω} x_u ρ(g)θ_u,   ρ(g)θ_u = θ_{g⁻¹u}   (31)\n"
        f"g = kh,   k ∈ ℤ²,   h ∈ H = {name}:\n"
        "(x ⋆ θ)(kh) = Σ_{u∈Ω} x_u ρ(k)ρ(h)θ_u = Σ_{u∈Ω} x_u (ρ(h)θ)_{u−k}   (32)\n"
        "transform θ_h = ρ(h)θ, then convolve: (x ⋆ θ)(kh) = (x ⋆ θ_h)(k)\n"
        "(ρ(g)x) ⋆ θ = ρ(g)(x ⋆ θ)\n"
        "h = P(σ(F(x)))   (29), three times, with F = ⋆ θ"
    )


_SOURCE = (
    transformed_indices,
    TransformConvolve,
    LiftingConv2d,
    GroupConv2d,
    GroupBatchNorm,
    GroupPool,
    GroupCNN,
)

# Recipes, and the test errors of the shipped weights (seed 0); test_digits.py measures them again.
RECIPES = {
    "c4-cnn": Recipe(epochs=20),
    "d4-cnn": Recipe(epochs=20),
}
ERRORS = {
    "c4-cnn": {
        "upright_error": 0.016,
        "rotated_error": 0.33075,
        "quarter_turn_error": 0.016,
        "mirrored_error": 0.592,
    },
    "d4-cnn": {
        "upright_error": 0.014,
        "rotated_error": 0.32425,
        "quarter_turn_error": 0.014,
        "mirrored_error": 0.014,
    },
}

CARD = (
    Card(
        name="c4-cnn",
        title="Group CNN, quarter turns (C4)",
        rows=("G7", "G6"),
        groups=("C4",),
        reference=REFERENCE,
        equation=_equation("C4"),
        summary=(
            "Each filter is used in four orientations. Turn the digit by 90 degrees: every map of `lift` "
            "turns and moves to the next orientation, after `group_pool` nothing permutes any more, and the "
            "scores stay exactly the same. A mirror image is something else to this network."
        ),
        build=build_c4,
        input=InputSpec(shape=(1, SIZE, SIZE)),
        weights="c4-cnn.safetensors",
        labels=DIGITS,
        boundary="zero",
        train=partial(train, build_c4, RECIPES["c4-cnn"]),
        source=_SOURCE,
        matrix=matrix,
        notes=measured(31870, RECIPES["c4-cnn"], ERRORS["c4-cnn"]),
    ),
    Card(
        name="d4-cnn",
        title="Group CNN, quarter turns and mirrors (D4)",
        rows=("G7", "G6"),
        groups=("D4", "C4"),
        reference=REFERENCE,
        equation=_equation("D4"),
        summary=(
            "Each filter is used in eight orientations, four turned, four mirrored and turned. It has only "
            "seen upright digits and reads them as well after a quarter turn or in a mirror; between quarter "
            "turns nothing is promised. Compare its error along the orbit with plain-cnn and augmented-cnn."
        ),
        build=build_d4,
        input=InputSpec(shape=(1, SIZE, SIZE)),
        weights="d4-cnn.safetensors",
        labels=DIGITS,
        boundary="zero",
        train=partial(train, build_d4, RECIPES["d4-cnn"]),
        source=_SOURCE,
        matrix=matrix,
        notes=measured(30180, RECIPES["d4-cnn"], ERRORS["d4-cnn"]),
    ),
)
