"""Automorphisms of the tree."""

from tree.transforms import Swap

from equiscope.transforms import Element, Situation, Symmetry


def elements(name: str, situation: Situation) -> list[tuple[str, Element]]:
    inner = situation.size[0] // 2
    single = [(f"swap at {k}", Swap((k,))) for k in range(min(inner, situation.count))]
    word = tuple(int(k) for k in situation.rng.integers(0, inner, 5))
    return [*single, (f"swaps {word}", Swap(word))]


SYMMETRY = Symmetry("swaps", "swaps of the children of a joint", ("bintree",), r"swaps", elements)
