"""Boiling points of the alkanes with one to eight carbons, and the carbon skeletons that their names spell out.

The classical data set of molecular graphs: H. Wiener, "Structural Determination of Paraffin Boiling Points", J. Am.
Chem. Soc. 69, 1947. Normal boiling points in °C. A skeleton is a tree: carbons are nodes, bonds are edges, hydrogens
are left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

_BOILING = """
methane -161.5  ethane -88.6  propane -42.1
butane -0.5  2-methylpropane -11.7
pentane 36.1  2-methylbutane 27.8  2,2-dimethylpropane 9.5
hexane 68.7  2-methylpentane 60.3  3-methylpentane 63.3  2,2-dimethylbutane 49.7  2,3-dimethylbutane 58.0
heptane 98.4  2-methylhexane 90.0  3-methylhexane 91.9  3-ethylpentane 93.5  2,2-dimethylpentane 79.2
2,3-dimethylpentane 89.8  2,4-dimethylpentane 80.5  3,3-dimethylpentane 86.1  2,2,3-trimethylbutane 80.9
octane 125.7  2-methylheptane 117.6  3-methylheptane 118.9  4-methylheptane 117.7  3-ethylhexane 118.5
2,2-dimethylhexane 106.8  2,3-dimethylhexane 115.6  2,4-dimethylhexane 109.4  2,5-dimethylhexane 109.1
3,3-dimethylhexane 112.0  3,4-dimethylhexane 117.7  3-ethyl-2-methylpentane 115.7  3-ethyl-3-methylpentane 118.3
2,2,3-trimethylpentane 109.8  2,2,4-trimethylpentane 99.2  2,3,3-trimethylpentane 114.8  2,3,4-trimethylpentane 113.5
2,2,3,3-tetramethylbutane 106.5
"""
_CHAIN = ("meth", "eth", "prop", "but", "pent", "hex", "hept", "oct")
_BRANCH = re.compile(r"([\d,]+)-(?:di|tri|tetra)?(methyl|ethyl)-?")


@dataclass(frozen=True, slots=True)
class Alkane:
    """An alkane: `bonds` are pairs of carbons from 0, first those of the longest chain; `boiling` is in °C."""

    name: str
    boiling: float
    carbons: int
    bonds: tuple[tuple[int, int], ...]


def skeleton(name: str) -> tuple[tuple[int, int], ...]:
    """Return the bonds of a systematic name, such as "3-ethyl-2-methylpentane": its chain, then its branches.

    Raises:
        ValueError: a name that is not made of methyl and ethyl branches on a chain of one to eight carbons.
    """
    branches, rest = list(_BRANCH.finditer(name)), _BRANCH.sub("", name)
    if not rest.endswith("ane") or rest.removesuffix("ane") not in _CHAIN:
        raise ValueError(f"{name!r} is not the name of an alkane of one to eight carbons")
    chain = _CHAIN.index(rest.removesuffix("ane")) + 1
    bonds = [(k, k + 1) for k in range(chain - 1)]
    for branch in branches:
        for place in map(int, branch[1].split(",")):
            start = place - 1
            for _ in range(1 + (branch[2] == "ethyl")):
                bonds.append((start, len(bonds) + 1))
                start = len(bonds)
    return tuple(bonds)


@cache
def alkanes() -> tuple[Alkane, ...]:
    """Return the forty alkanes, ordered by the number of carbons."""
    words = _BOILING.split()
    drawn = ((name, float(boiling), skeleton(name)) for name, boiling in zip(words[::2], words[1::2], strict=True))
    return tuple(Alkane(name, boiling, len(bonds) + 1, bonds) for name, boiling, bonds in drawn)


def wiener(alkane: Alkane) -> int:
    """Return the Wiener index: the sum of the distances between all pairs of carbons, counted in bonds."""
    apart = distances(alkane.carbons, alkane.bonds)
    return int(apart.sum()) // 2


def distances(nodes: int, bonds: tuple[tuple[int, int], ...]) -> NDArray[np.int64]:
    """Return (nodes, nodes) the number of edges between every two nodes of a tree."""
    apart = np.full((nodes, nodes), nodes, np.int64)
    np.fill_diagonal(apart, 0)
    for a, b in bonds:
        apart[a, b] = apart[b, a] = 1
    for k in range(nodes):
        apart = np.minimum(apart, apart[:, k : k + 1] + apart[k])
    return apart
