"""Pairs of graphs that are not the same and that the Weisfeiler-Leman test (1-WL, colour refinement) cannot tell apart.

Each pair is one sample of two parts, `batch` 0 and 1: a network whose messages see no more than 1-WL answers the same
for both. B. Weisfeiler, A. Leman, 1968; K. Xu et al., 2019; C. Morris et al., 2019.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.graph.sample import graph_sample
from explorer.spaces.graph.samples.edges import both_ways
from explorer.spaces.graph.samples.families import circle

Pairs = NDArray[np.int64]
Part = tuple[int, Pairs, NDArray[np.float64]]  # nodes, edges, places


def rings(sizes: tuple[int, ...]) -> Part:
    """Return disjoint cycles of these sizes."""
    pairs, places, start = [], [], 0
    for k, size in enumerate(sizes):
        at = np.arange(size)
        pairs.append(np.stack([at, (at + 1) % size], 1) + start)
        places.append(circle(size, 1.0 if len(sizes) == 1 else 0.6, (0.0, 0.75 * (len(sizes) - 1) - 1.5 * k)))
        start += size
    return start, np.concatenate(pairs), np.concatenate(places)


def skip_links(nodes: int, skip: int) -> Part:
    """Return the circular skip-link graph CSL(nodes, skip): a ring with chords (Murphy et al., 2019)."""
    at = np.arange(nodes)
    pairs = np.concatenate([np.stack([at, (at + 1) % nodes], 1), np.stack([at, (at + skip) % nodes], 1)])
    return nodes, pairs, circle(nodes)


def _cayley(moves: tuple[tuple[int, int], ...]) -> Pairs:
    """Return the edges between the 16 places of a 4x4 torus that differ by one of `moves`."""
    y, x = np.divmod(np.arange(16), 4)
    pairs = [np.stack([np.arange(16), (y + dy) % 4 * 4 + (x + dx) % 4], 1) for dy, dx in moves]
    return np.unique(np.sort(np.concatenate(pairs), 1), axis=0)


def _square() -> NDArray[np.float64]:
    y, x = np.divmod(np.arange(16), 4)
    # bent, so that the edges along a row do not lie on each other
    return np.stack([x + 0.25 * (y % 2), 3 - y + 0.25 * (x % 2)], 1) / 1.7 - 0.9


def rook() -> Part:
    """Return the 4x4 rook's graph: two squares are joined when a rook gets from one to the other."""
    return 16, _cayley(((0, 1), (0, 2), (1, 0), (2, 0))), _square()


def shrikhande() -> Part:
    """Return the Shrikhande graph: strongly regular like the rook's, (16, 6, 2, 2), and not the same."""
    return 16, _cayley(((0, 1), (1, 0), (1, 1))), _square()


def _drawn(places: tuple[tuple[float, float], ...], pairs: tuple[tuple[int, int], ...]) -> Part:
    return len(places), np.array(pairs, np.int64), np.array(places, np.float64)


def domino() -> Part:
    """Return two squares that share a side."""
    places = ((-1, 0.5), (0, 0.5), (1, 0.5), (1, -0.5), (0, -0.5), (-1, -0.5))
    return _drawn(places, ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (1, 4)))


def triangles() -> Part:
    """Return two triangles joined by an edge."""
    places = ((-1.1, 0.6), (-0.4, 0), (-1.1, -0.6), (0.4, 0), (1.1, 0.6), (1.1, -0.6))
    return _drawn(places, ((0, 1), (1, 2), (2, 0), (1, 3), (3, 4), (4, 5), (5, 3)))


def decalin() -> Part:
    """Return two hexagons that share a side: the carbons of decalin."""
    h = 3**0.5 / 2
    left = tuple((-h + dx, dy) for dx, dy in ((0, 1), (-h, 0.5), (-h, -0.5), (0, -1)))
    right = tuple((-x, y) for x, y in left[::-1])
    places = (*left, (0, -0.5), *right, (0, 0.5))
    ring = tuple((i, (i + 1) % 10) for i in range(10))
    return _drawn(tuple((0.6 * x, 0.6 * y) for x, y in places), (*ring, (4, 9)))


def bicyclopentyl() -> Part:
    """Return two pentagons joined by an edge: the carbons of bicyclopentyl."""
    left = circle(5, 0.55)[:, ::-1] * np.array([-1, 1])  # the first corner points left
    aside = np.array([0.85, 0.0])
    places = np.concatenate([-left - aside, left + aside])
    at = np.arange(5)
    ring = np.stack([at, (at + 1) % 5], 1)
    return 10, np.concatenate([ring, ring + 5, [[0, 5]]]), places


def pair(name: str, title: str, first: Callable[[], Part], second: Callable[[], Part], note: str) -> Sample:
    """Join two graphs as the two parts of one sample, side by side."""
    (n, edges, places), (m, more, there) = first(), second()
    aside = np.array([1.4, 0.0])
    return graph_sample(
        name, None, both_ways(np.concatenate([edges, more + n]))[0], nodes=n + m, title=title,
        position=np.concatenate([places - aside, there + aside]), batch=np.repeat([0, 1], [n, m]),
        source="computed", notes=("1-WL cannot tell the two graphs apart", note),
    )  # fmt: skip


PAIRS: dict[str, tuple[str, Callable[[], Part], Callable[[], Part], str]] = {
    "wl-hexagon": (
        "Hexagon and two triangles", partial(rings, (6,)), partial(rings, (3, 3)),
        "every node has two neighbours; distances and random walks tell",
    ),
    "wl-domino": (
        "Domino and two triangles", domino, triangles,
        "distances tell: from the corners (0,1,1,2,2,3) against (0,1,1,2,3,3)",
    ),
    "wl-decalin": (
        "Decalin and bicyclopentyl", decalin, bicyclopentyl,
        "returns within 3 steps do not tell, within 5 they do",
    ),
    "wl-csl-2-3": (
        "Skip links CSL(41,2) and CSL(41,3)", partial(skip_links, 41, 2), partial(skip_links, 41, 3),
        "distances and returns within 3 steps tell",
    ),
    "wl-csl-9-11": (
        "Skip links CSL(41,9) and CSL(41,11)", partial(skip_links, 41, 9), partial(skip_links, 41, 11),
        "distances tell; returns do so only from step 7 on",
    ),
    "wl-rook": (
        "Rook's graph and Shrikhande graph", rook, shrikhande,
        "strongly regular: neither distances, returns nor the spectrum tell",
    ),
}  # fmt: skip

SAMPLES = tuple(
    SampleSpec(
        name, title, "graph", partial(pair, name, title, first, second, note), f"{title}: {note}.", ("1-WL", "batch")
    )
    for name, (title, first, second, note) in PAIRS.items()
)
