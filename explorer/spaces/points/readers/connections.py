"""Bonds that a PDB file tells in its CONECT records, as "CONECT    1    2    6    6": a bond told twice is double.

wwPDB, "Atomic Coordinate Entry Format", 3.30, asks for them where residues are not standard, so bonds of the others are
those by distance. RDKit and Open Babel tell the order of a bond by repeating the atom at its other end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

RECORD = "CONECT"
_COLUMNS = (6, 11, 16, 21, 26)  # where the numbers of atoms begin: the first is bonded to all others
_WIDE = 5
HIGHEST = 3

Told = Mapping[tuple[int, int], int]  # {the rows of two atoms, the smaller first: how many bonds are between them}


def told_bonds(records: Sequence[str], serials: Sequence[str]) -> Told:
    """Return the bonds that records tell between atoms, whose `serials` are what columns 7 to 11 call them.

    A number that no atom or several atoms have tells nothing. A bond may be told from one of its ends or from both.
    """
    counts = Counter(serials)
    rows = {serial: row for row, serial in enumerate(serials) if counts[serial] == 1}
    found = Counter[tuple[int, int]]()
    for record in records:
        first, *others = (rows.get(record[at : at + _WIDE].strip()) for at in _COLUMNS)
        found.update((first, other) for other in others if first is not None and other is not None and other != first)
    told = dict[tuple[int, int], int]()
    for (first, other), times in found.items():
        pair = min(first, other), max(first, other)
        told[pair] = min(HIGHEST, max(times, told.get(pair, 0)))
    return told


def kept_bonds(told: Told, kept: NDArray[np.bool_]) -> Told:
    """Return the bonds between atoms that are kept, by their new rows."""
    new = np.cumsum(kept) - 1
    return {(int(new[a]), int(new[b])): times for (a, b), times in told.items() if kept[a] and kept[b]}


def joined(told: Told, near: NDArray[np.int64], count: int) -> tuple[NDArray[np.int64], NDArray[np.int64] | None, str]:
    """Return bonds (2, B), of what order each is, None where no order is told, and a note.

    Where every one of `count` atoms has a told bond these are all; else those by distance, `near`, are bonds too.
    """
    whole = len({atom for pair in told for atom in pair}) == count
    bonds = dict(told) if whole else {**{(int(a), int(b)): 1 for a, b in np.sort(near, 0).T}, **told}
    pairs = sorted(bonds)
    orders = np.array([bonds[pair] for pair in pairs], np.int64)
    plural = "1 bond" if len(told) == 1 else f"{len(told)} bonds"
    note = f"{plural} by {RECORD}" + ("" if whole else ", the others by distance")
    return np.array(pairs, np.int64).T, orders if (orders > 1).any() else None, note
