"""SchNet: atoms hear their neighbours through filters of the distance, and add up an energy.

Schütt, Kindermans, Sauceda, Chmiela, Tkatchenko, Müller, "SchNet: A continuous-filter convolutional neural network for
modeling quantum interactions", 2017, section 3:

    e_k(d) = exp(-γ (d - μ_k)²),   W(d) = ssp(ssp-network(e(d)))
    h_i <- h_i + V sum_j (U h_j) ∘ W(|x_i - x_j|)
    E = sum_i readout(h_i),   ssp(t) = ln(e^t / 2 + 1 / 2)
"""

from __future__ import annotations

import math
from functools import partial

from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.spaces.graph.fields import EDGE, GRAPH
from explorer.spaces.points.fields import PARTICLE
from explorer.spaces.points.network.form import PointsInput
from models.layers.points.geometry import GaussianBasis, Lengths, Ways, cosine_cutoff, summed
from models.layers.taps import Tap
from models.training.points.energies import measured, train

CHANNELS, FILTERS, CENTRES, REACH = 48, 48, 32, 5.0
BONDED = 2.5  # Å: with a hundred molecules to learn from, what lies further only misleads


class ShiftedSoftplus(nn.Module):
    """ssp(t) = ln(e^t / 2 + 1 / 2): 0 at 0."""

    def forward(self, value: Tensor) -> Tensor:
        return F.softplus(value).sub_(math.log(2.0))  # in place: of 10,000 atoms another 30 MB otherwise


class Embedding(nn.Module):
    """A vector for each chemical element: atomic numbers (N,) -> (N, C); what is no element has its own."""

    out_field = PARTICLE

    def __init__(self, channels: int, elements: int = 100) -> None:
        super().__init__()
        self.table = nn.Embedding(elements, channels)

    def forward(self, number: Tensor) -> Tensor:
        return self.table(number.clamp(0, self.table.num_embeddings - 1))


class Filters(nn.Module):
    """W(d) cut off smoothly: the radial basis (E, K), lengths (E, 1) -> (E, F)."""

    out_field = EDGE

    def __init__(self, centres: int, filters: int, reach: float) -> None:
        super().__init__()
        self.reach = reach
        self.network = nn.Sequential(nn.Linear(centres, filters), ShiftedSoftplus(), nn.Linear(filters, filters))

    def forward(self, basis: Tensor, lengths: Tensor) -> Tensor:
        return self.network(basis) * cosine_cutoff(lengths, self.reach)


class Heard(nn.Module):
    """sum_j (U h_j) ∘ W_ij: (N, F), (E, F), (2, E) -> (N, F)."""

    out_field = PARTICLE

    def forward(self, h: Tensor, filters: Tensor, edge_index: Tensor) -> Tensor:
        return summed(h.index_select(0, edge_index[0]) * filters, edge_index, len(h))


class Interaction(nn.Module):
    """h_i + V ssp(V' sum_j (U h_j) ∘ W_ij): (N, C) -> (N, C)."""

    out_field = PARTICLE

    def __init__(self, channels: int, filters: int, centres: int, reach: float) -> None:
        super().__init__()
        self.inward = nn.Linear(channels, filters, bias=False)
        self.continuous = Filters(centres, filters, reach)
        self.heard = Heard()
        self.outward = nn.Linear(filters, channels)
        self.ssp = ShiftedSoftplus()
        self.last = nn.Linear(channels, channels)

    def forward(self, h: Tensor, basis: Tensor, lengths: Tensor, edge_index: Tensor) -> Tensor:
        heard = self.heard(self.inward(h), self.continuous(basis, lengths), edge_index)
        return h + self.last(self.ssp(self.outward(heard)))


class Total(nn.Module):
    """The energy, a sum over the atoms: (N, C) -> (1, C)."""

    out_field = GRAPH

    def forward(self, h: Tensor) -> Tensor:
        return h.sum(0, keepdim=True)


class SchNet(nn.Module):
    """`layers` interactions and a sum over the atoms: position (N, 3), numbers (N,), edge_index -> (1, 1)."""

    def __init__(
        self, layers: int = 3, channels: int = CHANNELS, filters: int = FILTERS, centres: int = CENTRES,
        reach: float = REACH,
    ) -> None:  # fmt: skip
        super().__init__()
        self.embedding = Embedding(channels)
        self.ways = Ways()
        self.lengths = Lengths()
        self.basis = GaussianBasis(reach, centres)
        self.interactions = nn.ModuleList(Interaction(channels, filters, centres, reach) for _ in range(layers))
        self.head = nn.Sequential(nn.Linear(channels, channels // 2), ShiftedSoftplus(), nn.Linear(channels // 2, 1))
        self.total = Total()

    def atoms(self, position: Tensor, number: Tensor, edge_index: Tensor) -> Tensor:
        """Return the share of each atom: (N, 1)."""
        lengths = self.lengths(self.ways(position, edge_index))
        basis, h = self.basis(lengths), self.embedding(number)
        for interaction in self.interactions:
            h = interaction(h, basis, lengths, edge_index)
        return self.head(h)

    def forward(self, position: Tensor, number: Tensor, edge_index: Tensor) -> Tensor:
        return self.total(self.atoms(position, number, edge_index))


class EnergySchNet(SchNet):
    """SchNet that says atomisation energies in eV: each element has an energy of its own beside what its atom hears."""

    def __init__(self, layers: int = 2) -> None:
        super().__init__(layers, reach=BONDED)
        self.reach = BONDED
        self.elements = nn.Embedding(100, 1)
        self.shares = Tap(PARTICLE)

    def atoms(self, position: Tensor, number: Tensor, edge_index: Tensor) -> Tensor:
        heard = super().atoms(position, number, edge_index)
        return self.shares(heard + self.elements(number.clamp(0, self.elements.num_embeddings - 1)))


def build(layers: float = 3) -> SchNet:
    """Build the network with fresh parameters."""
    return SchNet(int(layers))


def build_energies(layers: float = 2) -> EnergySchNet:
    """Build the network that says energies."""
    return EnergySchNet(int(layers))


REFERENCE = (
    "Schütt, Kindermans, Sauceda, Chmiela, Tkatchenko, Müller, "
    '"SchNet: A continuous-filter convolutional neural network", 2017, section 3'
)
EQUATION = (
    "eₖ(d) = exp(−γ (d − μₖ)²),   W(d) = network(e(d)) · (cos(πd/c) + 1)/2\n"
    "hᵢ ← hᵢ + V ssp(V′ Σⱼ (U hⱼ) ∘ W(|xᵢ − xⱼ|))\n"
    "E = Σᵢ readout(hᵢ)"
)
ERROR, BY_ELEMENT, OF_MEAN = 1.16, 1.21, 12.00  # eV, of the shipped weights; and of two simple answers
CARD = (
    Card(
        name="schnet",
        title="SchNet: filters of the distance",
        rows=("E3",),
        groups=("E3", "permutation"),
        reference=REFERENCE,
        equation=EQUATION,
        summary=(
            "Atoms hear each other through filters of their distance, made of the bells of `basis` (*Degrees* draws "
            "them). Nothing but distances goes in, so nothing moves when the molecule is turned or mirrored: every "
            "layer after `ways` stands still. The parameters are not trained."
        ),
        build=build,
        input=PointsInput(signals=("position", "number", "edge_index"), edges="near", reach=REACH, most=10_000),
        domain="points",
        sample="ethanol-3d",
        params=(Param("layers", "Interactions", 3, 1, 6, whole=True),),
        source=(GaussianBasis, Filters, Heard, Interaction, SchNet),
    ),
    Card(
        name="schnet-energies",
        title="SchNet that says atomisation energies",
        rows=("E3",),
        groups=("E3", "permutation"),
        reference=REFERENCE + "; energies: Curtiss et al., the G2 set, 1997, with ASE",
        equation=EQUATION,
        summary=(
            "How much energy tears a molecule into atoms, in eV? `shares` says what each atom adds to it, `total` the "
            "sum: neither changes when the molecule is turned or mirrored. Learned from 118 small molecules; read "
            "its error before you trust it."
        ),
        build=build_energies,
        input=PointsInput(signals=("position", "number", "edge_index"), edges="near", reach=BONDED, most=10_000),
        domain="points",
        sample="ethanol-3d",
        labels=("atomisation energy, eV",),
        weights="schnet-energies.safetensors",
        train=partial(train, build_energies),
        params=(Param("layers", "Interactions", 2, 1, 6, whole=True),),
        notes=measured(ERROR, BY_ELEMENT, OF_MEAN),
        source=(GaussianBasis, Filters, Heard, Interaction, EnergySchNet),
    ),
)
