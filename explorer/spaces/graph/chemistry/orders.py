"""Orders of bonds by the usual valences, where a file tells places alone: single, double, triple, aromatic.

Every atom gets as many bonds as its valence asks for. Where one way alone does that, it is the one; bonds of a ring of
five to seven that are single in one way and double in another are aromatic. Of a molecule in which no way does, or more
ways than are looked through, nothing is said: its bonds stay single. Whoever calls this knows that no atom is missing:
where hydrogens or the next cell of a crystal are left out, others would seem to lack bonds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample
from explorer.spaces.graph.chemistry.atoms import SYMBOLS, element_of
from explorer.spaces.graph.chemistry.bonds import bond_kinds

VALENCES = {1: 1, 5: 3, 6: 4, 7: 3, 8: 2, 9: 1, 14: 4, 15: 3, 16: 2, 17: 1, 35: 1, 53: 1}
RINGS = range(5, 8)
AROMATIC, HIGHEST = 4, 3
FEW = 4  # atoms of a molecule that may have no hydrogen; of larger ones it is likely to have been left out
TOLD = "orders of bonds by the usual valences"
MOST_ATOMS, MOST_WAYS, MOST_STEPS = 2000, 512, 20_000

Index = NDArray[np.int64]


def orders_by_valence(numbers: NDArray[np.integer], bonds: Index) -> Index | None:
    """Return the kind of each bond (2, B), 1 to 3 and 4 for aromatic; None where they all stay single."""
    kinds = np.ones(bonds.shape[1], np.int64)
    if not bonds.size or len(numbers) > MOST_ATOMS:
        return None
    degree = np.bincount(bonds.ravel(), minlength=len(numbers))
    for atoms in _molecules(len(numbers), bonds):
        if any(int(numbers[k]) not in VALENCES for k in atoms) or (len(atoms) > FEW and 1 not in numbers[atoms]):
            continue
        lacking = {k: VALENCES[int(numbers[k])] - int(degree[k]) for k in atoms}
        inside = [b for b in range(bonds.shape[1]) if int(bonds[0, b]) in lacking]
        ways = _ways(lacking, [(int(bonds[0, b]), int(bonds[1, b])) for b in inside])
        if ways is None or not len(ways):
            continue
        for column, b in enumerate(inside):
            low, high = int(ways[:, column].min()), int(ways[:, column].max())
            ring = low != high and _ring(bonds, b) in RINGS
            kinds[b] = AROMATIC if ring else 1 + int(ways[0, column])
    return kinds if (kinds > 1).any() else None


def drawn_kinds(sample: Sample) -> Index | None:
    """Return (edges,) of what kind each listed bond of a graph is drawn as: as it says, else by the usual valences.

    None where nodes are no atoms with places in space, or nobody tells: all bonds stay single.
    """
    if (told := bond_kinds(sample)) is not None:
        return told
    elements = [element_of(name) for name in sample.names]
    where, index = sample.signals.get("position"), np.asarray(sample.signals["edge_index"].values, np.int64)
    if (
        not elements
        or not all(elements)
        or where is None
        or where.values.shape[-1] != 3
        or "edge_attr" in sample.signals
    ):
        return None
    once = index[0] < index[1]
    number = {symbol: k for k, symbol in enumerate(SYMBOLS, 1)} | {"D": 1, "T": 1}
    kinds = orders_by_valence(np.array([number.get(e, 0) for e in elements], np.int64), index[:, once])
    if kinds is None:
        return None
    of = {(a, b): int(kind) for (a, b), kind in zip(index[:, once].T.tolist(), kinds, strict=True)}
    return np.array([of.get((min(a, b), max(a, b)), 1) for a, b in index.T.tolist()], np.int64)


def _molecules(count: int, bonds: Index) -> list[list[int]]:
    """Return the atoms of each molecule."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    joined = coo_array((np.ones(bonds.shape[1]), (bonds[0], bonds[1])), (count, count))
    found, label = connected_components(joined, directed=False)
    return [np.flatnonzero(label == k).tolist() for k in range(found)]


def _ways(lacking: Mapping[int, int], pairs: Sequence[tuple[int, int]]) -> Index | None:
    """Return (ways, bonds) how much above single each bond may be, so that no atom lacks any; None for too many."""
    if min(lacking.values()) < 0:
        return np.zeros((0, len(pairs)), np.int64)
    steps = iter(range(MOST_STEPS))
    found: list[list[int]] = []
    last = {atom: k for k, pair in enumerate(pairs) for atom in pair}  # bonds after which an atom must lack nothing

    def complete(at: int, left: dict[int, int], made: list[int]) -> Iterator[bool]:
        """Yield False where the search has to be given up."""
        if next(steps, None) is None:
            yield False
            return
        if at == len(pairs):
            found.append(made)
            yield len(found) <= MOST_WAYS
            return
        one, other = pairs[at]
        for more in range(min(left[one], left[other], HIGHEST - 1) + 1):
            after = left | {one: left[one] - more, other: left[other] - more}
            if all(not after[atom] or last[atom] > at for atom in (one, other)):
                yield from complete(at + 1, after, [*made, more])

    alone = [atom for atom, lack in lacking.items() if lack and atom not in last]
    if alone or len(pairs) > 400:  # deeper than Python goes
        return None
    if not all(complete(0, dict(lacking), [])):
        return None
    return np.array(found, np.int64).reshape(len(found), len(pairs))


def _ring(bonds: Index, bond: int) -> int:
    """Return the size of the smallest ring that a bond lies in, 0 where it lies in none."""
    start, end = (int(v) for v in bonds[:, bond])
    beside: dict[int, list[int]] = {}
    for k, (a, b) in enumerate(bonds.T.tolist()):
        if k != bond:
            beside.setdefault(a, []).append(b)
            beside.setdefault(b, []).append(a)
    seen, edge, size = {start}, [start], 1
    while edge and size < max(RINGS):
        edge = [n for at in edge for n in beside.get(at, []) if n not in seen]
        seen.update(edge)
        size += 1
        if end in seen:
            return size
    return 0
