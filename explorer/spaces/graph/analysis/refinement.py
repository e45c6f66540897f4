"""Colour refinement, the Weisfeiler-Leman test of dimension 1: what message passing can tell apart at all.

Weisfeiler and Leman, "A reduction of a graph to a canonical form", 1968; Xu et al., "How Powerful are Graph Neural
Networks?", 2019, theorem 3: no network that passes messages separates two graphs which this test does not. Numpy only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Colours = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """The answer to whether 1-WL tells two graphs apart.

    `round` is the first one after which their numbers of nodes of each colour differ (0: before any neighbour was
    looked at), None when they never do; `rounds` is how many refined anything; `colours` how many there are at last.
    """

    distinguished: bool
    round: int | None
    rounds: int
    colours: int


def first_colours(n: int, x: NDArray[Any] | None = None) -> Colours:
    """Return (n,) colours: one for all nodes, or one for each different row of x, numbered in the rows' order."""
    if x is None or not np.size(x) or not n:
        return np.zeros(n, np.int64)
    rows = np.asarray(x).reshape(n, -1)
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def refine(edge_index: NDArray[np.integer], colours: Colours) -> Colours:
    """Return (n,) colours after one round: equal where own colour and the multiset of senders' colours are equal.

    The numbers are canonical: they depend on the colours before and on nothing else, in particular not on the order
    of nodes or edges, so that the colours of two graphs can be compared (when refined together, as one graph).
    """
    n = len(colours)
    edges = np.asarray(edge_index, dtype=np.int64)
    source, target = edges[0], edges[1]
    sent = colours[source]
    order = np.lexsort((sent, target))
    sent = sent[order]
    count = np.bincount(target, minlength=n)
    start = np.concatenate([[0], np.cumsum(count)[:-1]]) if n else count
    found, offset = np.zeros(n, np.int64), 0
    for degree in np.unique(count):  # nodes of one degree have rows of one length: exact, and no hashing
        mine = np.flatnonzero(count == degree)
        rows = np.empty((len(mine), degree + 1), np.int64)
        rows[:, 0] = colours[mine]
        rows[:, 1:] = sent[start[mine, None] + np.arange(degree)]
        new, inverse = np.unique(rows, axis=0, return_inverse=True)
        found[mine] = offset + inverse.reshape(-1)
        offset += len(new)
    return found


def history(
    edge_index: NDArray[np.integer], n: int, x: NDArray[Any] | None = None, rounds: int | None = None
) -> list[Colours]:
    """Return the colours before and after each round, until nothing is refined any more or for so many `rounds`.

    The last entry is the stable colouring; the list has one entry when the first colours are stable.
    """
    colours = first_colours(n, x)
    made = [colours]
    for _ in range(n if rounds is None else rounds):
        refined = refine(edge_index, colours)
        if len(np.unique(refined)) == len(np.unique(colours)):
            break  # a refinement with as many colours is the same partition
        made.append(colours := refined)
    return made


def distinguishes(
    edge_index: NDArray[np.integer], batch: NDArray[np.integer], x: NDArray[Any] | None = None
) -> Verdict:
    """Return whether 1-WL tells graphs 0 and 1 of a batch apart, starting from the rows of x where they are given.

    Raises:
        ValueError: a batch of other than two graphs.
    """
    which = np.asarray(batch)
    if set(np.unique(which).tolist()) != {0, 1}:
        raise ValueError(f"a verdict is on a batch of two graphs (0 and 1), not {len(np.unique(which))}")
    made = history(edge_index, len(which), x)
    for k, colours in enumerate(made):
        size = int(colours.max(initial=0)) + 1
        one, two = (np.bincount(colours[which == g], minlength=size) for g in (0, 1))
        if not np.array_equal(one, two):
            return Verdict(True, k, len(made) - 1, len(np.unique(made[-1])))
    return Verdict(False, None, len(made) - 1, len(np.unique(made[-1])))
