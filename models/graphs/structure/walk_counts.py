"""Powers of the adjacency matrix count walks.

Biggs, "Algebraic Graph Theory", 1974, lemma 2.5; Sanchez-Lengeling, Reif, Pearce, Wiltschko, "A Gentle Introduction
to Graph Neural Networks", 2021, section on matrix multiplication as walks:

    (A^k)_ij = number of walks of k edges from j to i,   (A^k)_ii = closed walks at i

A_ij is the number of listed edges j -> i, so that parallel edges are different walks.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.declare.types.fields import PAIR
from explorer.spaces.graph.fields import NODE
from explorer.spaces.graph.network.form import GraphInput

MOST = 2000  # nodes; a matrix of so many takes 16 MB
LONGEST = 8


class Adjacency(nn.Module):
    """A_ij = number of edges j -> i: x (N, C), (2, E) -> (1, N, N)."""

    out_field = PAIR

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        n, (source, target) = len(x), edge_index
        ones = torch.ones(len(source), dtype=x.dtype, device=x.device)
        return ones.new_zeros(n * n).index_add(0, target * n + source, ones).view(1, n, n)


class OneStepMore(nn.Module):
    """A^k from A^(k-1) and A: a walk of k edges is one of k - 1 and an edge; (1, N, N), (1, N, N) -> (1, N, N)."""

    out_field = PAIR

    def forward(self, walks: Tensor, adjacency: Tensor) -> Tensor:
        return adjacency @ walks


class Stack(nn.Module):
    """The powers as channels of one field: (1, N, N), (1, N, N), ... -> (K, N, N)."""

    out_field = PAIR

    def forward(self, *powers: Tensor) -> Tensor:
        return torch.cat(powers)


class ClosedWalks(nn.Module):
    """The diagonal of each power side by side: (K, N, N) -> (N, K)."""

    out_field = NODE

    def forward(self, walks: Tensor) -> Tensor:
        return walks.diagonal(dim1=1, dim2=2).T


class WalkCounts(nn.Module):
    """The powers 1 to `length` of A; x (N, C), edge_index (2, E) -> closed walks of each length at each node, (N, K).

    Counts are exact below 2^24 in single and 2^53 in double precision.
    """

    def __init__(self, length: int = 4) -> None:
        super().__init__()
        self.walks1 = Adjacency()
        self.steps = [f"walks{k}" for k in range(2, length + 1)]
        for step in self.steps:
            self.add_module(step, OneStepMore())
        self.all_walks = Stack()
        self.closed_walks = ClosedWalks()

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        adjacency = self.walks1(x, edge_index)
        powers = [adjacency]
        for step in self.steps:
            powers.append(self.get_submodule(step)(powers[-1], adjacency))
        return self.closed_walks(self.all_walks(*powers))


def build(length: float = 4) -> WalkCounts:
    """Build the network that counts walks of 1 to `length` edges."""
    return WalkCounts(int(length))


CARD = Card(
    name="walk-counts",
    title="Powers of the adjacency matrix count walks",
    rows=("N6",),
    groups=("permutation",),
    reference=(
        'Biggs, "Algebraic Graph Theory", 1974, lemma 2.5; Sanchez-Lengeling, Reif, Pearce, Wiltschko, '
        '"A Gentle Introduction to Graph Neural Networks", 2021'
    ),
    equation=(
        "(Aᵏ)ᵢⱼ = number of walks of k edges from j to i\n"
        "(Aᵏ)ᵢᵢ = closed walks at i;   (A²)ᵢᵢ = degree, (A³)ᵢᵢ / 2 = triangles (simple graphs)"
    ),
    summary=(
        "walks1 is the adjacency matrix; every further matrix has one step more. An entry counts the walks from its "
        "column to its row, and the zeros that remain are the pairs farther apart. The output is the diagonal: a "
        "signature of the node that does not depend on how nodes are numbered. Nothing is learned."
    ),
    build=build,
    input=GraphInput(most=MOST),
    domain="graph",
    params=(Param("length", "Longest walk", 4, 1, LONGEST, whole=True),),
    sample="karate",
    source=(WalkCounts, Adjacency, OneStepMore),
)
