"""Trees with one motif grown onto them: a house, a wheel or a clique, or none. What a pooling should keep is the motif.

The tree has a few chords, as many with a motif as without: so a cycle alone is no sign of a motif, and what is not
the motif says nothing of it.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.graph.sample import graph_sample
from explorer.spaces.graph.samples.edges import both_ways

Pairs = NDArray[np.int64]
CHORDS = 3  # at most
_HOUSE = ((0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4))
_WHEEL = (*((5, k) for k in range(5)), *((k, (k + 1) % 5) for k in range(5)))
_CLIQUE = tuple((a, b) for a in range(5) for b in range(a))
MOTIFS: dict[str, tuple[tuple[int, int], ...]] = {"none": (), "house": _HOUSE, "wheel": _WHEEL, "clique": _CLIQUE}


def planted(motif: str, tree: int, chance: np.random.Generator) -> tuple[Pairs, NDArray[np.bool_]]:
    """Grow a tree, every node onto an earlier one, add up to 3 chords, and join a motif to it by an edge.

    Without a motif the tree has five nodes more.

    Returns:
        pairs (edges, 2) of different nodes, none twice; member (nodes,), true on the nodes of the motif, the last ones.
    """
    inner = np.array(MOTIFS[motif], np.int64).reshape(-1, 2)
    size = int(inner.max(initial=-1)) + 1
    tree += 0 if size else 5
    pairs = [(int(chance.integers(node)), node) for node in range(1, tree)]
    chords = int(chance.integers(CHORDS + 1))
    while chords:
        a, b = sorted(map(int, chance.choice(tree, 2, replace=False)))
        if (a, b) not in pairs:
            pairs.append((a, b))
            chords -= 1
    all_pairs = np.array(pairs, np.int64)
    if size:
        door = (int(chance.integers(tree)), tree)
        all_pairs = np.concatenate([all_pairs, inner + tree, [door]])
    return all_pairs, np.arange(tree + size) >= tree


def _sample(motif: str) -> Sample:
    pairs, member = planted(motif, 18, np.random.default_rng(4))
    return graph_sample(
        f"planted-{motif}", None, both_ways(pairs)[0], nodes=len(member), title=f"A tree and a {motif}",
        label=member.astype(np.int64), source="computed, seed 4",
        notes=(f"class 1: the {int(member.sum())} nodes of the {motif}",),
    )  # fmt: skip


SAMPLES = tuple(
    SampleSpec(
        f"planted-{motif}", f"A tree and a {motif}", "graph", partial(_sample, motif),
        f"A tree with chords and one {motif}: which nodes does a pooling keep?",
        ("classes",),
    )
    for motif in MOTIFS if motif != "none"
)  # fmt: skip
