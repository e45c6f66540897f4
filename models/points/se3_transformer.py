"""SE(3)-Transformer: attention by scalars that stand still, messages of every degree that turn.

Fuchs, Worrall, Fischer, Welling, "SE(3)-Transformers: 3D Roto-Translation Equivariant Attention Networks", 2020,
section 3.2, eq. (10) to (12), with parity, so that mirrors hold as well:

    α_ij = softmax over j of <q_i, k_ij>,   q_i = W_Q h_i,   k_ij = W_K(r_ij) h_j,   v_ij = W_V(r_ij) h_j
    h_i <- gate(W h_i + sum_j α_ij v_ij)
"""

from __future__ import annotations

import math
from itertools import pairwise

import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.declare.types.fields import PAIR
from explorer.spaces.graph.fields import EDGE, Edges
from explorer.spaces.points.fields import irreps, whole
from explorer.spaces.points.network.form import PointsInput
from models.layers.points.geometry import BesselBasis, Lengths, Ways, summed
from models.layers.points.irreps import Gate, Harmonics, Mix, Pairs, PathProduct, split
from models.layers.taps import Tap

REACH, BASIS, INPUTS, HEADS, DEGREE = 5.0, 8, 8, 4, 2
HIDDEN, KEYS = "8x0e+8x1o+4x2e", "8x0e+8x1o+4x2e"
WIDE = 24  # of the hidden layer of a kernel
# By how much parameters are drawn larger than usual: bases and what they make are a quarter as large as 1, and products
# of queries and keys near 0 would let every point listen to all others alike
LOUD, ASKED = 4.0, 12.0


class Kernel(nn.Module):
    """W(r_ij) h_j on the edge j -> i: all couplings with the harmonics of the way, mixed to `outputs`."""

    def __init__(self, inputs: str, outputs: str, pairs: Pairs) -> None:
        super().__init__()
        most = max(degree for _, degree, _ in irreps(outputs).terms)
        self.product = PathProduct(inputs, DEGREE, most, pairs)
        self.radial = nn.Sequential(
            nn.Linear(BASIS, WIDE, bias=False), nn.SiLU(), nn.Linear(WIDE, self.product.weights, bias=False)
        )
        for linear in (layer for layer in self.radial if isinstance(layer, nn.Linear)):
            nn.init.normal_(linear.weight, std=LOUD / math.sqrt(linear.in_features))
        self.mix = Mix(self.product.outputs, outputs, Edges())
        self.out_field = self.mix.out_field

    def forward(self, sources: Tensor, harmonics: Tensor, basis: Tensor) -> Tensor:
        return self.mix(self.product(sources, harmonics, self.radial(basis)))


class Attention(nn.Module):
    """softmax over the edges that lead to i of <q_i, k_ij>, head by head: (N, C), (E, C), (2, E) -> (E, heads).

    Each head has its share of the channels of every degree, so that its product is a scalar.
    """

    out_field = EDGE

    def __init__(self, keys: str) -> None:
        super().__init__()
        self.keys = irreps(keys)

    def forward(self, queries: Tensor, keys: Tensor, edge_index: Tensor) -> Tensor:
        target, points = edge_index[1], len(queries)
        score = keys.new_zeros(len(keys), HEADS)
        for q, k in zip(split(queries, self.keys), split(keys, self.keys), strict=True):
            score = score + (q.index_select(0, target) * k).sum(2).unflatten(1, (HEADS, -1)).sum(2)
        score = score / math.sqrt(self.keys.size / HEADS)
        where = target[:, None].expand_as(score)
        most = score.new_full((points, HEADS), -torch.inf).scatter_reduce(0, where, score, "amax")
        weight = torch.exp(score - most.index_select(0, target))
        return weight / summed(weight, edge_index, points).index_select(0, target)


class Weighted(nn.Module):
    """sum_j α_ij v_ij, each head its channels: (E, C), (E, heads), (2, E), h (N, ...) -> (N, C)."""

    def __init__(self, values: str) -> None:
        super().__init__()
        self.values = irreps(values)
        self.out_field = Mix(values, values).out_field

    def forward(self, values: Tensor, attention: Tensor, edge_index: Tensor, h: Tensor) -> Tensor:
        parts = []
        for part in split(values, self.values):
            heads = part.unflatten(1, (HEADS, -1)) * attention[:, :, None, None]
            parts.append(heads.flatten(1))
        return summed(torch.cat(parts, 1), edge_index, len(h))


class Layer(nn.Module):
    """One layer of attention over the neighbours; `attention` lies on the edges, `matrix` is the same as a table."""

    def __init__(self, inputs: str, outputs: str) -> None:
        super().__init__()
        self.gate = Gate(outputs)
        self.queries = Mix(inputs, KEYS)
        for weight in self.queries.weights:
            nn.init.normal_(weight, std=ASKED)
        self.pairs = Pairs()  # keys and values couple the same, and only weigh it differently
        self.keys, self.values = Kernel(inputs, KEYS, self.pairs), Kernel(inputs, KEYS, self.pairs)
        self.attention = Attention(KEYS)
        self.matrix = Tap(PAIR)
        self.heard = Weighted(KEYS)
        self.itself, self.mixed = Mix(inputs, self.gate.needed, bias=True), Mix(KEYS, self.gate.needed)
        self.out_field = self.gate.out_field

    def forward(self, h: Tensor, sources: Tensor, harmonics: Tensor, basis: Tensor, edge_index: Tensor) -> Tensor:
        with self.pairs:
            keys, values = self.keys(sources, harmonics, basis), self.values(sources, harmonics, basis)
        attention = self.attention(self.queries(h), keys, edge_index)
        table = attention.new_zeros(len(h), len(h), HEADS)
        self.matrix(table.index_put_((edge_index[1], edge_index[0]), attention).movedim(2, 0))
        heard = self.heard(values, attention, edge_index, h)
        return self.gate(self.itself(h) + self.mixed(heard))


class Source(nn.Module):
    """h_j on the edge j -> i: (N, C), (2, E) -> (E, C)."""

    def __init__(self, values: str) -> None:
        super().__init__()
        self.out_field = Mix(values, values, Edges()).out_field

    def forward(self, h: Tensor, edge_index: Tensor) -> Tensor:
        return h.index_select(0, edge_index[0])


class Total(nn.Module):
    """The sum over all points: values (N, C) -> (1, C), of the same degrees."""

    def __init__(self, values: str) -> None:
        super().__init__()
        self.out_field = whole(values)

    def forward(self, h: Tensor) -> Tensor:
        return h.sum(0, keepdim=True)


class SE3Transformer(nn.Module):
    """`layers` layers of attention; a scalar and a vector of the whole: x (N, 8), position, edge_index -> (1, 4)."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.ways = Ways()
        self.lengths = Lengths()
        self.harmonics = Harmonics(DEGREE)
        self.basis = BesselBasis(REACH, BASIS)
        kinds = [f"{INPUTS}x0e", *[HIDDEN] * layers]
        self.sources = nn.ModuleList(Source(kind) for kind in kinds[:-1])
        self.layers = nn.ModuleList(Layer(one, other) for one, other in pairwise(kinds))
        self.head = Mix(HIDDEN, "1x0e+1x1o")
        self.total = Total("1x0e+1x1o")

    def forward(self, x: Tensor, position: Tensor, edge_index: Tensor) -> Tensor:
        ways = self.ways(position, edge_index)
        harmonics, basis = self.harmonics(ways), self.basis(self.lengths(ways))
        for source, layer in zip(self.sources, self.layers, strict=True):
            x = layer(x, source(x, edge_index), harmonics, basis, edge_index)
        return self.total(self.head(x))


def build(layers: float = 2) -> SE3Transformer:
    """Build the network with fresh parameters."""
    return SE3Transformer(int(layers))


CARD = Card(
    name="se3-transformer",
    title="SE(3)-Transformer: attention that stands still",
    rows=("E2",),
    groups=("E3", "permutation"),
    reference=(
        'Fuchs, Worrall, Fischer, Welling, "SE(3)-Transformers: 3D Roto-Translation Equivariant Attention Networks", '
        "2020, section 3.2, eq. (10) to (12)"
    ),
    equation=(
        "αᵢⱼ = softmaxⱼ ⟨qᵢ, kᵢⱼ⟩,   qᵢ = W_Q hᵢ,   kᵢⱼ = W_K(rᵢⱼ) hⱼ\n"
        "hᵢ ← gate(W hᵢ + Σⱼ αᵢⱼ W_V(rᵢⱼ) hⱼ)\n"
        "α(Rx + t) = α(x)"
    ),
    summary=(
        "Queries and keys turn together, so their product stands still: `layers.0.attention` is a number for each "
        "edge and head, `layers.0.matrix` the same as a table of who listens to whom. The values turn, and what is "
        "heard is of each degree. Select an atom to see whom it hears. The parameters are not trained."
    ),
    build=build,
    input=PointsInput(channels=INPUTS, edges="near", reach=REACH, most=500),
    domain="points",
    sample="ethanol-3d",
    params=(Param("layers", "Layers", 2, 1, 4, whole=True),),
    source=(Kernel, Attention, Weighted, Layer),
)
