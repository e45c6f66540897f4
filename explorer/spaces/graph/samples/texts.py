"""Graphs made from a text: "graph:40x90" (nodes x edges), "graph:40x90x6" (attributes too), "sbm:40,40,40:0.3:0.02"."""

from __future__ import annotations

import re
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample
from explorer.spaces.graph.sample import graph_sample
from explorer.spaces.graph.samples.edges import both_ways, seeds_of
from explorer.work.limits import MAX_LISTED, MAX_NODES

Generator = np.random.Generator

_GRAPH = re.compile(r"graph:([0-9]{1,12})x([0-9]{1,12})(?:x([0-9]{1,6}))?", re.ASCII)
_BLOCKS = re.compile(r"sbm:([0-9]{1,9}(?:,[0-9]{1,9})*):([0-9.]+(?:e-?[0-9]+)?):([0-9.]+(?:e-?[0-9]+)?)", re.ASCII)
_MOST_CHANNELS = 4096


def is_graph_text(text: str) -> bool:
    """Return whether `text` describes a graph (well-formed or not) rather than a sample or a file."""
    return text.startswith(("graph:", "sbm:"))


def graph_sample_text(text: str, seed: int = 0) -> Sample:
    """Make the graph that `text` describes; the same seed gives the same graph.

    "graph:NxM" has N nodes and M different undirected edges, none a self-loop, chosen uniformly; "graph:NxMxC" also
    has C normally distributed attributes. "sbm:SIZES:p:q" joins nodes of one block with probability p and others
    with q; one node of each of the blocks is told.

    Raises:
        ValueError: malformed, impossible, or too large.
    """
    if seed < 0:
        raise ValueError(f"the seed must be 0 or more, not {seed}")
    if text.startswith("sbm:"):
        return _blocks(text, seed)
    match = _GRAPH.fullmatch(text)
    if match is None:
        raise ValueError(
            f"cannot read {text!r} as a graph; write it like 'graph:40x90' (nodes x edges) or 'graph:40x90x6' "
            "(with 6 attributes)"
        )
    nodes, edges, channels = int(match[1]), int(match[2]), int(match[3] or 0)
    most = nodes * (nodes - 1) // 2
    if wrong := graph_excess(nodes, 2 * edges):
        raise ValueError(f"{text!r} is not possible: {wrong}")
    if edges > most:
        raise ValueError(f"{text!r} is not possible: {nodes} nodes have at most {most} different edges")
    if channels > _MOST_CHANNELS or channels * nodes > 2**28:
        raise ValueError(f"{text!r} is not possible: {nodes} times {channels} attributes are too many")
    generator = np.random.default_rng(seed)
    index = random_graph(nodes, edges, generator)
    x = generator.standard_normal((nodes, channels)).astype(np.float32) if channels else None
    return graph_sample(
        text, x, index, nodes=nodes, title=f"Random graph, {nodes} nodes, {edges} edges", source=f"seed {seed}"
    )


def graph_excess(nodes: int, listed: int) -> str:
    """Return what is wrong with a graph of this size as a clause, or ""; `listed` counts both directions."""
    if nodes < 1:
        return "it has no nodes"
    if nodes > MAX_NODES:
        return f"it has {nodes} nodes and the most is {MAX_NODES}"
    if listed > MAX_LISTED:
        return f"it has {listed} listed edges (both directions counted) and the most is {MAX_LISTED}"
    return ""


def _distinct(total: int, count: int, generator: Generator) -> NDArray[np.int64]:
    """Draw `count` different numbers below `total`, in ascending order."""
    if total <= 4 * count or total < 10_000:
        return np.sort(generator.permutation(total)[:count]).astype(np.int64)
    drawn = np.unique(generator.integers(0, total, count))
    while len(drawn) < count:
        drawn = np.unique(np.concatenate([drawn, generator.integers(0, total, count - len(drawn))]))
    return drawn


def _triangle(number: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (count, 2) the pairs i < j with j (j - 1) / 2 + i = number."""
    j = ((1 + np.sqrt(1 + 8 * number.astype(np.float64))) / 2).astype(np.int64)
    # the square root is rounded: one step either way
    j -= j * (j - 1) // 2 > number
    j += (j + 1) * j // 2 <= number
    return np.stack([number - j * (j - 1) // 2, j], 1)


def random_graph(nodes: int, edges: int, generator: Generator) -> NDArray[np.int64]:
    """Return edge_index (2, 2 edges) of a uniformly random simple graph."""
    pairs = _triangle(_distinct(nodes * (nodes - 1) // 2, edges, generator))
    return both_ways(pairs)[0]


def _blocks(text: str, seed: int) -> Sample:
    match = _BLOCKS.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        sizes = tuple(int(size) for size in match[1].split(","))
        inside, across = float(match[2]), float(match[3])
    except ValueError:
        raise ValueError(
            f"cannot read {text!r} as a block model; write it like 'sbm:40,40,40:0.3:0.02' (sizes, probability of an "
            "edge within a block and between two)"
        ) from None
    if max(inside, across) > 1:
        raise ValueError(f"{text!r} is not possible: a probability is at most 1")
    nodes, within = sum(sizes), sum(s * (s - 1) // 2 for s in sizes)
    expected = 2 * (inside * within + across * (nodes * (nodes - 1) // 2 - within))
    if wrong := graph_excess(nodes, int(expected)):
        raise ValueError(f"{text!r} is not possible: {wrong}")
    if min(sizes) < 1:
        raise ValueError(f"{text!r} is not possible: a block has no nodes")
    return block_model(text, sizes, inside, across, seed)


def block_model(name: str, sizes: tuple[int, ...], inside: float, across: float, seed: int) -> Sample:
    """Make a stochastic block model (Holland, Laskey, Leinhardt 1983) with one told node in each block."""
    generator = np.random.default_rng(seed)
    start = np.concatenate([[0], np.cumsum(sizes)])
    pairs = []
    for a, b in combinations_with_replacement(range(len(sizes)), 2):
        total = sizes[a] * (sizes[a] - 1) // 2 if a == b else sizes[a] * sizes[b]
        number = _distinct(total, int(generator.binomial(total, inside if a == b else across)), generator)
        ends = _triangle(number) if a == b else np.stack(np.divmod(number, sizes[b]), 1)
        pairs.append(ends + np.array([start[a], start[b]]))
    index, _ = both_ways(np.concatenate(pairs))
    label = np.repeat(np.arange(len(sizes)), sizes)
    told = "the node with the most edges of each block is told"
    return graph_sample(
        name, None, index, nodes=len(label), label=label, seeds=seeds_of(label, index), source=f"seed {seed}",
        title=f"Block model {', '.join(map(str, sizes))}",
        notes=(f"edges with probability {inside:g} within a block and {across:g} between two", told),
    )  # fmt: skip
