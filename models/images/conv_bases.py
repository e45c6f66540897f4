"""The same convolution as a sum of unit peaks, or of directional derivatives and the local mean.

Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.1, eq. (26)-(28):

    F(x) = sum_vw alpha_vw C(theta_vw) x                                   (26)
    F(x)_uv = sum_ab alpha_ab x_{u+a, v+b}                                 (27)
    F(x)_uvj = sum_ab sum_c alpha_jabc x_{u+a, v+b, c}                     (28)

C(theta) is the circulant matrix of correlation with theta. Two choices of generators span the same filters:

    unit peaks               theta_vw(u) = delta(u - (v, w))
    derivatives and mean     theta_vw(u) = delta(u) - delta(u - (v, w)),  theta_0(u) = 1 / (Hf Wf)

Here offsets are counted from the middle of the filter, so (0, 0) is the place itself, and in the second basis
the middle coefficient belongs to theta_0. Comparing the two sums coefficient by coefficient gives

    alpha_vw = beta_0 / (Hf Wf) - beta_vw        alpha_00 = beta_0 / (Hf Wf) + sum_vw beta_vw
    beta_0   = sum_vw alpha_vw                   beta_vw  = beta_0 / (Hf Wf) - alpha_vw
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.declare.types.fields import Scalar
from explorer.spaces.grid.network.form import InputSpec

BASES = ("unit peaks", "derivatives and mean")
COMPASS = ("nw", "n", "ne", "w", "middle", "e", "sw", "s", "se")  # offsets of a 3 x 3 filter, row by row


def to_derivatives(alpha: Tensor) -> Tensor:
    """Turn coefficients of the unit peaks into those of the derivatives; beta_0 is in the middle.

    Shapes: (..., Hf, Wf) -> (..., Hf, Wf), odd sizes.
    """
    h, w = alpha.shape[-2:]
    total = alpha.sum((-2, -1))
    beta = total[..., None, None] / (h * w) - alpha
    beta[..., h // 2, w // 2] = total
    return beta


def to_peaks(beta: Tensor) -> Tensor:
    """Turn coefficients of the derivatives (beta_0 in the middle) into those of the unit peaks.

    Shapes: (..., Hf, Wf) -> (..., Hf, Wf), odd sizes.
    """
    h, w = beta.shape[-2:]
    mean = beta[..., h // 2, w // 2]  # beta_0
    alpha = mean[..., None, None] / (h * w) - beta
    alpha[..., h // 2, w // 2] = mean / (h * w) + beta.sum((-2, -1)) - mean
    return alpha


def generators(basis: str, height: int, width: int, dtype: torch.dtype | None = None) -> Tensor:
    """Return the filters theta_vw of a basis, row by row: (Hf * Wf, Hf, Wf)."""
    peaks = torch.eye(height * width, dtype=dtype)
    if basis == "unit peaks":
        return peaks.unflatten(1, (height, width))
    middle = (height * width) // 2
    theta = peaks[middle] - peaks
    theta[middle] = 1 / (height * width)
    return theta.unflatten(1, (height, width))


class Generator(nn.Module):
    """C(theta) x, eq. (27) with theta for alpha, on the torus and on every channel alike."""

    theta: Tensor
    out_rep = Scalar()

    def __init__(self, theta: Tensor) -> None:
        super().__init__()
        self.kernel_size = tuple(theta.shape)
        self.register_buffer("theta", theta, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        h, w = self.theta.shape
        out = torch.zeros_like(x)
        for a in range(h):
            for b in range(w):
                # rolling back by an offset brings x[u + offset] to u
                out = out + self.theta[a, b] * x.roll((h // 2 - a, w // 2 - b), (-2, -1))
        return out


class Generators(nn.Module):
    """Apply every generator: (N, M, h, w) -> (N, Hf * Wf * M, h, w); channel = generator * M + c."""

    out_rep = Scalar()

    def __init__(self, theta: Tensor, names: tuple[str, ...]) -> None:
        super().__init__()
        for name, one in zip(names, theta, strict=True):
            self.add_module(name, Generator(one))

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([generator(x) for generator in self.children()], dim=1)


class WeightedSum(nn.Module):
    """sum_vw alpha_vw C(theta_vw) x, eq. (26), summed over input channels as in eq. (28).

    Shapes: coefficients (outputs, M, Hf, Wf), (N, Hf * Wf * M, h, w) -> (N, outputs, h, w).
    """

    out_rep = Scalar()

    def __init__(self, coefficients: Tensor) -> None:
        super().__init__()
        self.coefficients = nn.Parameter(coefficients)

    def forward(self, responses: Tensor) -> Tensor:
        alpha = self.coefficients  # (j, c, a, b)
        responses = responses.unflatten(1, (alpha.shape[2], alpha.shape[3], alpha.shape[1]))  # (n, a, b, c, u, v)
        return torch.einsum("jcab,nabcuv->njuv", alpha, responses)


class ConvInBasis(nn.Module):
    """A convolution without bias, computed as the sum of its generators' responses.

    Args:
        weight: the filters in the unit-peak basis, as in nn.Conv2d: (outputs, M, Hf, Wf), odd sizes.
        basis: one of BASES.
    Shapes: (N, M, h, w) -> (N, outputs, h, w).
    """

    def __init__(self, weight: Tensor, basis: str) -> None:
        super().__init__()
        self.basis = basis
        h, w = weight.shape[-2:]
        names = COMPASS if (h, w) == (3, 3) else tuple(f"a{a}b{b}" for a in range(h) for b in range(w))
        kind = "peak" if basis == "unit peaks" else "slope"
        named = tuple("mean" if n == "middle" and kind == "slope" else f"{kind}_{n}" for n in names)
        self.generators = Generators(generators(basis, h, w, weight.dtype), named)
        self.weighted_sum = WeightedSum(weight if basis == "unit peaks" else to_derivatives(weight))

    def forward(self, x: Tensor) -> Tensor:
        return self.weighted_sum(self.generators(x))


# Four filters that tell the two bases apart: a blur is the mean alone and an edge has no mean at all.
FILTERS = {
    "local mean": [[1 / 9, 1 / 9, 1 / 9], [1 / 9, 1 / 9, 1 / 9], [1 / 9, 1 / 9, 1 / 9]],
    "vertical edge (Sobel)": [[-0.25, 0.0, 0.25], [-0.5, 0.0, 0.5], [-0.25, 0.0, 0.25]],
    "Laplacian": [[0.0, 0.25, 0.0], [0.25, -1.0, 0.25], [0.0, 0.25, 0.0]],
    "sharpened": [[0.0, -0.5, 0.0], [-0.5, 3.0, -0.5], [0.0, -0.5, 0.0]],
}


def build(basis: float = 0) -> nn.Module:
    """Build four known filters in one of the two bases."""
    weight = torch.tensor(list(FILTERS.values()))[:, None]  # (4, 1, 3, 3)
    return ConvInBasis(weight, BASES[int(basis)])


def matrix(model: nn.Module) -> dict[str, Tensor]:
    """Return the coefficients in both bases (filters x generators) and the change of basis."""
    assert isinstance(model, ConvInBasis)
    own = model.weighted_sum.coefficients.detach()
    alpha, beta = (own, to_derivatives(own)) if model.basis == "unit peaks" else (to_peaks(own), own)
    h, w = own.shape[-2:]
    theta = generators("derivatives and mean", h, w)
    return {
        "α: filters × unit peaks": alpha.flatten(1),
        "β: filters × derivatives (mean in the middle)": beta.flatten(1),
        "α = B β: unit peaks × derivatives": theta.flatten(1).T,
    }


CARD = Card(
    name="conv-bases",
    title="A convolution as a sum of generators",
    rows=("G2",),
    input=InputSpec(),
    groups=("translation",),
    reference=('Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.1, eq. (26)-(28)'),
    equation=(
        "F(x) = Σ_vw α_vw C(θ_vw) x   (26)\n"
        "F(x)_uv = Σ_ab α_ab x_{u+a, v+b}   (27)\n"
        "unit peaks: θ_vw(u) = δ(u − (v, w))\n"
        "derivatives: θ_vw(u) = δ(u) − δ(u − (v, w)),  mean: θ₀(u) = 1 / (Hᶠ Wᶠ)\n"
        "β₀ = Σ α,  β_vw = β₀ / (Hᶠ Wᶠ) − α_vw"
    ),
    summary=(
        "Four filters (a blur, an edge, a Laplacian, a sharpening) as weighted sums of nine generators. "
        "Switch the basis: the generators' responses and the coefficients change, the weighted sum does "
        "not. The blur is the mean alone and the edge has none of it."
    ),
    build=build,
    params=(Param("basis", "Basis", 0, 0, 1, choices=BASES),),
    source=(Generator, WeightedSum, to_derivatives, to_peaks),
    matrix=matrix,
    notes=("Output channels: " + ", ".join(FILTERS),),
)
