"""Spherical CNN in the Fourier domain: S² -> SO(3) -> SO(3), products of matrices degree by degree.

Reference: T. Cohen, M. Geiger, J. Köhler, M. Welling, "Spherical CNNs" (2018), section 4; M. Bronstein, J. Bruna,
T. Cohen, P. Veličković, "Geometric Deep Learning" (2021), section 5.2.

The nonlinearity is evaluated on rotations and expanded again. A polynomial of degree two has twice the band limit,
which the quadrature integrates exactly: the law holds to rounding. A ReLU has no band limit, so that its law holds as
far as the grid reaches.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.types.fields import INVARIANT
from explorer.spaces.sphere.fields import Coefficients, rotation
from explorer.spaces.sphere.harmonics import rotation_grid
from explorer.spaces.sphere.network.form import SphereInput
from explorer.spaces.sphere.samples.solids import NAMES
from models.layers.seeded import seeded
from models.training.spheres import measured, train

DEGREE_IN, DEGREE = 6, 4
OUTPUTS = len(NAMES)
HIDDEN = 32  # of the dense network, which has about as many parameters
TURNING, DENSE = (1.0, 1.0), (1.0, 0.295)  # shares of the shipped weights: upright, turned by any rotation


class SphereToRotations(nn.Module):
    """Correlate with filters on the sphere: y(R) = ∫ x(p) ψ(R⁻¹p) dp, so that Y^l_mn = Σ_c x^l_m ψ^l_n.

    Shapes:
        weight: (O, I, (L + 1)²); input (N, I, (L_in + 1)²), output (N, O, Σ (2 l + 1)²), degrees up to L <= L_in.
    """

    def __init__(self, channels: int, out: int, degree: int) -> None:
        super().__init__()
        self.degree, self.out_field = degree, rotation(degree)
        self.weight = nn.Parameter(torch.randn(out, channels, (degree + 1) ** 2) * channels**-0.5)

    def forward(self, x: Tensor) -> Tensor:
        parts = []
        for k in range(self.degree + 1):
            block = slice(k**2, (k + 1) ** 2)
            made = torch.einsum("ncm,ocp->nomp", x[..., block], self.weight[..., block])
            parts.append(made.flatten(-2) * (2 * k + 1) ** -0.5)
        return torch.cat(parts, -1)


class RotationConv(nn.Module):
    """Correlate with filters on SO(3): y(R) = ∫ f(Q) ψ(R⁻¹Q) dQ, so that Y^l = Σ_c F^l Ψ^l, a product of matrices.

    Shapes:
        weight: (O, I, Σ (2 l + 1)²); input and output (N, I or O, Σ (2 l + 1)²).
    """

    def __init__(self, channels: int, out: int, degree: int) -> None:
        super().__init__()
        self.domain, self.out_field = Coefficients(degree, True), rotation(degree)
        self.weight = nn.Parameter(torch.randn(out, channels, self.domain.count) * channels**-0.5)

    def forward(self, x: Tensor) -> Tensor:
        pairs = zip(self.domain.blocks(x), self.domain.blocks(self.weight), strict=True)
        made = [torch.einsum("ncmp,ocpq->nomq", f, w) * f.shape[-1] ** -0.5 for f, w in pairs]
        return torch.cat([block.flatten(-2) for block in made], -1)


class ReluOnRotations(nn.Module):
    """Apply a ReLU to f(R) at every rotation of a grid, and expand what it gives up to the same degree.

    Args:
        whole: up to which degree sums over the grid are integrals: 3 times that of f for a polynomial of degree two.
    Shapes: (N, C, Σ (2 l + 1)²) -> the same.
    """

    def __init__(self, degree: int, whole: int) -> None:
        super().__init__()
        self.out_field, self.domain, self.whole = rotation(degree), Coefficients(degree, True), whole

    def forward(self, x: Tensor) -> Tensor:
        there, back = self.tables(x)
        return self.function(x @ there.T) @ back  # by way of (N, C, rotations)

    def function(self, f: Tensor) -> Tensor:
        return f.relu()

    def tables(self, like: Tensor) -> tuple[Tensor, Tensor]:
        """Return what leads from coefficients to rotations and back, (rotations, coefficients) each."""
        # no buffers: what is kept in float32 would not come back in float64
        basis, weights = rotation_grid(self.domain.degree, self.whole)
        sizes = torch.cat([torch.full(((2 * k + 1) ** 2,), 2.0 * k + 1) for k in range(self.domain.degree + 1)])
        return basis.to(like), (basis * weights[:, None] * sizes).to(like)


class QuadraticOnRotations(ReluOnRotations):
    """f + f² / 2 in place of the ReLU: f times 1 + f / 2, whose degrees couple as Clebsch and Gordan say."""

    coupled_with = "degree of 1 + f/2"  # in its paths

    def function(self, f: Tensor) -> Tensor:
        return f + 0.5 * f.square()

    def by_path(self, x: Tensor) -> Iterator[tuple[str, int, Tensor]]:
        """Yield for each pair of degrees, of f and of 1 + f / 2, and each one that they give: its name, 0, what it is.

        (N, C, Σ (2 l + 1)²) each, zero at other degrees. All of them add up to what the layer gives.
        """
        there, back = self.tables(x)
        pairs = zip(self.domain.blocks(x), self.domain.blocks(there), strict=True)
        degree = torch.cat([torch.full((self.domain.width(k),), k) for k in range(self.domain.degree + 1)]).to(x.device)
        parts = [values.flatten(-2) @ basis.flatten(-2).T for values, basis in pairs]  # f of each degree, at rotations
        for j, other in enumerate(parts):
            second = 0.5 * other + (1.0 if j == 0 else 0.0)
            for i, first in enumerate(parts):
                made = (first * second) @ back
                for k in range(abs(i - j), min(i + j, self.domain.degree) + 1):
                    yield f"{i}_x_{j}_to_{k}", 0, torch.where(degree == k, made, torch.zeros_like(made))


class Powers(nn.Module):
    """Keep the power of each degree, which no rotation changes; (N, C, Σ (2 l + 1)²) -> (N, C * (L + 1))."""

    out_field = INVARIANT

    def __init__(self, degree: int) -> None:
        super().__init__()
        self.domain = Coefficients(degree, True)

    def forward(self, x: Tensor) -> Tensor:
        blocks = self.domain.blocks(x)
        return torch.stack([b.square().mean((-2, -1)) for b in blocks], -1).flatten(1)


class Shift(nn.Module):
    """Add a bias to the coefficients: to that of degree 0, a constant, or to all of them, which is a fault."""

    def __init__(self, channels: int, degree: int, all_degrees: bool) -> None:
        super().__init__()
        self.out_field = rotation(degree)
        count = Coefficients(degree, True).count
        self.bias = nn.Parameter(0.3 * torch.randn(channels, count if all_degrees else 1))
        self.count = count

    def forward(self, x: Tensor) -> Tensor:
        return x + nn.functional.pad(self.bias, (0, self.count - self.bias.shape[1]))


class SphericalCNN(nn.Module):
    """Lift to SO(3), then a convolution there, with a nonlinearity after each, and the power of each degree."""

    def __init__(self, polynomial: bool = True, whole: int = 3 * DEGREE, faulty: bool = False) -> None:
        super().__init__()
        self.lift = SphereToRotations(1, 4, DEGREE)
        act = QuadraticOnRotations if polynomial else ReluOnRotations
        self.act1 = act(DEGREE, whole)
        self.conv2 = RotationConv(4, 4, DEGREE)
        self.shift = Shift(4, DEGREE, faulty)
        self.act2 = act(DEGREE, whole)
        self.powers = Powers(DEGREE)
        self.head = nn.Linear(4 * (DEGREE + 1), OUTPUTS)

    def forward(self, x: Tensor) -> Tensor:
        """Return four scores, (N, 1, 49) -> (N, 4)."""
        x = self.act1(self.lift(x))  # (N, 4, 165)
        x = self.act2(self.shift(self.conv2(x)))
        return self.head(self.powers(x))


class DenseOnSphere(nn.Module):
    """Two dense layers on the coefficients, which know nothing of rotations: (N, 1, 49) -> (N, 4)."""

    def __init__(self) -> None:
        super().__init__()
        self.flat = nn.Flatten()
        self.dense1 = nn.Linear((DEGREE_IN + 1) ** 2, HIDDEN)
        self.relu1 = nn.ReLU()
        self.dense2 = nn.Linear(HIDDEN, HIDDEN)
        self.relu2 = nn.ReLU()
        self.head = nn.Linear(HIDDEN, OUTPUTS)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.relu2(self.dense2(self.relu1(self.dense1(self.flat(x))))))


REFERENCE = (
    'Cohen, Geiger, Köhler, Welling, "Spherical CNNs", 2018, section 4; '
    'Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.2'
)
EQUATION = (
    "S² → SO(3):   Y^l_mn = x^l_m ψ^l_n\n"
    "SO(3) → SO(3):   Y^l = F^l Ψ^l\n"
    "(ρ(g)x)^l = D^l(g) x^l,   (ρ(g)F)^l = D^l(g) F^l\n"
)

_card = partial(
    Card,
    rows=("G10",),
    reference=REFERENCE,
    input=SphereInput(1, DEGREE_IN),
    sample="globe",
    source=(SphereToRotations, RotationConv, QuadraticOnRotations, Powers, SphericalCNN),
)

CARD = (
    _card(
        name="sphere-cnn",
        title="Spherical CNN, exact to its band limit",
        groups=("sphere-SO3",),
        equation=EQUATION + "σ(f) = f + f²/2 on a grid that is exact up to degree 12 = 3 · 4",
        summary=(
            "Turn the globe by any angle: coefficients mix within each degree, the spectrum stands still, and every "
            "layer follows to rounding. The nonlinearity is a polynomial: its band limit is known and integrated."
        ),
        build=lambda: seeded(SphericalCNN),
    ),
    _card(
        name="sphere-cnn-relu",
        title="Spherical CNN with ReLU on a grid",
        equation=EQUATION + "σ(f) = max(0, f) on a grid of degree 12: no band limit",
        summary=(
            "The same network with a ReLU. What it gives has no band limit, and a grid of rotations sees it in part: "
            "`act1` and `act2` break the law by a few per cent, and everything between them holds."
        ),
        build=lambda: seeded(lambda: SphericalCNN(polynomial=False)),
    ),
    _card(
        name="fault-degree-bias",
        title="Fault: a bias on every degree",
        equation=EQUATION + "a constant has degree 0 alone",
        summary="A bias on every degree points somewhere, and a turned globe finds it where it was. In which layer?",
        build=lambda: seeded(lambda: SphericalCNN(faulty=True)),
        notes=("planted fault: layer shift",),
    ),
    _card(
        name="sphere-solids",
        title="Solids seen from within, by a spherical CNN",
        groups=("sphere-SO3",),
        sample="solid-cube",
        labels=NAMES,
        equation=EQUATION + "F(ρ(g)x) = F(x)   for every rotation g",
        summary=(
            "Trained on upright solids alone, it names them in every position as surely. Put it beside "
            "`sphere-solids-dense` and turn the solid."
        ),
        build=SphericalCNN,
        weights="sphere-solids.safetensors",
        train=partial(train, SphericalCNN),
        notes=measured(TURNING),
    ),
    _card(
        name="sphere-solids-dense",
        title="Solids seen from within, by dense layers",
        sample="solid-cube",
        labels=NAMES,
        equation="h = σ(W x + b), twice, of all coefficients x",
        summary=(
            "It has seen upright solids alone, and coefficients that are mixed are others to it. Read *Output* as you "
            "turn the solid."
        ),
        build=DenseOnSphere,
        weights="sphere-solids-dense.safetensors",
        train=partial(train, DenseOnSphere),
        notes=measured(DENSE),
        source=(DenseOnSphere,),
    ),
)
