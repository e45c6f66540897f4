"""The symmetry of sets and graphs: every numbering of the nodes is as good as any other."""

from __future__ import annotations

from explorer.declare.elements import Element
from explorer.declare.symmetries import Situation, Symmetry
from explorer.spaces.graph.elements.relabelling import NUMBERED, Word, words


def _permutations(name: str, situation: Situation) -> list[tuple[str, Element]]:
    count = max(3, situation.count)
    seeds = [int(s) for s in situation.rng.integers(1, 10_000, count - 1)]
    # one transposition, whose fault is seen in two rows alone, and shuffles of everything
    return [
        ("swap 0 1", words([Word("swap", (0.0, 1.0))])),
        *((f"shuffle {seed}", words([Word("permute", (float(seed),))])) for seed in dict.fromkeys(seeds)),
    ]


SYMMETRY = Symmetry(
    "permutation", "renumbering of nodes, reordering of edges", NUMBERED, r"permutation|S_?n", _permutations,
    trials=(("permutation", "Renumberings of the nodes"),),
)  # fmt: skip
