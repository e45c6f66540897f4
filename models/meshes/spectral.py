"""Isotropic filters on meshes: by distance alone, by polynomials of the Laplacian, by heat.

    g(L) f = sum over k of theta_k T_k(2 L / lambda - I) f,    L = M^-1/2 (D - W) M^-1/2 with cotangent weights W
    exp(-t L) f                                                the heat kernel, a blob around each vertex

No direction enters, so there is no frame to choose, and nothing that tells a hand's left side from its right.

Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, sections 4.4 and 5.6; Defferrard, Bresson,
Vandergheynst, "Convolutional neural networks on graphs with fast localized spectral filtering", 2016, eq. (4).
"""

from __future__ import annotations

import math
from functools import lru_cache, partial

import numpy as np
import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.spaces.mesh.fields import VERTEX
from explorer.spaces.mesh.network.form import MeshInput
from models.layers.gauge.conv import GaugeConv
from models.layers.graph.chebyshev import series
from models.layers.graph.propagation import Kept, Operator, pattern
from models.training.meshes import PARTS, notes_of, train_parts

CHANNELS, HIDDEN = 16, 12
SPECTRAL = MeshInput(channels=CHANNELS, signals=("x", "edge_index", "cotan", "mass"))
BY_DISTANCE = MeshInput(channels=CHANNELS, signals=("x", "edge_index", "radius", "angle", "transport"))
_operators = Kept(8)


def laplacian(edge_index: Tensor, cotan: Tensor, mass: Tensor) -> tuple[Operator, float]:
    """Return M^-1/2 (D - W) M^-1/2 as an operator on (V, C), and a bound of its eigenvalues (Gershgorin)."""

    def make() -> tuple[Operator, float]:
        source, target = edge_index
        net = pattern(edge_index, len(mass))
        root = mass.rsqrt()
        degree = torch.zeros_like(mass).index_add(0, target, cotan)
        between = -(root[source] * cotan * root[target])
        own = degree * root**2
        reach = own + torch.zeros_like(mass).index_add(0, target, between.abs())
        return Operator(net, between[:, None], own[:, None], between[net.order][None]), float(reach.max())

    return _operators.get((edge_index, cotan, mass), "laplacian", make)


class ChebyshevFilter(nn.Module):
    """sum over k < K of T_k(2 L / lambda - I) f Theta_k + b; (V, C), the Laplacian -> (V, out)."""

    out_field = VERTEX

    def __init__(self, inputs: int, outputs: int, order: int = 6) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(order, inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))
        bound = math.sqrt(6.0 / (order * inputs + outputs))
        nn.init.uniform_(self.weight, -bound, bound)

    def forward(self, x: Tensor, edge_index: Tensor, cotan: Tensor, mass: Tensor) -> Tensor:
        operator, bound = laplacian(edge_index, cotan, mass)
        out = self.bias + x @ self.weight[0]
        before, now = x, x
        for k in range(1, len(self.weight)):
            before, now = now, chebyshev_step(operator, bound, k, before, now)
            out = out + now @ self.weight[k]
        return out


def chebyshev_step(operator: Operator, bound: float, k: int, before: Tensor, now: Tensor) -> Tensor:
    """Return T_k(2 L / bound - 1) x of the two before it: T_1 = y T_0, then T_k = 2 y T_(k-1) - T_(k-2)."""
    if k == 1:
        return operator(now) * (2.0 / bound) - now
    twice = torch.sub(operator(now) * (4.0 / bound), now, alpha=2)
    return twice - before


class HeatFilter(nn.Module):
    """exp(-t L) f at several times side by side; (V, C), the Laplacian -> (V, C * times).

    A Chebyshev expansion: exp(-t L) has coefficients 2 (-1)^k e^{-s} I_k(s), s = t lambda / 2, the first one halved.
    Times are in units of the mean mass, a vertex's own area, so that the mesh's size does not matter.
    """

    out_field = VERTEX

    def __init__(self, times: tuple[float, ...] = (1.0, 4.0, 16.0)) -> None:
        super().__init__()
        self.times = times

    def forward(self, x: Tensor, edge_index: Tensor, cotan: Tensor, mass: Tensor) -> Tensor:
        operator, bound = laplacian(edge_index, cotan, mass)
        unit = float(mass.detach().mean()) * bound / 2
        coefficients = [heat_coefficients(t * unit, torch.finfo(x.dtype).eps) for t in self.times]
        return series(operator, 2.0 / bound, tuple(coefficients), x)


@lru_cache(64)
def heat_coefficients(s: float, smallest: float) -> tuple[float, ...]:
    """Return the coefficients of exp(-s (1 + y)) in the T_k(y), as many as leave less than `smallest` to the others.

    They fall as exp(-k^2 / 2s), and faster where s is small.
    """
    from scipy.special import ive

    k = np.arange(int(9 * math.sqrt(s)) + 40)
    sizes = np.where(k == 0, 1.0, 2.0) * ive(k, s)
    left = np.cumsum(sizes[::-1])[::-1]
    count = max(1, int((left >= smallest).sum()))
    return tuple(((-1.0) ** k * sizes)[:count].tolist())


class ChebyshevCNN(nn.Module):
    """Two Chebyshev filters and a linear map; (V, 16), cotangent weights, mass -> (V, parts)."""

    def __init__(self, order: int = 6, hidden: int = HIDDEN) -> None:
        super().__init__()
        self.filter1 = ChebyshevFilter(CHANNELS, hidden, order)
        self.relu1 = nn.ReLU()
        self.filter2 = ChebyshevFilter(hidden, hidden, order)
        self.relu2 = nn.ReLU()
        self.classify = nn.Linear(hidden, len(PARTS))

    def forward(self, x: Tensor, edge_index: Tensor, cotan: Tensor, mass: Tensor) -> Tensor:
        surface = (edge_index, cotan, mass)
        x = self.relu1(self.filter1(x, *surface))
        x = self.relu2(self.filter2(x, *surface))
        out: Tensor = self.classify(x)
        return out


class HeatCNN(nn.Module):
    """Heat kernels of three times, mixed at each vertex, twice; (V, 16), cotangent weights, mass -> (V, parts)."""

    def __init__(self, hidden: int = HIDDEN) -> None:
        super().__init__()
        self.heat1 = HeatFilter()
        self.mix1 = nn.Linear(4 * CHANNELS, hidden)
        self.relu1 = nn.ReLU()
        self.heat2 = HeatFilter()
        self.mix2 = nn.Linear(4 * hidden, hidden)
        self.relu2 = nn.ReLU()
        self.classify = nn.Linear(hidden, len(PARTS))

    def forward(self, x: Tensor, edge_index: Tensor, cotan: Tensor, mass: Tensor) -> Tensor:
        surface = (edge_index, cotan, mass)
        x = self.relu1(self.mix1(torch.cat([x, self.heat1(x, *surface)], 1)))
        x = self.relu2(self.mix2(torch.cat([x, self.heat2(x, *surface)], 1)))
        out: Tensor = self.classify(x)
        return out


class IsotropicCNN(nn.Module):
    """The gauge-equivariant network with scalars alone: kernels of distance; (V, 16), the connection -> (V, parts)."""

    def __init__(self, rings: int = 2, hidden: int = HIDDEN) -> None:
        super().__init__()
        self.conv1 = GaugeConv(CHANNELS, hidden, (0,), (0,), rings)
        self.relu1 = nn.ReLU()
        self.conv2 = GaugeConv(hidden, hidden, (0,), (0,), rings)
        self.relu2 = nn.ReLU()
        self.classify = nn.Linear(hidden, len(PARTS))

    def forward(self, x: Tensor, edge_index: Tensor, radius: Tensor, angle: Tensor, transport: Tensor) -> Tensor:
        connection = (edge_index, radius, angle, transport)
        x = self.relu1(self.conv1(x, *connection))
        x = self.relu2(self.conv2(x, *connection))
        out: Tensor = self.classify(x)
        return out


_BRONSTEIN = 'Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.6'
_LAWS = ("gauge", "permutation", "E3")
CARD = (
    Card(
        name="mesh-isotropic",
        title="Isotropic convolution",
        rows=("M2",),
        groups=_LAWS,
        reference=_BRONSTEIN,
        equation="f′ᵢ = W₀ fᵢ + 1/|Nᵢ| Σⱼ W(rᵢⱼ) fⱼ",
        summary=(
            "Kernels depend on distance alone, so any frame gives the same answer, and a mirror image too. What it "
            "cannot see is direction: compare its answer at hands and feet with the gauge-equivariant network's."
        ),
        build=IsotropicCNN,
        input=BY_DISTANCE,
        domain="mesh",
        weights="mesh-isotropic.safetensors",
        notes=notes_of("mesh-isotropic"),
        labels=PARTS,
        sample="body",
        train=partial(train_parts, IsotropicCNN, BY_DISTANCE),
        source=(IsotropicCNN, GaugeConv),
    ),
    Card(
        name="mesh-chebnet",
        title="Polynomials of the cotangent Laplacian",
        rows=("M2",),
        groups=_LAWS,
        reference=_BRONSTEIN + '; Defferrard, Bresson, Vandergheynst, "ChebNet", 2016, eq. (4)',
        equation="f′ = Σₖ Tₖ(2L/λ − I) f Θₖ + b\nL = M^−½ (D − W) M^−½,  w_ij = ½ (cot α + cot β)",
        summary=(
            "A filter is a polynomial of the Laplacian, and looks as many edges far as its degree. Bend the body: what "
            "is made of lengths alone hardly changes. Remesh it: the cotangent weights follow the triangles."
        ),
        build=ChebyshevCNN,
        input=SPECTRAL,
        domain="mesh",
        weights="mesh-chebnet.safetensors",
        notes=notes_of("mesh-chebnet"),
        labels=PARTS,
        sample="body",
        train=partial(train_parts, ChebyshevCNN, SPECTRAL),
        source=(ChebyshevFilter, laplacian),
    ),
    Card(
        name="mesh-heat",
        title="Heat kernels",
        rows=("M2",),
        groups=_LAWS,
        reference=_BRONSTEIN + '; Sharp, Attaiki, Crane, Ovsjanikov, "DiffusionNet", 2022, eq. (2)',
        equation="f ↦ (f, e^{−t₁L} f, e^{−t₂L} f, e^{−t₃L} f),  f′ = σ(W f + b)",
        summary=(
            "Values spread over the surface as heat does, for three lengths of time, and are mixed at each vertex. "
            "Heat has no direction: its kernel is the same all around, however the frames are turned."
        ),
        build=HeatCNN,
        input=SPECTRAL,
        domain="mesh",
        weights="mesh-heat.safetensors",
        notes=notes_of("mesh-heat"),
        labels=PARTS,
        sample="body",
        train=partial(train_parts, HeatCNN, SPECTRAL),
        source=(HeatFilter, HeatCNN),
    ),
)
