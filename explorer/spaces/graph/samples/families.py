"""Graphs made by a rule or by a seed: paths, rings, trees, grids, bottlenecks, random graphs, blocks, batches."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.graph.sample import graph_sample
from explorer.spaces.graph.samples.edges import both_ways
from explorer.spaces.graph.samples.texts import block_model, random_graph
from explorer.work.eigenspaces import ranks

Pairs = NDArray[np.int64]


def _ends(*nodes: int, count: int) -> NDArray[np.int64]:
    """Seeds at the given nodes: class 0, class 1, ..."""
    seeds = np.full(count, -1, np.int64)
    seeds[list(nodes)] = np.arange(len(nodes))
    return seeds


def _make(name: str, title: str, nodes: int, pairs: Pairs, source: str = "computed", **signals: Any) -> Sample:
    return graph_sample(name, None, both_ways(pairs)[0], nodes=nodes, title=title, source=source, **signals)


def path(nodes: int = 20) -> Sample:
    """Make nodes in a row: the longest way that a graph of its size can have."""
    at = np.arange(nodes)
    line = np.stack([np.linspace(-1, 1, nodes), np.zeros(nodes)], 1)
    pairs = np.stack([at[:-1], at[1:]], 1)
    return _make(
        f"path-{nodes}", f"Path of {nodes}", nodes, pairs, position=line, seeds=_ends(0, nodes - 1, count=nodes)
    )


def circle(nodes: int, radius: float = 1.0, centre: tuple[float, float] = (0.0, 0.0)) -> NDArray[np.float64]:
    """Return (nodes, 2) places on a circle, the first at the top, then clockwise."""
    angle = np.pi / 2 - 2 * np.pi * np.arange(nodes) / nodes
    return np.asarray(np.stack([np.cos(angle), np.sin(angle)], 1) * radius + np.asarray(centre))


def ring(nodes: int = 16) -> Sample:
    """Make a cycle: every node looks like every other."""
    at = np.arange(nodes)
    return _make(
        f"ring-{nodes}", f"Ring of {nodes}", nodes, np.stack([at, (at + 1) % nodes], 1), position=circle(nodes),
        seeds=_ends(0, nodes // 2, count=nodes),
    )  # fmt: skip


def tree(depth: int = 5) -> Sample:
    """Make the complete binary tree: the number of nodes in reach doubles with every step from the root."""
    count = 2**depth - 1
    child = np.arange(1, count)
    level = np.floor(np.log2(np.arange(count) + 1)).astype(int)
    across = (np.arange(count) + 1 - 2**level + 0.5) / 2**level * 2 - 1
    position = np.stack([across, 1 - 2 * level / (depth - 1)], 1)
    return _make(
        "tree", "Binary tree", count, np.stack([(child - 1) // 2, child], 1), position=position,
        seeds=_ends(2 ** (depth - 1) - 1, count - 1, count=count), notes=("seeds: the two outermost leaves",),
    )  # fmt: skip


def grid_graph(side: int = 8) -> Sample:
    """Make the square grid as a graph: an image's pixels and their four neighbours."""
    at = np.arange(side * side).reshape(side, side)
    pairs = np.concatenate(
        [np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()], 1), np.stack([at[:-1].ravel(), at[1:].ravel()], 1)]
    )
    y, x = np.divmod(np.arange(side * side), side)
    position = np.stack([x, side - 1 - y], 1) / (side - 1) * 2 - 1
    return _make(
        "grid-graph", f"Grid {side}x{side}", side * side, pairs, position=position,
        seeds=_ends(0, side * side - 1, count=side * side),
    )  # fmt: skip


def _clique(start: int, size: int) -> Pairs:
    first, second = np.triu_indices(size, 1)
    return np.stack([first, second], 1) + start


def bottleneck(size: int = 10, bridge: int = 3) -> Sample:
    """Make a barbell: two cliques joined by a thin path, through which everything must pass."""
    count = 2 * size + bridge
    line = np.stack([np.arange(size - 1, size + bridge), np.arange(size, size + bridge + 1)], 1)
    pairs = np.concatenate([_clique(0, size), line, _clique(size + bridge, size)])
    label = np.where(np.arange(count) < size + (bridge + 1) // 2, 0, 1)
    # the ends of the path face each other
    left = np.roll(circle(size, 0.5), size // 4, 0)
    order = np.argsort(ranks(left[:, 0], 1e-9), kind="stable")  # two by two they lie equally far to the left
    left = left[order] + (-1.2, 0)
    right = -left[::-1]
    middle = np.stack([np.linspace(left[-1, 0], right[0, 0], bridge + 2)[1:-1], np.zeros(bridge)], 1)
    return _make(
        "bottleneck", "Bottleneck (barbell)", count, pairs, position=np.concatenate([left, middle, right]), label=label,
        seeds=_ends(0, count - 1, count=count), notes=("seeds: one node of each clique, far from the bridge",),
        source="U. Alon, E. Yahav, 2021; J. Topping et al., 2022: over-squashing",
    )  # fmt: skip


def erdos_renyi() -> Sample:
    """Make a random graph of 60 nodes and 150 edges."""
    index = random_graph(60, 150, np.random.default_rng(4))
    return graph_sample(
        "erdos-renyi", None, index, nodes=60, title="Random graph", source="seed 4", notes=("G(60, 150)",)
    )


def blocks(name: str, sizes: tuple[int, ...], inside: float, across: float, seed: int) -> Sample:
    """Make a stochastic block model with one told node in each community."""
    return block_model(name, sizes, inside, across, seed)


def cycles() -> Sample:
    """Make a batch of small graphs as one disconnected graph: rings of 3 to 8 nodes, each its own graph."""
    pairs, batch, places, start = [], [], [], 0
    for k, nodes in enumerate(range(3, 9)):
        at = np.arange(nodes)
        pairs.append(np.stack([at, (at + 1) % nodes], 1) + start)
        batch += [k] * nodes
        places.append(circle(nodes, 0.8, (2.2 * (k % 3), -2.2 * (k // 3))))
        start += nodes
    return _make(
        "cycles", "Batch of rings", start, np.concatenate(pairs), batch=np.array(batch),
        position=np.concatenate(places), label=np.array(batch) % 2,
        notes=("six graphs; class 1 where a ring has an even number of nodes",),
    )  # fmt: skip


def _spec(name: str, title: str, make: Callable[[], Sample], summary: str, *tags: str) -> SampleSpec:
    return SampleSpec(name, title, "graph", make, summary, tags)


_FOUR = partial(blocks, "sbm-4", (30, 30, 30, 30), 0.30, 0.02, 7)
_THREE = partial(blocks, "sbm-3", (40, 40, 40), 0.25, 0.02, 3)
_HARD = partial(blocks, "sbm-hard", (40, 40, 40, 40), 0.22, 0.06, 11)
_LARGE = partial(blocks, "sbm-large", (500, 500, 500, 500), 0.02, 0.001, 5)

_RANDOM = ("classes", "random")
SAMPLES = (
    _spec("sbm-4", "Four communities", _FOUR, "120 nodes in four blocks, one told node in each.", *_RANDOM),
    _spec("sbm-3", "Three communities", _THREE, "120 nodes in three blocks, one told node in each.", *_RANDOM),
    _spec("sbm-hard", "Four communities, hard", _HARD, "160 nodes; nearly as many edges leave a block.", *_RANDOM),
    _spec("sbm-large", "Four communities, 2000 nodes", _LARGE, "2000 nodes in four blocks.", *_RANDOM),
    _spec("path-20", "Path of 20", path, "News from one end reaches the other after nineteen layers."),
    _spec("ring-16", "Ring of 16", ring, "Turning it is a permutation that leaves the graph as it is."),
    _spec("tree", "Binary tree", tree, "31 nodes: exponentially many senders for one vector at the root."),
    _spec("grid-graph", "Grid 8x8", grid_graph, "An image's pixels as a graph: convolution becomes message passing."),
    _spec("bottleneck", "Bottleneck (barbell)", bottleneck, "Two cliques, a thin path between them: over-squashing."),
    _spec("erdos-renyi", "Random graph", erdos_renyi, "60 nodes, 150 edges, no structure at all.", "random"),
    _spec("cycles", "Batch of rings", cycles, "Six graphs in one batch, and an answer for each.", "batch", "classes"),
)  # fmt: skip
