"""GraphRNN: a graph as a sequence, one node after the other, and for each node one edge after the other.

You, Ying, Ren, Hamilton, Leskovec, "GraphRNN: Generating Realistic Graphs with Deep Auto-regressive Models", 2018,
eq. (2)-(5), algorithm 1. Nodes stand in an order π; S_i says which of the M nodes before it node i is joined to, the
nearest first:

    p(S) = Π_i p(S_i | S_<i),   h_i = GRU(h_{i−1}, S_{i−1}),   p(S_i | h_i) = Π_j p(S_ij | S_i,<j, h_i)

A row of zeros after the last node ends the graph. p(G) is the sum of p(S) over all orders: that of a single order
depends on it, so no law of renumbering holds, and how far it is from one is what there is to see.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.declare.types.fields import PAIR
from explorer.spaces.graph.fields import GRAPH, NODE
from explorer.spaces.graph.network.form import GraphInput
from explorer.work.training.course import Course
from models.layers.seeded import round_to_half, seeded
from models.layers.taps import Tap
from models.training.learning import Progress, learning, one_cycle

BEFORE = 19  # nodes before a node that it can be joined to
NODE_STATE, EDGE_STATE = 48, 16
SIZES = (12, 20)  # nodes of a graph that is learned
MOST = 200
LEARNED, JUDGED = 400, 100
EPOCHS, BATCH = 160, 32
ORDERS = ("as numbered", "breadth first")
Adjacent = NDArray[np.bool_]


def breadth_first(adjacent: Adjacent, first: int = 0) -> NDArray[np.int64]:
    """Return the nodes in the order in which a search from `first` meets them, part by part; ties by number."""
    order: list[int] = []
    seen = np.zeros(len(adjacent), bool)
    for start in (first, *range(len(adjacent))):
        if start >= len(adjacent) or seen[start]:
            continue
        waiting = deque([start])
        seen[start] = True
        while waiting:
            node = waiting.popleft()
            order.append(node)
            for other in np.flatnonzero(adjacent[node] & ~seen):
                seen[other] = True
                waiting.append(int(other))
    return np.array(order, np.int64)


def rows_of(adjacent: Adjacent) -> NDArray[np.float32]:
    """Return S, (N, M): row i has the nodes before node i, the nearest first; row 0 is empty."""
    count = len(adjacent)
    rows = np.zeros((count, BEFORE), np.float32)
    for i in range(1, count):
        near = adjacent[i, max(0, i - BEFORE) : i][::-1]
        rows[i, : len(near)] = near
    return rows


def with_end(rows: Tensor) -> Tensor:
    """Append the row of zeros that ends a graph; (B, N, M) -> (B, N + 1, M)."""
    return torch.cat([rows, rows.new_zeros(len(rows), 1, BEFORE)], 1)


class GraphRNN(nn.Module):
    """x (N, C), edge_index (2, E) -> log p(S), (1, 1); of each node the layer log_likelihood."""

    def __init__(self, order: str = "breadth first") -> None:
        super().__init__()
        self.order = order
        self.node_rnn = nn.GRU(BEFORE, NODE_STATE, batch_first=True)
        self.start = nn.Linear(NODE_STATE, EDGE_STATE)
        self.edge_rnn = nn.GRU(1, EDGE_STATE, batch_first=True)
        self.edge = nn.Linear(EDGE_STATE, 1)
        self.state = Tap(NODE)
        self.probability = Tap(PAIR)
        self.log_likelihood = Tap(NODE)
        self.total = Tap(GRAPH)

    def logits(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the states (B, N, h) before each node, and the logits of its edges, (B, N, M), told those before.

        Shapes:
            rows (B, N, M), of which row i is told to what comes after it alone.
        """
        batch, count, _ = rows.shape
        told = torch.cat([rows.new_ones(batch, 1, BEFORE), rows[:, :-1]], 1)  # a row of ones begins the graph
        # by `forward`: rows in an order are no field on the nodes, and the taps show what of them is
        states, _ = self.node_rnn.forward(told)  # (B, N, h)
        flat = rows.reshape(batch * count, BEFORE)
        before = torch.cat([flat.new_ones(len(flat), 1), flat[:, :-1]], 1)[..., None]
        begin = self.start.forward(states).reshape(1, batch * count, EDGE_STATE)
        inner, _ = self.edge_rnn.forward(before, begin.contiguous())
        return states, self.edge.forward(inner)[..., 0].reshape(batch, count, BEFORE)

    def nats(self, rows: Tensor, sizes: Tensor) -> Tensor:
        """Return log p of each row, (B, N + 1), with the row of zeros that ends a graph; 0 beyond it."""
        ended = with_end(rows)
        return self._counted(self.logits(ended)[1], ended, sizes)

    def _counted(self, logits: Tensor, ended: Tensor, sizes: Tensor) -> Tensor:
        nats = -F.binary_cross_entropy_with_logits(logits, ended, reduction="none")  # (B, N + 1, M)
        node = torch.arange(ended.shape[1], device=ended.device)
        known = torch.arange(BEFORE, device=ended.device)[None] < node[:, None]  # so many nodes come before it
        there = (node[None] <= sizes[:, None]) & (node[None] > 0)
        return (nats * known[None]).sum(2) * there

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        count = len(x)
        adjacent = np.zeros((count, count), bool)
        a, b = edge_index.detach().cpu().numpy()
        adjacent[a, b] = adjacent[b, a] = True
        order = breadth_first(adjacent) if self.order == "breadth first" else np.arange(count)
        rows = torch.from_numpy(rows_of(adjacent[np.ix_(order, order)])).to(x)[None]
        place = torch.from_numpy(np.argsort(order)).to(x.device)  # where each node stands in the order
        ended = with_end(rows)
        states, logits = self.logits(ended)
        self.state(states[0, :-1][place])
        self.probability(self._pairs(torch.sigmoid(logits[0, :-1]))[place][:, place][None])
        found = self._counted(logits, ended, torch.tensor([count], device=x.device))[0]
        # the end of the graph belongs to the last node
        each = torch.cat([found[:-2], found[-2:].sum(0, keepdim=True)]) if count > 1 else found[:1] + found[1:]
        nodes = self.log_likelihood(each[place][:, None])
        return self.total(nodes.sum(0, keepdim=True))

    def _pairs(self, probabilities: Tensor) -> Tensor:
        """Return the probabilities of edges (N, M) as a matrix between nodes in their order, (N, N)."""
        count = len(probabilities)
        matrix = probabilities.new_zeros(count, count)
        for back in range(1, min(BEFORE, count - 1) + 1):
            later = torch.arange(back, count, device=matrix.device)
            matrix[later, later - back] = matrix[later - back, later] = probabilities[back:, back - 1]
        return matrix

    @torch.no_grad()
    def drawn(self, count: int, seed: int, most: int = 40) -> list[Adjacent]:
        """Draw graphs, node by node and edge by edge, as adjacency matrices."""
        chance = torch.Generator().manual_seed(seed)
        rows = torch.zeros(count, most + 1, BEFORE)
        told, state = torch.ones(count, 1, BEFORE), torch.zeros(1, count, NODE_STATE)
        sizes = torch.full((count,), most)
        going = torch.ones(count, dtype=torch.bool)
        for i in range(most + 1):
            out, state = self.node_rnn(told, state)
            row = torch.zeros(count, BEFORE)
            inner, last = self.start(out[:, 0])[None].contiguous(), torch.ones(count, 1, 1)
            for j in range(min(i, BEFORE)):
                answer, inner = self.edge_rnn(last, inner)
                row[:, j] = torch.bernoulli(torch.sigmoid(self.edge(answer[:, 0]))[:, 0], generator=chance)
                last = row[:, j, None, None]
            if i:
                ended = going & (row.sum(1) == 0)
                sizes[ended] = i
                going &= ~ended
            rows[:, i], told = row, row[:, None]
        return [_adjacent(r.numpy(), int(n)) for r, n in zip(rows, sizes)]


def _adjacent(rows: NDArray[np.float32], count: int) -> Adjacent:
    found = np.zeros((count, count), bool)
    for i in range(1, count):
        for back in range(1, min(i, BEFORE) + 1):
            found[i, i - back] = found[i - back, i] = rows[i, back - 1] > 0
    return found


def two_communities(chance: np.random.Generator) -> Adjacent:
    """Draw a graph of two communities, dense inside, with one or two edges between them, as in the paper's data."""
    count = int(chance.integers(SIZES[0], SIZES[1] + 1))
    half = count // 2
    block = np.arange(count) < half
    upper = np.triu(chance.random((count, count)) < 0.7 * (block[:, None] == block[None]), 1)
    for _ in range(int(chance.integers(1, 3))):
        upper[int(chance.integers(half)), int(chance.integers(half, count))] = True
    return upper | upper.T


def graphs(count: int, seed: int) -> list[Adjacent]:
    """Return graphs to learn (seed 0) or to judge by (another seed), always the same."""
    chance = np.random.default_rng([seed, 11])
    return [two_communities(chance) for _ in range(count)]


def ordered(adjacent: Adjacent, order: str, chance: np.random.Generator) -> Adjacent:
    """Return a graph in a random order, or in that of a search from a random node of it."""
    at = chance.permutation(len(adjacent))
    adjacent = adjacent[np.ix_(at, at)]
    if order == "breadth first":
        at = breadth_first(adjacent)
        adjacent = adjacent[np.ix_(at, at)]
    return adjacent


def batch_of(some: list[Adjacent], order: str, chance: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Return rows (B, N, M) of graphs in orders of their own, and how many nodes each has."""
    rows = np.zeros((len(some), max(map(len, some)), BEFORE), np.float32)
    for k, one in enumerate(some):
        rows[k, : len(one)] = rows_of(ordered(one, order, chance))
    return torch.from_numpy(rows), torch.tensor([len(one) for one in some])


def train(
    build: Callable[[], GraphRNN], epochs: int | None = None, seed: int = 0, progress: Progress | None = None
) -> tuple[nn.Module, dict[str, float]]:
    """Train on graphs of two communities, each in another order whenever it is learned from."""
    epochs = EPOCHS if epochs is None else epochs
    with learning():
        network, learned = seeded(build, seed), graphs(LEARNED, 0)
        chance = np.random.default_rng([seed, 12])
        optimizer = torch.optim.Adam(network.parameters(), lr=6e-3)
        course = Course(
            network, optimizer, one_cycle(), chance, epochs=epochs, examples=LEARNED, batch=BATCH, progress=progress,
            told="loss {:.3f}".format,
        )  # fmt: skip
        for rows in course:
            some = [learned[k] for k in rows.tolist()]
            loss = -network.nats(*batch_of(some, network.order, chance)).sum(1).mean()
            course.learn(loss, weight=len(some), clip=5.0)
        round_to_half(network)
        network.eval()
        with torch.no_grad():
            return network, judged(network)


# how alike two sets of graphs are ------------------------------------------------------------------------------
def degrees(adjacent: Adjacent) -> NDArray[np.float64]:
    """Return the shares of nodes of each degree, (41,)."""
    return np.bincount(np.minimum(adjacent.sum(1), 40), minlength=41) / max(1, len(adjacent))


def clusterings(adjacent: Adjacent) -> NDArray[np.float64]:
    """Return the shares of nodes whose clustering coefficient lies in each tenth of [0, 1], (10,)."""
    a = adjacent.astype(float)
    degree = a.sum(1)
    triangles = np.diag(a @ a @ a)
    found = triangles / np.maximum(degree * (degree - 1), 1.0)
    return np.histogram(found, 10, (0.0, 1.0))[0] / max(1, len(adjacent))


def discrepancy(one: list[Adjacent], other: list[Adjacent], of: Callable[[Adjacent], NDArray[np.float64]]) -> float:
    """Return the squared maximum mean discrepancy of two sets, with exp(−TV²/2), TV the total variation distance."""
    a, b = (np.stack([of(g) for g in some]) for some in (one, other))

    def mean(p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
        away = 0.5 * np.abs(p[:, None] - q[None]).sum(2)
        return float(np.exp(-0.5 * away**2).mean())

    return mean(a, a) + mean(b, b) - 2 * mean(a, b)


def swapped(adjacent: Adjacent, chance: np.random.Generator) -> Adjacent:
    """Return a random graph with the same degrees: the ends of pairs of edges exchanged, ten times as often."""
    found = adjacent.copy()
    edges = np.argwhere(np.triu(found))
    for _ in range(10 * len(edges)):
        k, m = chance.integers(0, len(edges), 2)
        (a, b), (c, d) = edges[k], edges[m] if chance.random() < 0.5 else edges[m][::-1]
        if len({int(a), int(b), int(c), int(d)}) == 4 and not found[a, d] and not found[c, b]:
            found[a, b] = found[b, a] = found[c, d] = found[d, c] = False
            found[a, d] = found[d, a] = found[c, b] = found[b, c] = True
            edges[k], edges[m] = (a, d), (c, b)
    return found


def by_order(network: GraphRNN, adjacent: Adjacent, order: str, count: int, seed: int) -> NDArray[np.float64]:
    """Return log p(S) of one graph in `count` random orders of that kind."""
    rows, sizes = batch_of([adjacent] * count, order, np.random.default_rng(seed))
    found: NDArray[np.float64] = network.nats(rows, sizes).sum(1).double().numpy()
    return found


def judged(network: nn.Module) -> dict[str, float]:
    """Return MMDs of 100 samples to 100 graphs, those of the baselines, and how far log p depends on the order."""
    assert isinstance(network, GraphRNN)
    wanted, drawn = graphs(JUDGED, 1), network.drawn(JUDGED, 0)
    chance = np.random.default_rng(5)
    others = {"": drawn, "more_data_": graphs(JUDGED, 2), "same_degrees_": [swapped(g, chance) for g in wanted]}
    found = {}
    for name, some in others.items():
        found[f"{name}degree"] = discrepancy(some, wanted, degrees)
        found[f"{name}clustering"] = discrepancy(some, wanted, clusterings)
    for order, word in zip(ORDERS, ("any", "bfs")):
        spread = [by_order(network, g, order, 100, k).std() for k, g in enumerate(wanted[:20])]
        mean = [by_order(network, g, order, 100, k).mean() for k, g in enumerate(wanted[:20])]
        found |= {f"{word}_spread": float(np.mean(spread)), f"{word}_nats": float(np.mean(mean))}
    return found


def build(order: float = 1) -> GraphRNN:
    """Build the network, which reads a graph in one of ORDERS."""
    return seeded(lambda: GraphRNN(ORDERS[int(order)]))


def matrix(model: nn.Module) -> dict[str, NDArray[np.float64]]:
    """Return graphs that it draws as matrices, beside a graph to learn from in the same kind of order."""
    assert isinstance(model, GraphRNN)
    shown = {
        f"drawn {k + 1}: nodes × nodes": one for k, one in enumerate(model.cpu().float().drawn(8, 0)) if len(one) > 1
    }
    learned = ordered(graphs(1, 0)[0], model.order, np.random.default_rng(0))
    return {title: one.astype(np.float64) for title, one in {**shown, "learned from: nodes × nodes": learned}.items()}


# Of the shipped weights (seed 0); test_graph_rnn.py measures them again.
FIGURES: dict[str, float] = {
    "degree": 0.0070,
    "clustering": 0.0118,
    "more_data_degree": 0.0013,
    "more_data_clustering": 0.0006,
    "same_degrees_clustering": 0.367,
    "any_nats": -150.7,
    "any_spread": 19.1,
    "bfs_nats": -43.4,
    "bfs_spread": 5.97,
}

CARD = Card(
    name="graph-rnn",
    title="GraphRNN: node after node, edge after edge",
    rows=("N10",),
    domain="graph",
    reference=(
        'You, Ying, Ren, Hamilton, Leskovec, "GraphRNN: Generating Realistic Graphs with Deep Auto-regressive Models", '
        "2018, equations (2) to (5)"
    ),
    equation=(
        "p(S) = Π_i p(S_i | S_1, …, S_{i−1})\nh_i = GRU(h_{i−1}, S_{i−1})\n"
        "p(S_i | h_i) = Π_j p(S_ij | S_i1, …, S_{i,j−1}, h_i)\np(G) = Σ_π p(S^π)"
    ),
    summary=(
        "A graph is read node after node, and for each node edge after edge: probability has what was expected of each "
        "pair. Renumber the nodes: log p changes, for it is that of one order of many. A search breadth first leaves "
        "fewer orders. The Matrix view has graphs that it draws."
    ),
    build=build,
    input=GraphInput(channels=None, most=MOST, features="constant"),
    sample="planted-clique",
    params=(Param("order", "Order", 1, 0, len(ORDERS) - 1, choices=ORDERS),),
    weights="graph-rnn.safetensors",
    train=partial(train, build),
    source=(breadth_first, rows_of, GraphRNN),
    matrix=matrix,
    notes=(
        f"{EPOCHS} epochs on {LEARNED} graphs of two communities of 12 to 20 nodes. Squared MMD of 100 samples to 100 "
        f"graphs not learned: degrees {FIGURES['degree']:.3f}, clustering {FIGURES['clustering']:.3f}; of other graphs "
        f"of the data {FIGURES['more_data_degree']:.3f} and {FIGURES['more_data_clustering']:.3f}, of random graphs "
        f"with the same degrees 0 and {FIGURES['same_degrees_clustering']:.3f}.",
        f"log p of a graph varies by {FIGURES['bfs_spread']:.0f} nats (standard deviation) over searches breadth "
        f"first, about {FIGURES['bfs_nats']:.0f}, and by {FIGURES['any_spread']:.0f} over any orders, about "
        f"{FIGURES['any_nats']:.0f}.",
    ),
)
