"""DimeNet: messages know the direction that they come from, by the angle to the messages that they have heard.

Gasteiger, Groß, Günnemann, "Directional Message Passing for Molecular Graphs", 2020, section 5:

    m_ji <- f(m_ji, sum over k -> j, k ≠ i of g(m_kj, e_RBF(d_ji), a_SBF(d_kj, α_kji)))
    t_i = sum_j W e_RBF(d_ji) ∘ m_ji,   E = sum_i network(t_i)
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.spaces.graph.fields import EDGE, GRAPH
from explorer.spaces.points.fields import PARTICLE
from explorer.spaces.points.network.form import PointsInput
from models.layers.points.angular import AngularBasis
from models.layers.points.geometry import BesselBasis, Lengths, Ways, summed

REACH, RADIAL, DEGREES, CHANNELS, BILINEAR = 4.0, 6, 5, 32, 6


def turns(edge_index: Tensor, points: int) -> tuple[Tensor, Tensor]:
    """Return the pairs of edges k -> j -> i with k ≠ i, as numbers of the first and of the second edge."""
    source, target = edge_index
    order = torch.argsort(target, stable=True)
    count = torch.bincount(target, minlength=points)
    start = count.cumsum(0) - count
    many = count[source]  # how many edges lead to where an edge begins
    second = torch.arange(len(source), device=source.device).repeat_interleave(many)
    within = torch.arange(len(second), device=source.device) - (many.cumsum(0) - many).repeat_interleave(many)
    first = order[start[source[second]] + within]
    there = source[first] != target[second]
    return first[there], second[there]


def angles(ways: Tensor, first: Tensor, second: Tensor) -> Tensor:
    """Return the angle at i between j and k for k -> j -> i, in radians, as torch_geometric has it; 0 for no length."""
    one = ways[second]
    other = ways[second] + ways[first]
    cross = torch.linalg.cross(one, other).square().sum(1).sqrt()
    return torch.atan2(cross, (one * other).sum(1))


def by_edge(first: Tensor, second: Tensor, edges: int) -> tuple[Tensor, Tensor]:
    """Return the pairs of `turns` in rows of one length, one for each second edge: a row is summed by one product.

    Returns:
        the slot of each pair among all rows, (T,), and the first edge in each slot, (E, most); in slots that stay
        empty it is `edges`, one beyond the last.
    """
    count = torch.bincount(second, minlength=edges)
    most = int(count.max()) if edges else 0
    offset = most * torch.arange(edges, device=second.device) - (count.cumsum(0) - count)
    slot = torch.arange(len(second), device=second.device) + offset.index_select(0, second)
    heard = torch.full((edges * most,), edges, device=second.device).index_copy_(0, slot, first)
    return slot, heard.view(edges, most)


class FirstMessages(nn.Module):
    """m_ji = σ(W [h_j, h_i, σ(W' e_RBF)]): numbers (N,), (E, R), (2, E) -> (E, C)."""

    out_field = EDGE

    def __init__(self, channels: int, radial: int) -> None:
        super().__init__()
        self.table = nn.Embedding(95, channels)
        self.radial = nn.Linear(radial, channels)
        self.mix = nn.Linear(3 * channels, channels)
        self.act = nn.SiLU()

    def forward(self, number: Tensor, radial: Tensor, edge_index: Tensor) -> Tensor:
        h = self.table(number.clamp(0, 94))
        return self.act(self.mix(torch.cat([h[edge_index[1]], h[edge_index[0]], self.act(self.radial(radial))], 1)))


class Directional(nn.Module):
    """m_ji + f(σ(W m_ji) + sum over k of (σ(W' m_kj) ∘ U e_RBF) W'' (V a_SBF)): (E, C) -> (E, C)."""

    out_field = EDGE

    def __init__(self, channels: int, radial: int, angular: int, bilinear: int) -> None:
        super().__init__()
        self.radial = nn.Linear(radial, channels, bias=False)
        self.angular = nn.Linear(angular, bilinear, bias=False)
        self.own, self.heard = nn.Linear(channels, channels), nn.Linear(channels, channels)
        self.table = nn.Parameter(torch.randn(channels, bilinear, channels) * 2 / channels)
        self.last = nn.Linear(channels, channels)
        self.act = nn.SiLU()

    def forward(self, m: Tensor, radial: Tensor, angular: Tensor, slot: Tensor, heard_from: Tensor) -> Tensor:
        own = self.act(self.own(m))
        heard = self.act(self.heard(m)) * self.radial(radial)
        # not as a layer: its rows are pairs of edges
        seen = nn.functional.linear(angular, self.angular.weight)
        # summed over k before the table mixes channels, as pairs are many: no pair has all products of both
        slots = heard_from.numel()
        rows = seen.new_zeros(slots, seen.shape[1]).index_copy(0, slot, seen).unflatten(0, heard_from.shape)
        padded = torch.cat([heard, heard.new_zeros(1, heard.shape[1])])
        near = padded.index_select(0, heard_from.flatten()).unflatten(0, heard_from.shape)
        both = torch.bmm(rows.mT, near)  # (E, B, C)
        told = nn.functional.linear(both.flatten(1), self.table.flatten(1))
        return m + self.act(self.last(own + told))


class AtAtoms(nn.Module):
    """t_i = sum_j W e_RBF(d_ji) ∘ m_ji: (E, C), (E, R), (2, E), numbers (N,) -> (N, C); of these the count alone."""

    out_field = PARTICLE

    def __init__(self, channels: int, radial: int) -> None:
        super().__init__()
        self.radial = nn.Linear(radial, channels, bias=False)

    def forward(self, m: Tensor, radial: Tensor, edge_index: Tensor, number: Tensor) -> Tensor:
        return summed(self.radial(radial) * m, edge_index, len(number))


class Total(nn.Module):
    """The energy, a sum over the atoms: (N, C) -> (1, C)."""

    out_field = GRAPH

    def forward(self, h: Tensor) -> Tensor:
        return h.sum(0, keepdim=True)


class DimeNet(nn.Module):
    """`layers` rounds of directional messages: position (N, 3), numbers (N,), edge_index -> (1, 1)."""

    def __init__(self, layers: int = 2, channels: int = CHANNELS) -> None:
        super().__init__()
        self.ways = Ways()
        self.lengths = Lengths()
        self.radial = BesselBasis(REACH, RADIAL)
        self.angular = AngularBasis(REACH, DEGREES, RADIAL)
        self.messages = FirstMessages(channels, RADIAL)
        self.rounds = nn.ModuleList(Directional(channels, RADIAL, DEGREES * RADIAL, BILINEAR) for _ in range(layers))
        self.atoms = AtAtoms(channels, RADIAL)
        self.head = nn.Sequential(nn.Linear(channels, channels), nn.SiLU(), nn.Linear(channels, 1))
        self.total = Total()

    def forward(self, position: Tensor, number: Tensor, edge_index: Tensor) -> Tensor:
        ways = self.ways(position, edge_index)
        lengths = self.lengths(ways)
        radial = self.radial(lengths)
        first, second = turns(edge_index, len(number))
        angular = self.angular.values(lengths[:, 0], angles(ways, first, second), first)
        m = self.messages(number, radial, edge_index)
        slot, heard_from = by_edge(first, second, len(m))
        for one in self.rounds:
            m = one(m, radial, angular, slot, heard_from)
        return self.total(self.head(self.atoms(m, radial, edge_index, number) / math.sqrt(RADIAL)))


def build(layers: float = 2) -> DimeNet:
    """Build the network with fresh parameters."""
    return DimeNet(int(layers))


CARD = Card(
    name="dimenet",
    title="DimeNet: distances and angles",
    rows=("E3",),
    groups=("E3", "permutation"),
    reference=('Gasteiger, Groß, Günnemann, "Directional Message Passing for Molecular Graphs", 2020, section 5'),
    equation=(
        "a_ln(d, α) = √(2/c³j²_{l+1}(z_ln)) j_l(z_ln d/c) Y_l⁰(α)\n"
        "m_ji ← m_ji + f(m_ji, Σ_{k≠i} g(m_kj, e(d_ji), a(d_kj, α)))\n"
        "E = Σᵢ network(Σⱼ W e(d_ji) ∘ m_ji)"
    ),
    summary=(
        "Messages live on the edges, `rounds.0` and `rounds.1`, and hear those that lead to where they begin, by the "
        "angle between them. Distances and angles stand still when the molecule is turned or mirrored. Degrees draws "
        "the functions of the distance (`radial`) and, of `angular`, those of the angle. Not trained."
    ),
    build=build,
    input=PointsInput(signals=("position", "number", "edge_index"), edges="near", reach=REACH, most=2000),
    domain="points",
    sample="ethanol-3d",
    params=(Param("layers", "Rounds", 2, 1, 5, whole=True),),
    source=(AngularBasis, turns, by_edge, Directional, AtAtoms, DimeNet),
)
