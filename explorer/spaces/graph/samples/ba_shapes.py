"""BA-Shapes: houses hung onto a graph without structure, where an explanation can be compared with the truth.

Ying, Bourgeois, You, Zitnik, Leskovec, "GNNExplainer", 2019, section 5: a Barabási-Albert graph of 300 nodes, each
new one joined to 5, and 80 houses of five nodes, each joined to a node of it; 1 % of random edges are added, as the
authors' program does. The class of a node is its role: 0 outside of a house, 1 middle, 2 bottom, 3 top.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.graph.sample import graph_sample

BASE, ATTACHED, HOUSES, RANDOM = 300, 5, 80, 0.01
WALLS = ((0, 1), (1, 2), (2, 3), (3, 0), (4, 0), (4, 1))  # of one house: 4 on top, 0 and 1 middle, 2 and 3 bottom
ROLES = (1, 1, 2, 2, 3)


@dataclass(frozen=True, slots=True, eq=False)
class Houses:
    """edge_index (2, E), both directions of every edge; role (N,); truth (E,), 1 on the walls of houses."""

    edge_index: NDArray[np.int64]
    role: NDArray[np.int64]
    truth: NDArray[np.int64]


def barabasi_albert(nodes: int, attached: int, chance: np.random.Generator) -> list[tuple[int, int]]:
    """Return the edges of a graph that grows: each new node is joined to `attached` nodes, by their degrees."""
    edges = [(0, node) for node in range(1, attached + 1)]  # a star to begin with
    ends = [node for edge in edges for node in edge]  # a node is here as often as it has edges
    for new in range(attached + 1, nodes):
        chosen: set[int] = set()
        while len(chosen) < attached:
            chosen.add(ends[int(chance.integers(len(ends)))])
        edges += [(old, new) for old in sorted(chosen)]
        ends += [node for old in sorted(chosen) for node in (old, new)]
    return edges


def houses(seed: int = 0, random: float = RANDOM) -> Houses:
    """Return the graph; another seed gives another one of the same kind. `random` edges are added, as a fraction."""
    chance = np.random.default_rng(seed)
    edges = barabasi_albert(BASE, ATTACHED, chance)
    truth = [0] * len(edges)
    for house, ground in enumerate(chance.permutation(BASE)[:HOUSES].tolist()):
        first = BASE + len(ROLES) * house
        edges += [*((first + a, first + b) for a, b in WALLS), (ground, first)]
        truth += [*([1] * len(WALLS)), 0]
    nodes = BASE + len(ROLES) * HOUSES
    joined = {(min(edge), max(edge)) for edge in edges}
    wanted = len(edges) + int(random * len(edges))
    while len(edges) < wanted:
        a, b = sorted(chance.integers(nodes, size=2).tolist())
        if a != b and (a, b) not in joined:
            joined.add((a, b))
            edges.append((a, b))
            truth.append(0)
    one_way = np.array(edges, dtype=np.int64).T
    role = np.array([0] * BASE + list(ROLES) * HOUSES, dtype=np.int64)
    return Houses(np.concatenate([one_way, one_way[::-1]], axis=1), role, np.tile(np.array(truth, dtype=np.int64), 2))


def asked(nodes: int, node: int = BASE) -> NDArray[np.float32]:
    """Return x, (nodes, 2): a column of ones, and a column that is 1 at the node whose role is to be explained."""
    x = np.zeros((nodes, 2), np.float32)
    x[:, 0], x[node, 1] = 1.0, 1.0
    return x


def ba_shapes() -> Sample:
    """Return the graph of seed 0 as a sample; asked about is the first node of the first house."""
    made = houses()
    return graph_sample(
        "ba-shapes",
        asked(len(made.role)),
        made.edge_index,
        title="BA-Shapes: 80 houses on a Barabási-Albert graph",
        label=made.role,
        source="Ying et al., 2019, section 5; drawn again with seed 0",
        notes=(
            "classes: 0 outside of a house, 1 middle, 2 bottom, 3 top of a house",
            f"x: a one for every node, and a one that marks the node to be explained, {BASE}",
        ),
    )


SAMPLES = (
    SampleSpec(
        "ba-shapes",
        "BA-Shapes: 80 houses on a Barabási-Albert graph",
        "graph",
        ba_shapes,
        "Nodes are classified by their role in a house; an explanation should find the house.",
        ("classes",),
    ),
)
