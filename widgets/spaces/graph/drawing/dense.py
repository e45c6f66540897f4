"""Choose which pairs of nodes are drawn as lines, where every pair has a value: the strongest ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.graph.drawing.values import GraphPart
from widgets.spaces.graph.drawing.look import Choice

Array = NDArray[Any]
MOST, MOST_OF_ONE = 300, 100  # pairs that are drawn, and those into one node
LEAST = 0.02  # of the largest value, below which a pair is not drawn
TIE = 1e-5  # relative: values that rounding alone may tell apart


@dataclass(frozen=True, slots=True, eq=False)
class Dense:
    """Pairs that are drawn, (2, L) from and to, and how many with a value there were to choose from."""

    ends: Array
    pairs: int


def dense_field(part: GraphPart, choice: Choice) -> tuple[Array, Array | None, int | None] | None:
    """Return F(x) and F(rho(g) x) of the pair field that is drawn as lines, (H, N, N), and the head.

    None where lines are edges of the graph, with values of their own or without.
    """
    if choice.edges in part.pairs:
        return part.pairs[choice.edges], None, choice.head
    if choice.edges == "plain" and choice.colour == "layer" and part.kind == "pair" and part.dense:
        return part.values, part.moved, choice.channel
    return None


def matrix_of(values: Array, head: int | None) -> Array:
    """Return (N, N), to and from, of one head, or the root mean square over heads."""
    if head is not None:
        return np.asarray(values[min(head, len(values) - 1)], float)
    return np.asarray(values[0] if len(values) == 1 else np.sqrt((values**2).mean(axis=0)), float)


def dense_pairs(part: GraphPart, choice: Choice, node: int | None) -> Dense | None:
    """Return the strongest pairs of both sides; of a selected node, those that lead to it."""
    found = dense_field(part, choice)
    if found is None:
        return None
    values, moved, head = found
    tables = [matrix_of(values, head)]
    order = part.order
    if moved is not None and (order >= 0).all():
        tables.append(matrix_of(moved, head)[np.ix_(order, order)])
    size = np.zeros_like(tables[0])
    for table in tables:
        np.maximum(size, np.abs(np.where(np.isfinite(table), table, 0)), out=size)
    node = node if node is not None and node < len(size) else None
    if node is None:
        np.fill_diagonal(size, 0)
    to, start = _strongest(size if node is None else size[node : node + 1], MOST if node is None else MOST_OF_ONE)
    pairs = int(np.count_nonzero(size)) if node is None else int(np.count_nonzero(size[node]))
    return Dense(np.stack([start, to if node is None else np.full_like(to, node)]), pairs)


def _strongest(size: Array, most: int) -> tuple[Array, Array]:
    """Return rows and columns of the largest entries; of a tie that would be cut none, or the first to half of them."""
    flat = size.ravel()
    least = LEAST * float(flat.max(initial=0))
    some = np.flatnonzero(flat > least)
    if len(some) > most:
        cut = -np.partition(-flat[some], most - 1)[most - 1]
        above = some[flat[some] > cut * (1 + TIE)]
        equal = some[np.abs(flat[some] - cut) <= cut * TIE]
        some = np.sort(np.concatenate([above, equal[: max(0, most // 2 - len(above))]]))
    rows, columns = np.divmod(some, size.shape[1])
    return rows, columns


def widths_along(part: GraphPart, choice: Choice, ends: Array) -> Array | None:
    """Return the values of the chosen field on pairs along lines (2, L); None where the layer itself has them."""
    if choice.edges not in part.pairs:
        return None
    return np.asarray(matrix_of(part.pairs[choice.edges], choice.head)[ends[1], ends[0]])


def dense_size(part: GraphPart, choice: Choice) -> int:
    """Return how many values are looked through for the strongest pairs."""
    found = dense_field(part, choice)
    return 0 if found is None else int(found[0].size)
