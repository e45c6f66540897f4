"""E(n)-equivariant graph network: features hear distances alone, points move along the ways to their neighbours.

Satorras, Hoogeboom, Welling, "E(n) Equivariant Graph Neural Networks", 2021, eq. (3) to (6), and (7) with velocities:

    m_ij = φ_e(h_i, h_j, |x_i - x_j|², a_ij)
    x_i <- x_i + φ_v(h_i) v_i + 1/|N(i)| sum_j (x_i - x_j) φ_x(m_ij)
    h_i <- h_i + φ_h(h_i, sum_j m_ij)
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.spaces.graph.fields import EDGE, GRAPH
from explorer.spaces.points.fields import PARTICLE, POSITION
from explorer.spaces.points.network.form import PointsInput
from models.layers.points.geometry import Ways, heard, summed
from models.training.points.bodies import measured, train

HIDDEN = 64


class EdgeMessage(nn.Module):
    """m_ij = φ_e(h_i, h_j, |x_i - x_j|², a_ij): (N, C), (E, 3), (E, A), (2, E) -> (E, D)."""

    out_field = EDGE

    def __init__(self, channels: int, hidden: int, attributes: int) -> None:
        super().__init__()
        inner = (nn.Linear(2 * channels + 1 + attributes, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU())
        self.network = nn.Sequential(*inner)

    def forward(self, h: Tensor, ways: Tensor, edge_attr: Tensor, edge_index: Tensor) -> Tensor:
        source, target = edge_index
        square = ways.square().sum(1, keepdim=True)
        return self.network(torch.cat([h.index_select(0, target), h.index_select(0, source), square, edge_attr], 1))


class MovedPoints(nn.Module):
    """x_i + φ_v(h_i) v_i + mean_j (x_i - x_j) φ_x(m_ij); without velocities the second part is left out."""

    out_field = POSITION

    def __init__(self, channels: int, hidden: int, velocity: bool) -> None:
        super().__init__()
        last = nn.Linear(hidden, 1, bias=False)
        # in training points hardly move at first, as the authors have it; untrained, they are to be seen moving
        nn.init.xavier_uniform_(last.weight, gain=0.001 if velocity else 1.0)
        self.weight = nn.Sequential(nn.Linear(hidden, hidden), nn.SiLU(), last)
        self.keep = nn.Sequential(nn.Linear(channels, hidden), nn.SiLU(), nn.Linear(hidden, 1)) if velocity else None

    def forward(
        self, x: Tensor, ways: Tensor, messages: Tensor, edge_index: Tensor, h: Tensor, velocity: Tensor | None
    ) -> Tensor:
        pulls = summed(ways * self.weight(messages), edge_index, len(x))
        x = x - pulls / heard(edge_index, len(x), x)
        return x if self.keep is None or velocity is None else x + self.keep(h) * velocity


class Features(nn.Module):
    """h_i + φ_h(h_i, sum_j m_ij): (N, C), (E, D), (2, E) -> (N, C)."""

    out_field = PARTICLE

    def __init__(self, channels: int, hidden: int) -> None:
        super().__init__()
        inner = (nn.Linear(channels + hidden, hidden), nn.SiLU(), nn.Linear(hidden, channels))
        self.network = nn.Sequential(*inner)

    def forward(self, h: Tensor, messages: Tensor, edge_index: Tensor) -> Tensor:
        return h + self.network(torch.cat([h, summed(messages, edge_index, len(h))], 1))


class Layer(nn.Module):
    """One equivariant graph convolution; its parts are called one after the other, each a layer of its own."""

    def __init__(self, channels: int, attributes: int, velocity: bool, hidden: int = HIDDEN) -> None:
        super().__init__()
        self.ways = Ways()
        self.messages = EdgeMessage(channels, hidden, attributes)
        self.moved = MovedPoints(channels, hidden, velocity)
        self.features = Features(channels, hidden)

    def forward(
        self, h: Tensor, x: Tensor, edge_index: Tensor, edge_attr: Tensor, velocity: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        ways = self.ways(x, edge_index)
        messages = self.messages(h, ways, edge_attr, edge_index)
        return self.features(h, messages, edge_index), self.moved(x, ways, messages, edge_index, h, velocity)


class Total(nn.Module):
    """The sum over all points: (N, C) -> (1, C)."""

    out_field = GRAPH

    def forward(self, h: Tensor) -> Tensor:
        return h.sum(0, keepdim=True)


class EGNN(nn.Module):
    """`layers` layers, then one number of the whole: x (N, C), position, edge_index -> (1, 1)."""

    def __init__(self, layers: int, inputs: int = 8, hidden: int = HIDDEN) -> None:
        super().__init__()
        self.embedding = nn.Linear(inputs, hidden)
        self.layers = nn.ModuleList(Layer(hidden, 0, velocity=False) for _ in range(layers))
        self.head = nn.Sequential(nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, 1))
        self.total = Total()

    def forward(self, x: Tensor, position: Tensor, edge_index: Tensor) -> Tensor:
        h, none = self.embedding(x), x.new_zeros(edge_index.shape[1], 0)
        for layer in self.layers:
            h, position = layer(h, position, edge_index, none)
        return self.total(self.head(h))


class MovingEGNN(nn.Module):
    """Say where bodies will be: speeds (N, 1), position, velocity (N, 3), edge_index, products of charges -> (N, 3)."""

    out_field = POSITION

    def __init__(self, layers: int, hidden: int = HIDDEN) -> None:
        super().__init__()
        self.embedding = nn.Linear(1, hidden)
        self.ways = Ways()
        self.layers = nn.ModuleList(Layer(hidden, 2, velocity=True) for _ in range(layers))

    def forward(self, x: Tensor, position: Tensor, velocity: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        h = self.embedding(x)
        # as the authors do: an edge knows the charges at its ends and how long it was at the beginning
        first = self.ways(position, edge_index).square().sum(1, keepdim=True)
        known = torch.cat([edge_attr, first], 1)
        for layer in self.layers:
            h, position = layer(h, position, edge_index, known, velocity)
        return position


def build(layers: float = 3) -> EGNN:
    """Build the network on molecules, with fresh parameters."""
    return EGNN(int(layers))


def build_moving(layers: float = 4) -> MovingEGNN:
    """Build the network on moving bodies."""
    return MovingEGNN(int(layers))


LAYERS = Param("layers", "Layers", 3, 1, 7, whole=True)
EQUATION = "mᵢⱼ = φₑ(hᵢ, hⱼ, |xᵢ − xⱼ|², aᵢⱼ)\nxᵢ ← xᵢ + 1/|N(i)| Σⱼ (xᵢ − xⱼ) φₓ(mᵢⱼ)\nhᵢ ← hᵢ + φₕ(hᵢ, Σⱼ mᵢⱼ)"
REFERENCE = 'Satorras, Hoogeboom, Welling, "E(n) Equivariant Graph Neural Networks", 2021, '
ERROR, STILL = 0.0053, 0.1294  # of the shipped weights; and of saying that bodies go straight on

CARD = (
    Card(
        name="egnn",
        title="EGNN: features stand still, points move along",
        rows=("E1",),
        groups=("E3", "permutation"),
        reference=REFERENCE + "eq. (3) to (6)",
        equation=EQUATION,
        summary=(
            "Turn the molecule: `layers.0.moved` are places, which turn and shift with it, and `layers.0.features` "
            "stand still, for they have heard of distances alone. Distances do not tell a molecule from its mirror "
            "image: compare `chiral-left` with `chiral-right`. The parameters are not trained."
        ),
        build=build,
        input=PointsInput(channels=8, edges="all", most=500),
        domain="points",
        sample="ethanol-3d",
        params=(LAYERS,),
        source=(EdgeMessage, MovedPoints, Features, Layer),
    ),
    Card(
        name="egnn-velocity",
        title="EGNN with velocities: where charged bodies go",
        rows=("E1",),
        groups=("E3", "permutation"),
        reference=REFERENCE + "eq. (7) and section 5.1",
        equation=EQUATION.replace("xᵢ + 1", "xᵢ + φᵥ(hᵢ) vᵢ + 1"),
        summary=(
            "Five charges attract and repel each other; the network says where they will be one unit of time later. "
            "Each layer moves the points: choose `layers.0.moved` to `layers.3.moved` one after the other and watch "
            "them go. Turned bodies go to turned places, without having seen them."
        ),
        build=build_moving,
        input=PointsInput(
            channels=1, signals=("x", "position", "velocity", "edge_index", "edge_attr"), features="speed",
            edges="all", most=500,
        ),
        domain="points",
        sample="bodies",
        weights="egnn-velocity.safetensors",
        train=partial(train, build_moving),
        params=(Param("layers", "Layers", 4, 1, 7, whole=True),),
        notes=measured(ERROR, STILL),
        source=(EdgeMessage, MovedPoints, Features, Layer),
    ),
)  # fmt: skip
