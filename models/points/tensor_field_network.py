"""Tensor field network: scalars, vectors and values of degree 2 at points, coupled along all paths that there are.

Thomas, Smidt, Kearnes, Yang, Li, Kohlhoff, Riley, "Tensor Field Networks", 2018, section 4, with the gate of Weiler et
al., "3D Steerable CNNs", 2018, and parity as in Geiger, Smidt, "e3nn", 2022:

    m_ij^l = sum over l1, l2 of R(|r_ij|) C(Y_l2(r_ij), h_j^l1)_l
    h_i <- gate(W h_i + W' sum_j m_ij)
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.spaces.graph.fields import EDGE, Edges
from explorer.spaces.points.fields import irreps, particle, whole
from explorer.spaces.points.network.form import PointsInput
from models.layers.points.geometry import BesselBasis, Lengths, Ways, summed
from models.layers.points.irreps import Gate, Harmonics, Mix, PathProduct

REACH, BASIS, INPUTS = 4.0, 8, 8
HEARD = 4.0  # neighbours of an atom, as many as are taken for usual
HIDDEN = {1: "8x0e+8x1o", 2: "8x0e+8x1o+4x2e", 3: "8x0e+8x1o+4x2e+2x3o"}


class Radial(nn.Module):
    """R(|r|): a weight for each path and channel, from the radial basis: (E, K) -> (E, paths · channels)."""

    out_field = EDGE

    def __init__(self, basis: int, weights: int) -> None:
        super().__init__()
        # without a bias: it ends where the basis does
        self.network = nn.Sequential(nn.Linear(basis, 32, bias=False), nn.SiLU(), nn.Linear(32, weights, bias=False))

    def forward(self, basis: Tensor) -> Tensor:
        return self.network(basis)


class Source(nn.Module):
    """h_j on the edge j -> i: (N, C), (2, E) -> (E, C)."""

    def __init__(self, values: str) -> None:
        super().__init__()
        self.out_field = particle(values)
        self.out_field = type(self.out_field)(Edges(), self.out_field.rep)

    def forward(self, h: Tensor, edge_index: Tensor) -> Tensor:
        return h[edge_index[0]]


class Heard(nn.Module):
    """sum_j m_ij: (E, C), (2, E), h (N, ...) -> (N, C); of h the number of points alone is taken."""

    def __init__(self, values: str) -> None:
        super().__init__()
        self.out_field = particle(values)

    def forward(self, messages: Tensor, edge_index: Tensor, h: Tensor) -> Tensor:
        return summed(messages, edge_index, len(h)) / math.sqrt(HEARD)


class Convolution(nn.Module):
    """gate(W h_i + W' sum_j m_ij): values `inputs` (N, C), harmonics, radial basis, edge_index -> values `outputs`."""

    def __init__(self, inputs: str, outputs: str, degree: int) -> None:
        super().__init__()
        most = max(k for _, k, _ in irreps(outputs).terms)
        self.source = Source(inputs)
        self.product = PathProduct(inputs, degree, most)
        self.radial = Radial(BASIS, self.product.weights)
        self.heard = Heard(self.product.outputs)
        self.gate = Gate(outputs)
        self.itself = Mix(inputs, self.gate.needed, bias=True)
        self.mixed = Mix(self.product.outputs, self.gate.needed)
        self.out_field = particle(outputs)

    def forward(self, h: Tensor, harmonics: Tensor, basis: Tensor, edge_index: Tensor) -> Tensor:
        messages = self.product(self.source(h, edge_index), harmonics, self.radial(basis))
        return self.gate(self.itself(h) + self.mixed(self.heard(messages, edge_index, h)))


class Total(nn.Module):
    """The sum over all points: values (N, C) -> (1, C), of the same degrees."""

    def __init__(self, values: str) -> None:
        super().__init__()
        self.out_field = whole(values)

    def forward(self, h: Tensor) -> Tensor:
        return h.sum(0, keepdim=True)


class TensorFieldNetwork(nn.Module):
    """Layers of convolutions; a scalar and a vector of the whole: x (N, 8), position, edge_index -> (1, 4)."""

    def __init__(self, layers: int = 2, degree: int = 2, activation: type[Gate] = Gate) -> None:
        super().__init__()
        self.ways = Ways()
        self.lengths = Lengths()
        self.harmonics = Harmonics(degree)
        self.basis = BesselBasis(REACH, BASIS)
        inputs = f"{INPUTS}x0e"
        self.count = layers
        for k in range(layers):
            self.add_module(f"layer{k + 1}", Convolution(inputs, HIDDEN[degree], degree))
            inputs = HIDDEN[degree]
        self.head = Mix(inputs, "1x0e+1x1o")
        self.total = Total("1x0e+1x1o")

    def forward(self, x: Tensor, position: Tensor, edge_index: Tensor) -> Tensor:
        ways = self.ways(position, edge_index)
        harmonics, basis = self.harmonics(ways), self.basis(self.lengths(ways))
        for k in range(self.count):
            x = self.get_submodule(f"layer{k + 1}")(x, harmonics, basis, edge_index)
        return self.total(self.head(x))


class BrokenGate(Gate):
    """A gate that forgets what its numbers are: each component of a vector goes through a ReLU by itself."""

    def forward(self, values: Tensor) -> Tensor:
        return torch.relu(super().forward(values))


def build(layers: float = 2, degree: float = 2) -> TensorFieldNetwork:
    """Build the network with values up to a degree."""
    return TensorFieldNetwork(int(layers), int(degree))


def build_broken(layers: float = 2, degree: float = 2) -> TensorFieldNetwork:
    """Build the network with a fault in its first layer: components of vectors are cut off one by one."""
    network = build(layers, degree)
    first = network.get_submodule("layer1")
    assert isinstance(first, Convolution)
    first.gate = BrokenGate(HIDDEN[int(degree)])
    return network


EQUATION = "mᵢⱼˡ = Σ_{l₁,l₂} R(|rᵢⱼ|) C(Y_{l₂}(rᵢⱼ), hⱼ^{l₁})ˡ\nhᵢ ← gate(W hᵢ + W′ Σⱼ mᵢⱼ)\nh(Rx + t) = D(R) h(x)"
REFERENCE = (
    'Thomas, Smidt, Kearnes, Yang, Li, Kohlhoff, Riley, "Tensor Field Networks", 2018, section 4; '
    'Geiger, Smidt, "e3nn", 2022'
)
INPUT = PointsInput(channels=INPUTS, edges="near", reach=REACH, most=2000)
PARAMS = (
    Param("layers", "Layers", 2, 1, 4, whole=True),
    Param("degree", "Highest degree", 2, 1, 3, whole=True),
)
CARD = (
    Card(
        name="tensor-field-network",
        title="Tensor field network: values of each degree",
        rows=("E2",),
        groups=("E3", "permutation"),
        reference=REFERENCE,
        equation=EQUATION,
        summary=(
            "Atoms carry scalars, vectors and values of degree 2. Turn the molecule: scalars stay, vectors turn, "
            "and degree 2 is drawn as a surface that turns with its atom. Each `product.paths` is one way to couple "
            "the direction of a neighbour (right of the x) with what it carries (left): compare their sizes in Layers. "
            "The parameters are not trained."
        ),
        build=build,
        input=INPUT,
        domain="points",
        sample="ethanol-3d",
        params=PARAMS,
        source=(Harmonics, PathProduct, Gate, Convolution, TensorFieldNetwork),
    ),
    Card(
        name="fault-tensor-field",
        title="Tensor field network, with a planted fault",
        rows=("E2",),
        reference=REFERENCE + "; the fault is ours",
        equation=EQUATION,
        summary=(
            "It looks like the tensor field network and is none: renumber the atoms and all is well, turn them and "
            "something gives way. Find the layer, and say what it does to vectors that it may do to scalars only."
        ),
        build=build_broken,
        input=INPUT,
        domain="points",
        sample="ethanol-3d",
        params=PARAMS,
        notes=("planted fault: layer layer1.gate",),
        source=(BrokenGate, Convolution),
    ),
)  # fmt: skip
