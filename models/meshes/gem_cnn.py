"""Gauge-equivariant mesh CNN: messages carried along the surface, kernels of direction, any frames.

    f'_i = K_self f_i + mean over neighbours j of  K(theta_ij) rho(g_{j -> i}) f_j        (eq. 37)

Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.6, eqs. (36) and (37); de Haan, Weiler,
Cohen, Welling, "Gauge Equivariant Mesh CNNs: Anisotropic convolutions on geometric graphs", 2021.
"""

from __future__ import annotations

from functools import partial

from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.spaces.mesh.fields import VERTEX
from explorer.spaces.mesh.network.form import MeshInput
from models.layers.gauge.conv import GaugeConv
from models.layers.gauge.nonlinear import NormGate, RegularReLU
from models.training.meshes import PARTS, notes_of, train_parts

CHANNELS, HIDDEN = 16, 12
ORDERS = (0, 1, 2)
INPUT = MeshInput(channels=CHANNELS, signals=("x", "edge_index", "radius", "angle", "transport"))


class GaugeEquivariantCNN(nn.Module):
    """Three gauge-equivariant convolutions and a linear map of scalars; (V, 16), the connection -> (V, parts).

    Args:
        orders: of the hidden features: 0 are scalars, 1 tangent vectors, 2 line fields.
        samples: directions of the regular non-linearity, or 0 for the one by norms.
    """

    def __init__(self, orders: tuple[int, ...] = ORDERS, samples: int = 0, hidden: int = HIDDEN) -> None:
        super().__init__()

        def nonlinear() -> nn.Module:
            return RegularReLU(orders, samples) if samples else NormGate(hidden, orders)

        self.conv1 = GaugeConv(CHANNELS, hidden, (0,), orders)
        self.act1 = nonlinear()
        self.conv2 = GaugeConv(hidden, hidden, orders, orders)
        self.act2 = nonlinear()
        self.conv3 = GaugeConv(hidden, 2 * hidden, orders, (0,))
        self.scalars = Scalars()
        self.classify = nn.Linear(2 * hidden, len(PARTS))

    def forward(self, x: Tensor, edge_index: Tensor, radius: Tensor, angle: Tensor, transport: Tensor) -> Tensor:
        connection = (edge_index, radius, angle, transport)
        x = self.act1(self.conv1(x, *connection))
        x = self.act2(self.conv2(x, *connection))
        out: Tensor = self.classify(self.scalars(self.conv3(x, *connection)))
        return out


class Scalars(nn.Module):
    """ReLU of features that no frame changes; (V, C) -> the same."""

    out_field = VERTEX

    def forward(self, x: Tensor) -> Tensor:
        return x.relu()


def _orders(highest: float) -> tuple[int, ...]:
    return tuple(range(int(highest) + 1))


def build(order: float = 1.0, samples: float = 0.0) -> nn.Module:
    return GaugeEquivariantCNN(_orders(order), int(samples))


def build_regular(order: float = 2.0, samples: float = 7.0) -> nn.Module:
    return GaugeEquivariantCNN(_orders(order), int(samples))


EQUATION = (
    "f′ᵢ = K_self fᵢ + 1/|Nᵢ| Σⱼ K(θᵢⱼ) ρ(g_{j→i}) fⱼ\n"
    "K(θ − φ) = ρ′(−φ) K(θ) ρ(φ)  for every φ\n"
    "K(θ) = ρ′(θ) K(0) ρ(−θ)"
)
REFERENCE = (
    'Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.6, eq. (37); '
    'de Haan, Weiler, Cohen, Welling, "Gauge Equivariant Mesh CNNs", 2021'
)

CARD = (
    Card(
        name="gem-cnn",
        title="Gauge-equivariant mesh CNN",
        rows=("M5",),
        groups=("gauge", "permutation", "SE3"),
        reference=REFERENCE,
        equation=EQUATION + "\nσ(f) = sigmoid(w |f| + b) f",
        summary=(
            "Features are scalars and tangent vectors (of higher orders too, if you like), carried from vertex to "
            "vertex by parallel transport. Turn one frame or all of them: the arrows stay where they are and only "
            "their numbers change."
        ),
        build=build,
        input=INPUT,
        domain="mesh",
        weights="gem-cnn.safetensors",
        labels=PARTS,
        params=(Param("order", "Highest order", 1.0, 1.0, 4.0, whole=True),),
        notes=notes_of("gem-cnn"),
        sample="body",
        train=partial(train_parts, build, INPUT),
        source=(GaugeConv, NormGate, GaugeEquivariantCNN),
    ),
    Card(
        name="gem-cnn-regular",
        title="Gauge-equivariant mesh CNN, regular non-linearity",
        rows=("M5",),
        groups=("gauge-C7", "permutation", "SE3"),
        reference=REFERENCE + ", section 4",
        equation=EQUATION + "\ns(a) = f₀ + Σₘ fₘ·(cos ma, sin ma),  σ: ReLU of s at N directions",
        summary=(
            "ReLU is taken at seven directions around each vertex. Gauges turned by sevenths of a circle commute "
            "exactly; any other angle by as much as seven samples can say, and more samples leave less."
        ),
        build=build_regular,
        input=INPUT,
        domain="mesh",
        weights="gem-cnn-regular.safetensors",
        labels=PARTS,
        notes=notes_of("gem-cnn-regular"),
        params=(
            Param("order", "Highest order", 2.0, 1.0, 4.0, whole=True),
            Param("samples", "Directions", 7.0, 5.0, 64.0, whole=True),
        ),
        sample="body",
        train=partial(train_parts, build_regular, INPUT),
        source=(GaugeConv, RegularReLU, GaugeEquivariantCNN),
    ),
)
