"""Two networks on meshes that look gauge equivariant and are not, beside the one that is: exercises in finding a fault.

Each is two gauge-equivariant convolutions of "Geometric Deep Learning" (Bronstein, Bruna, Cohen, Veličković, 2021,
section 5.6, eq. 37) with gates by norms, and a linear map of scalars. Each faulty network has the weights of the
control, and one layer that takes the numbers of a vector for the vector.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.types.fields import FieldType
from explorer.spaces.mesh.fields import Tangent, Vertices
from explorer.spaces.mesh.network.form import MeshInput
from models.layers.gauge.conv import GaugeConv
from models.layers.gauge.nonlinear import NormGate
from models.layers.seeded import seeded

CHANNELS, HIDDEN, CLASSES = 6, 8, 4
ORDERS = (0, 1)
INPUT = MeshInput(channels=CHANNELS, signals=("x", "edge_index", "radius", "angle", "transport"))
FAULTS = {"fault-transport": "conv2", "fault-bias": "shift"}


class WithoutTransport(GaugeConv):
    """The convolution that adds its neighbours' numbers up as they are, as if all frames pointed one way."""

    def forward(self, x: Tensor, edge_index: Tensor, radius: Tensor, angle: Tensor, transport: Tensor) -> Tensor:
        return super().forward(x, edge_index, radius, angle, torch.zeros_like(transport))


class Shift(nn.Module):
    """Add a bias to the features of order 0, which all frames agree on; (V, C * 3) -> the same."""

    out_field = FieldType(Vertices(), Tangent(ORDERS))

    def __init__(self, bias: tuple[float, float, float] = (0.3, 0.0, 0.0)) -> None:
        super().__init__()
        self.bias = bias

    def forward(self, x: Tensor) -> Tensor:
        return x + x.new_tensor(self.bias).repeat(x.shape[1] // len(self.bias))


class VectorShift(Shift):
    """Add a bias to the vectors too: an arrow along X_i at every vertex, wherever X_i points."""

    def __init__(self) -> None:
        super().__init__((0.3, 0.3, 0.0))


class MeshClassifier(nn.Module):
    """Two convolutions with gates and a linear map of scalars; (V, 6), the connection -> (V, 4).

    `conv2` and `shift` are the layers of which a faulty network has another one.
    """

    def __init__(self, convolution: type[GaugeConv] = GaugeConv, shift: type[Shift] = Shift) -> None:
        super().__init__()
        self.conv1 = GaugeConv(CHANNELS, HIDDEN, (0,), ORDERS)
        self.act1 = NormGate(HIDDEN, ORDERS)
        self.shift = shift()
        self.conv2 = convolution(HIDDEN, HIDDEN, ORDERS, ORDERS)
        self.act2 = NormGate(HIDDEN, ORDERS)
        self.conv3 = GaugeConv(HIDDEN, CLASSES, ORDERS, (0,))

    def forward(self, x: Tensor, edge_index: Tensor, radius: Tensor, angle: Tensor, transport: Tensor) -> Tensor:
        connection = (edge_index, radius, angle, transport)
        x = self.shift(self.act1(self.conv1(x, *connection)))
        x = self.act2(self.conv2(x, *connection))
        out: Tensor = self.conv3(x, *connection)
        return out


def build() -> MeshClassifier:
    """Build the network without a fault."""
    return seeded(MeshClassifier)


def build_without_transport() -> MeshClassifier:
    """Build it with a second convolution that does not carry vectors."""
    return seeded(lambda: MeshClassifier(convolution=WithoutTransport))


def build_with_vector_bias() -> MeshClassifier:
    """Build it with a bias on vectors."""
    return seeded(lambda: MeshClassifier(shift=VectorShift))


def _card(
    name: str, title: str, equation: str, summary: str, build: Callable[[], nn.Module], layer: type[nn.Module]
) -> Card:
    fault = FAULTS.get(name)
    return Card(
        name=name,
        title=title,
        rows=("M5",),
        groups=() if fault else ("gauge", "permutation", "SE3"),
        domain="mesh",
        reference=(
            'Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.6, eq. (37)'
            + (", with a planted fault" if fault else "")
        ),
        equation=equation,
        summary=summary,
        build=build,
        input=INPUT,
        sample="bumpy-sphere",
        source=(layer, MeshClassifier),
        notes=(f"planted fault: layer {fault}",) if fault else (),
    )


CARD = (
    _card(
        "symmetric-mesh-net",
        "Mesh network without a fault",
        "f′ᵢ = K_self fᵢ + 1/|Nᵢ| Σⱼ K(θᵢⱼ) ρ(g_{j→i}) fⱼ, three times\nσ(f) = sigmoid(w |f| + b) f,  then f₀ + c",
        "Vectors are carried before they are added, gates look at lengths, a bias is added to scalars alone: turn the "
        "frames, and every layer follows. The control for the two networks with a planted fault.",
        build,
        GaugeConv,
    ),
    _card(
        "fault-transport",
        "Planted fault: vectors that are not carried",
        "f′ᵢ = K_self fᵢ + 1/|Nᵢ| Σⱼ K(θᵢⱼ) fⱼ",
        "One convolution adds the numbers of its neighbours' vectors up as if all frames pointed one way. Its local "
        "error names it; with scalars alone nothing would be wrong.",
        build_without_transport,
        WithoutTransport,
    ),
    _card(
        "fault-bias",
        "Planted fault: a bias on vectors",
        "f′ᵢ = fᵢ + (c₀, c₁, 0)",
        "One layer adds a constant to the coordinates of vectors: an arrow that turns with its frame. A vector that is "
        "the same in every frame is zero, so a bias belongs to scalars alone.",
        build_with_vector_bias,
        VectorShift,
    ),
)
