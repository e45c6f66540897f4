"""Three ways to take a part of a graph: all within k steps, a random walk, and a Metropolis walk.

Sanchez-Lengeling, Reif, Pearce, Wiltschko, "A Gentle Introduction to Graph Neural Networks", 2021, section on
sampling graphs; Rozemberczki, Kiss, Sarkar, "Little Ball of Fur", 2020; Metropolis walk: Hübler, Kriegel, Borgwardt,
Ghahramani, "Metropolis Algorithms for Representative Subgraph Sampling", 2008, and Stutzbach et al., "On Unbiased
Sampling for Unstructured Peer-to-Peer Networks", 2006:

    random walk       P(i -> j) = 1 / d_i                       visits nodes in proportion to their degree
    Metropolis walk   P(i -> j) = min(1 / d_i, 1 / d_j)         visits all nodes of a connected graph alike

A random walk prefers hubs; a Metropolis walk declines some of the steps towards them and stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.spaces.graph.fields import EDGE, NODE
from explorer.spaces.graph.network.form import GraphInput
from models.layers.graph.aggregation import SideBySide
from models.layers.taps import Mark

Index = NDArray[np.int64]
Walk = Callable[[Index, int, int, int, np.random.Generator], Index]
SAMPLERS = ("k_hop", "random_walk", "metropolis")


def k_hop(edge_index: Index, nodes: int, starts: Index, hops: int) -> NDArray[np.bool_]:
    """Return which nodes are within `hops` edges of the starts, against or along the direction of edges, (nodes,)."""
    source, target = edge_index
    reached = np.zeros(nodes, bool)
    reached[starts] = True
    for _ in range(hops):
        before = reached.copy()
        reached[target[before[source]]] = True
        reached[source[before[target]]] = True
    return reached


def random_walk(edge_index: Index, nodes: int, start: int, steps: int, chance: np.random.Generator) -> Index:
    """Return the nodes of a walk that leaves by an edge drawn uniformly, (steps + 1,); without one it stays."""
    first, ends = _outgoing(edge_index, nodes)
    draws = chance.random(steps)
    walk = np.empty(steps + 1, np.int64)
    walk[0] = here = start
    for k in range(steps):
        degree = first[here + 1] - first[here]
        if degree:
            here = ends[first[here] + int(draws[k] * degree)]
        walk[k + 1] = here
    return walk


def metropolis_walk(edge_index: Index, nodes: int, start: int, steps: int, chance: np.random.Generator) -> Index:
    """Return the nodes of a walk that takes a drawn edge i -> j with probability min(1, d_i / d_j), (steps + 1,).

    Every edge is to be listed in both directions: only then does it visit all nodes of a connected graph alike.
    """
    first, ends = _outgoing(edge_index, nodes)
    draws = chance.random((steps, 2))
    walk = np.empty(steps + 1, np.int64)
    walk[0] = here = start
    for k in range(steps):
        degree = first[here + 1] - first[here]
        if degree:
            there = ends[first[here] + int(draws[k, 0] * degree)]
            if draws[k, 1] * (first[there + 1] - first[there]) < degree:
                here = there
        walk[k + 1] = here
    return walk


def _outgoing(edge_index: Index, nodes: int) -> tuple[list[int], list[int]]:
    """Return where the edges of each node begin in a list sorted by source, (nodes + 1,), and where they lead."""
    order = np.argsort(edge_index[0], kind="stable")
    first = np.concatenate([[0], np.bincount(edge_index[0], minlength=nodes).cumsum()])
    return first.tolist(), edge_index[1][order].tolist()  # lists: a walk reads one number at a time


class KHop(nn.Module):
    """1 for the nodes within `hops` of the starting node: x (N, C), (2, E) -> (N, 1)."""

    out_field = NODE
    marks = True

    def __init__(self, start: int, hops: int) -> None:
        super().__init__()
        self.start, self.hops = start, hops

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        n = len(x)
        starts = np.array([self.start % n] if n else [], np.int64)
        return _column(k_hop(edge_index.cpu().numpy(), n, starts, self.hops), x)


class Visits(nn.Module):
    """The share of its time that a walk spends at each node: x (N, C), (2, E) -> (N, 1)."""

    out_field = NODE

    def __init__(self, walk: Walk, start: int, steps: int, seed: int) -> None:
        super().__init__()
        self.walk, self.start, self.steps, self.seed = walk, start, steps, seed

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        n = len(x)
        if n == 0:
            return x.new_zeros(0, 1)
        index, chance = edge_index.cpu().numpy(), np.random.default_rng(self.seed)
        visited = self.walk(index, n, self.start % n, self.steps, chance)
        return _column(np.bincount(visited, minlength=n) / len(visited), x)


class Visited(Mark):
    """1 for the nodes that a walk has seen: visits (N, 1) -> (N, 1)."""

    def forward(self, value: Tensor) -> Tensor:
        """Return the set as 1 and 0."""
        return (value > 0).to(value.dtype)


class InducedEdges(nn.Module):
    """1 for the edges with both ends in the set: kept (N, 1), (2, E) -> (E, 1)."""

    out_field = EDGE

    def forward(self, kept: Tensor, edge_index: Tensor) -> Tensor:
        return kept[edge_index[0]] * kept[edge_index[1]]


def _column(values: NDArray[np.generic], like: Tensor) -> Tensor:
    return torch.as_tensor(values.astype(np.float64), dtype=like.dtype, device=like.device)[:, None]


class GraphSampling(nn.Module):
    """Three samples of one graph from one starting node; x (N, C), edge_index (2, E) -> the three sets, (N, 3)."""

    def __init__(self, start: int = 0, hops: int = 1, steps: int = 20, seed: int = 0) -> None:
        super().__init__()
        self.k_hop = KHop(start, hops)
        self.k_hop_edges = InducedEdges()
        self.random_walk_visits = Visits(random_walk, start, steps, seed)
        self.random_walk = Visited(NODE)
        self.random_walk_edges = InducedEdges()
        self.metropolis_visits = Visits(metropolis_walk, start, steps, seed)
        self.metropolis = Visited(NODE)
        self.metropolis_edges = InducedEdges()
        self.samples = SideBySide(NODE)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        sets = [
            self.k_hop(x, edge_index),
            self.random_walk(self.random_walk_visits(x, edge_index)),
            self.metropolis(self.metropolis_visits(x, edge_index)),
        ]
        for name, kept in zip(SAMPLERS, sets):
            self.get_submodule(f"{name}_edges")(kept, edge_index)
        return self.samples(*sets)


def build(start: float = 0, hops: float = 1, steps: float = 20, seed: float = 0) -> GraphSampling:
    """Build the three samplers: where they start, how far they go, and the seed of the walks."""
    return GraphSampling(int(start), int(hops), int(steps), int(seed))


CARD = Card(
    name="graph-sampling",
    title="Samples of a graph: k hops, random walk, Metropolis",
    rows=("N6",),
    reference=(
        "Sanchez-Lengeling, Reif, Pearce, Wiltschko, "
        '"A Gentle Introduction to Graph Neural Networks", 2021 (sampling graphs); Hübler, Kriegel, Borgwardt, '
        'Ghahramani, "Metropolis Algorithms for Representative Subgraph Sampling", 2008'
    ),
    equation=(
        "k hops:  S = {i : distance(i, start) ≤ k}\nrandom walk:  P(i → j) = 1/dᵢ,   visits ∝ dᵢ\n"
        "Metropolis:  P(i → j) = min(1/dᵢ, 1/dⱼ),   visits uniform"
    ),
    summary=(
        "The sets are drawn on the graph: k_hop, random_walk and metropolis, with the edges among them. Take 5000 "
        "steps and compare the two layers of visits: the random walk stays with the hubs, the Metropolis walk "
        "visits all alike. The starting node is a number and the walks are drawn by place in the list of edges, so "
        "no law of permutations is claimed; permute the nodes and another part of the graph is taken."
    ),
    build=build,
    input=GraphInput(),
    domain="graph",
    params=(
        Param("start", "Starting node", 0, 0, 999, whole=True),
        Param("hops", "Hops", 1, 0, 6, whole=True),
        Param("steps", "Steps of a walk", 20, 1, 5000, whole=True),
        Param("seed", "Seed of the walks", 0, 0, 99, whole=True),
    ),
    sample="karate",
    source=(k_hop, random_walk, metropolis_walk),
)
