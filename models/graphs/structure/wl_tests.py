"""Tell two graphs apart: by 1-WL colours, distances, random walks, the spectrum, and networks.

Weisfeiler and Leman, 1968; Xu et al., "How powerful are graph neural networks?", 2019, section 3: no message-passing
network tells apart what colour refinement does not,

    colour_0(u) = 0,   colour_t(u) = number of the pair (colour_{t-1}(u), multiset of colour_{t-1} of the neighbours)

Ying et al., 2021, appendix A: the multisets of shortest-path distances tell more graphs apart; Dwivedi et al., 2022: so
do the return probabilities of random walks. Strongly regular graphs with the same parameters defeat all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.declare.types.fields import INVARIANT
from explorer.spaces.graph.fields import NODE
from explorer.spaces.graph.network.form import GraphInput
from models.layers.graph.aggregation import graphs_in
from models.layers.graph.structure import Array, as_array, normalised_laplacian, random_walk, shortest_paths
from models.layers.taps import Mark

GRID = 1e8 / math.pi  # numbers are compared on a grid of an irrational step, on whose borders no fraction lies
WALKS = (3, 5, 8)
SAME = 1e-9  # outputs of a network that differ by less, relative to their size, are the same


class Graph(NamedTuple):
    """A graph without attributes: (2, E) edges, each direction of an undirected one listed, and how many nodes."""

    edges: Array
    nodes: int


def union(*graphs: Graph) -> Graph:
    """Return the graphs side by side as one."""
    starts = np.cumsum([0, *(g.nodes for g in graphs)])
    return Graph(np.concatenate([g.edges + s for g, s in zip(graphs, starts)], axis=1), int(starts[-1]))


def parts(edges: Array, batch: Array) -> list[Graph]:
    """Return the graphs of a batch, each with its nodes numbered from 0; (2, E), (N,)."""
    found = []
    for g in np.unique(batch):
        mine = batch == g
        number = np.cumsum(mine) - 1
        found.append(Graph(number[edges[:, mine[edges[0]]]], int(mine.sum())))
    return found


def mixed(numbers: Array) -> Array:
    """Return well-spread 64-bit numbers, a bijection (splitmix64), so that sums of them stand for multisets."""
    with np.errstate(over="ignore"):
        z = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def refine(edges: Array, colours: Array) -> Array:
    """Do one round of colour refinement; (2, E), (N,) int -> (N,) int.

    A node reads the colours of those that send to it. The new colours are numbered 0, 1, ... by the hash of what they
    stand for and never by the order of the nodes; two different multisets get one hash with a chance of about 2^-64.
    """
    heard = np.zeros(len(colours), np.uint64)
    np.add.at(heard, edges[1], mixed(colours[edges[0]]))
    with np.errstate(over="ignore"):
        signature = mixed(mixed(colours) * np.uint64(3) + mixed(heard))
    return np.unique(signature, return_inverse=True)[1].reshape(-1)


def colours(edges: Array, nodes: int, rounds: int | None = None, start: Array | None = None) -> list[Array]:
    """Return the colours of the nodes after 0, 1, ... rounds, each (N,) int64.

    Args:
        rounds: how many; None goes on until no colour is split any more.
        start: (N,) first colours; None gives all nodes one.

    Colours of two graphs can be compared only where both are refined together, as one graph (`union`).
    """
    found = [np.zeros(nodes, np.int64) if start is None else np.unique(start, return_inverse=True)[1].reshape(-1)]
    while rounds is None or len(found) <= rounds:
        finer = refine(edges, found[-1])
        if rounds is None and finer.max(initial=0) == found[-1].max(initial=0):
            break
        found.append(finer)
    return found


def as_multiset(rows: Array) -> tuple[Hashable, ...]:
    """Return rows of numbers without their order; (N, k) -> a tuple of tuples of whole numbers."""
    return tuple(sorted(tuple(row) for row in np.round(rows * GRID).astype(np.int64).tolist()))


def by_distances(graph: Graph) -> Hashable:
    """Return the multiset, over nodes, of the multisets of their distances to all nodes."""
    return as_multiset(np.sort(shortest_paths(graph.edges, graph.nodes), axis=1).astype(np.float64))


def by_walks(steps: int) -> Callable[[Graph], Hashable]:
    """Return the separator by the multiset of the return probabilities after 1..steps steps."""
    return lambda graph: as_multiset(random_walk(graph.edges, graph.nodes, steps))


def by_spectrum(graph: Graph) -> Hashable:
    """Return the eigenvalues of the normalised Laplacian."""
    return as_multiset(np.linalg.eigvalsh(normalised_laplacian(graph.edges, graph.nodes).toarray())[:, None])


SEPARATORS: dict[str, Callable[[Graph], Hashable]] = {
    "SPD": by_distances,
    **{f"RWPE k={k}": by_walks(k) for k in WALKS},
    "spectrum": by_spectrum,
}


def wl_separates(first: Graph, second: Graph) -> bool:
    """Return whether 1-WL tells two graphs apart: whether some colour is not as frequent in both."""
    last = colours(*union(first, second))[-1]
    parts, most = (last[: first.nodes], last[first.nodes :]), last.max(initial=0) + 1
    counts = [np.bincount(part, minlength=most) for part in parts]
    return bool((counts[0] != counts[1]).any())


def classes(graphs: list[Graph], separator: Callable[[Graph], Hashable] | None = None) -> int:
    """Return how many kinds of graphs a separator sees in a list; None is 1-WL."""
    if separator is not None:
        return len({separator(graph) for graph in graphs})
    kinds: list[Graph] = []
    for graph in graphs:
        if all(wl_separates(graph, kind) for kind in kinds):
            kinds.append(graph)
    return len(kinds)


def answer(model: nn.Module, needs: GraphInput, graph: Graph) -> Tensor:
    """Return what a network says of a graph whose nodes and edges all look alike, in float64.

    All features are ones, so that nothing but the structure can make a difference.

    Raises:
        ValueError: the network asks for positions, which a graph without attributes has not.
    """
    width, edges = needs.channels or 1, torch.tensor(graph.edges)
    given = {
        "x": torch.ones(graph.nodes, width, dtype=torch.float64),
        "edge_index": edges,
        "edge_attr": torch.ones(edges.shape[1], needs.edge_channels or 1, dtype=torch.float64),
        "edge_weight": torch.ones(edges.shape[1], dtype=torch.float64),
        "batch": torch.zeros(graph.nodes, dtype=torch.int64),
    }
    if missing := [name for name in needs.signals if name not in given]:
        raise ValueError(f"a graph without attributes has no {missing[0]}")
    out: Tensor = model(*(given[name] for name in needs.signals))
    return out.detach()


def difference(first: Tensor, second: Tensor) -> float:
    """Return how far two multisets of rows are apart, relative to their size; (N, C) each, infinite if N or C differ.

    The rows are matched so that the sum of squared distances is least: 0 means that they are the same.
    """
    from scipy.optimize import linear_sum_assignment

    if first.shape != second.shape:
        return math.inf
    cost = torch.cdist(first.flatten(1), second.flatten(1), compute_mode="donot_use_mm_for_euclid_dist") ** 2
    one, other = linear_sum_assignment(cost.numpy())
    size = max(float(first.norm()), float(second.norm()))
    return float(cost[one, other].sum().sqrt()) / size if size else 0.0


def verdicts(
    pair: tuple[Graph, Graph], models: Mapping[str, tuple[nn.Module, GraphInput]] | None = None
) -> dict[str, bool]:
    """Return who tells the two graphs apart: 1-WL, each separator and each network, by name.

    A network (with its card's `input`) does if its answers, as a multiset over nodes or for the graph, differ by
    more than SAME of their size. That holds of its present parameters; others may do better.
    """
    first, second = pair
    told = {"1-WL": wl_separates(first, second)}
    told |= {name: separator(first) != separator(second) for name, separator in SEPARATORS.items()}
    for name, (model, needs) in (models or {}).items():
        weights = next((p.dtype for p in model.parameters()), torch.float64)
        was_training = model.training
        model.eval().double()
        try:
            with torch.no_grad():
                a, b = answer(model, needs, first), answer(model, needs, second)
        finally:
            model.to(weights).train(was_training)
        told[name] = difference(a, b) > SAME
    return told


class Histogram(nn.Module):
    """Count the nodes of each colour in each graph; colours (N, 1), batch (N,) -> (graphs, colours)."""

    out_field = INVARIANT

    def forward(self, marks: Tensor, batch: Tensor) -> Tensor:
        number = marks[:, 0].long()
        most = int(number.max()) + 1 if len(number) else 1
        counts = marks.new_zeros(graphs_in(batch), most)
        return counts.index_put_((batch, number), marks.new_ones(len(number)), accumulate=True)


class WLColours(nn.Module):
    """Colour refinement on one graph or several; x (N, channels) -> the last histogram, (graphs, colours).

    Nodes with the same row of x begin with the same colour. There is nothing to learn and nothing to differentiate.
    """

    def __init__(self, rounds: int) -> None:
        super().__init__()
        self.rounds = rounds
        for k in range(rounds + 1):
            self.add_module(f"colours{k}", Mark(NODE))
            self.add_module(f"histogram{k}", Histogram())

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        start = np.unique(x.detach().cpu().numpy(), axis=0, return_inverse=True)[1].reshape(-1)
        found = colours(as_array(edge_index), len(x), self.rounds, start)
        counts = x.new_zeros(0)
        for k, numbers in enumerate(found):
            marks = self.get_submodule(f"colours{k}")(torch.as_tensor(numbers, dtype=x.dtype, device=x.device)[:, None])
            counts = self.get_submodule(f"histogram{k}")(marks, batch)
        return counts


def build(rounds: float = 3) -> WLColours:
    """Build the network with so many rounds."""
    return WLColours(int(rounds))


CARD = Card(
    name="wl-colours",
    title="Colour refinement, 1-WL",
    rows=("N7",),
    groups=("permutation",),
    reference=(
        'Weisfeiler and Leman, 1968; Xu, Hu, Leskovec, Jegelka, "How powerful are graph neural networks?", 2019, '
        "section 3; Ying et al., 2021, appendix A"
    ),
    equation=(
        "c₀(u) = the same for all nodes that look alike\nc_t(u) = number of ( c_{t−1}(u), {{ c_{t−1}(v) : v ∈ N_u }} )"
    ),
    summary=(
        "Go from colours0 to the last round: nodes with the same colour are the same to every message-passing network "
        "of so many layers. On two graphs at once, histograms that stay equal row for row are graphs that "
        "no such network can tell apart. Numbers of colours do not depend on the order of the nodes."
    ),
    build=build,
    input=GraphInput(channels=1, signals=("x", "edge_index", "batch"), features="constant"),
    domain="graph",
    params=(Param("rounds", "Rounds", 3, 1, 12, whole=True),),
    sample="wl-decalin",
    source=(refine, colours),
)
