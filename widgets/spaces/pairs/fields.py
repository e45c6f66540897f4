"""Find in a frame what can be shown as a matrix over pairs of nodes: pair fields, coefficients on edges, adjacency."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.graph.drawing.pairs.matrix import PairMatrix
from explorer.spaces.graph.drawing.pairs.on_demand import dense
from explorer.spaces.graph.drawing.pairs.orders import boundaries, node_order
from explorer.spaces.graph.drawing.pairs.sparse import EdgePattern, SparsePairs
from explorer.spaces.graph.drawing.values import GraphPart, Structure
from explorer.spaces.grid.drawing.patches import PatchesPart
from explorer.spaces.sequence.drawing.values import TimePart
from explorer.square.frame import Frame, Square

ADJACENCY, MOVED_ADJACENCY = "adjacency", "adjacency of ρ(g) x"
_ATTENTION = re.compile(r"attention|alpha|softmax", re.IGNORECASE)
KEPT = 16  # matrices that are kept from frame to frame
MOST_LOOKED_AT = 4_000_000  # values of a field that are looked through on a frame


@dataclass(frozen=True, slots=True, eq=False)
class PairField:
    """One thing that can be shown.

    Attributes:
        key: the layer's name, ADJACENCY or MOVED_ADJACENCY; kept from frame to frame.
        square: index of the model's square in the frame.
        values: (H, N, N), or (E, H) on the edges.
        on_edges, moved: where the values sit, and whether nodes are numbered as in rho(g) x.
    """

    key: str
    square: int
    values: NDArray[Any]
    on_edges: bool
    moved: bool = False
    edges: NDArray[np.int64] | None = None  # where they are not those of the graph, in the field's own numbering

    @property
    def adjacency(self) -> bool:
        return self.key in (ADJACENCY, MOVED_ADJACENCY)


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """The matrix that a panel is a picture of."""

    field: PairField
    square: Square
    part: GraphPart
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Ordered:
    """The nodes in the order of display: place -> node as in x, and -> number in the field's own numbering."""

    nodes: NDArray[np.int64]
    numbers: NDArray[np.int64]
    classes: NDArray[np.int64] | None
    breaks: NDArray[np.int64]
    place_of: NDArray[np.int64]  # node as in x -> place, -1 where it was dropped


def graph_squares(frame: Frame | None) -> list[tuple[int, Square, GraphPart]]:
    """Return the squares of a frame that have pairs: of nodes of a graph, steps of a sequence, patches of an image."""
    squares = frame.squares[:2] if frame else ()
    parts = ((i, s, s.of(GraphPart) or _pairs_of_steps(s) or _pairs_of_patches(s)) for i, s in enumerate(squares))
    return [(i, s, part) for i, s, part in parts if part is not None and part.structure.nodes]


def _pairs_of_steps(square: Square) -> GraphPart | None:
    """Return the selected layer of a sequence as a field on a set of as many nodes; None where it is not on pairs."""
    part = square.of(TimePart)
    if part is None or part.kind != "pair" or part.values.shape[1:] != (part.steps, part.steps):
        return None
    whole = np.isfinite(part.order) & (np.round(part.order) == part.order)
    order = np.where(whole, part.order, -1.0).astype(np.int64)
    names = part.names if part.columns is None else part.columns[0]
    return GraphPart(
        _row_of_steps(part.steps, names), order, np.zeros(0, np.int64), "pair", part.x, part.gx, part.values,
        part.moved, part.expected, part.difference, pairs={square.layer.name: part.values}, rows=part.rows,
    )  # fmt: skip


def _pairs_of_patches(square: Square) -> GraphPart | None:
    """Return the matrices between the tokens of an image as fields on a set of as many nodes; None without any."""
    part = square.of(PatchesPart)
    if part is None:
        return None
    none, chosen = np.zeros((0, 0), np.float32), bool(part.layer)
    return GraphPart(
        _row_of_steps(part.tokens, part.names), part.order, np.zeros(0, np.int64), "pair" if chosen else "invariant",
        none, none, none if part.values is None else part.values, none if part.moved is None else part.moved,
        part.expected, part.difference, pairs=part.pairs,
    )  # fmt: skip


def word_of_rows(square: Square) -> str:
    """Return what one row is."""
    part = square.of(TimePart)
    answering = part is not None and part.answering
    return "answer" if answering else word_of_places(square).removesuffix("s")


def names_of_rows(part: GraphPart, view: Ordered, moved: bool) -> tuple[str, ...] | None:
    """Return how the rows are called, from above; None where they are called as the columns.

    Steps of an answer are not where the element takes those of x: those of rho(g) x are called by their own number.
    """
    if part.rows is None:
        return None
    names, numbers = part.rows[moved], (view.numbers if moved else view.nodes).tolist()
    return tuple(names[k] if k < len(names) else str(k) for k in numbers)


def word_of_places(square: Square) -> str:
    """Return what rows and columns are in a sentence."""
    return "tokens" if square.of(PatchesPart) is not None else "steps" if square.of(TimePart) is not None else "nodes"


def channel_of(square: Square, head: int | None) -> int | None:
    """Return the channel of the selected layer that a head is; of an image the head's first row."""
    part = square.of(PatchesPart)
    return head if part is None or head is None else head * part.tokens


def head_of(square: Square, channel: int | None) -> int | None:
    """Return the head that a channel of the selected layer lies in."""
    part = square.of(PatchesPart)
    return channel if part is None or channel is None else channel // part.tokens


@lru_cache(maxsize=8)
def _row_of_steps(steps: int, names: tuple[str, ...]) -> Structure:
    return Structure(steps, np.zeros((2, 0), np.int64), f"{steps} steps", names=names if len(names) == steps else ())


def fields_of(index: int, part: GraphPart) -> list[PairField]:
    """Return all that can be shown of one square: layers first, adjacency last."""
    n, listed = part.structure.nodes, part.structure.edges.shape[1]
    found = [PairField(k, index, v, False) for k, v in part.pairs.items() if v.ndim == 3 and v.shape[1:] == (n, n)]
    found += [
        PairField(k, index, _by_head(v), True)
        for k, v in part.coefficients.items()
        if k not in part.pairs and len(v) == listed and v.size
    ]
    found.append(PairField(ADJACENCY, index, edge_weights(part.structure), True))
    found.append(PairField(MOVED_ADJACENCY, index, moved_weights(part), True, moved=True))
    return found


def default_field(fields: Sequence[PairField], square: Square, part: GraphPart) -> PairField:
    """Return the selected layer's field, else the first that looks like attention, else the adjacency.

    A layer that was intervened in comes before those that look like attention: with a head set to zero it may not be
    like one any more, and the change is what a person wants to see. Of a set, which has no edges, the first field
    there is takes the adjacency's place.
    """
    wanted = (square.layer.name, *(one.layer for one in reversed(square.interventions)))
    for name in wanted:
        for one in fields:
            if one.key == name:
                return one
    layers = [one for one in fields if not one.adjacency]
    summed = (one for one in layers if _rows_sum_to_one(one, part.structure.edges))
    named = (one for one in layers if _ATTENTION.search(one.key))
    found = next(summed, None) or next(named, None)
    if found is None and layers and not part.structure.edges.size:
        found = layers[0]
    return found or next(one for one in fields if one.key == ADJACENCY)


def comparison(field: PairField, square: Square, part: GraphPart) -> tuple[PairField | None, PairField | None]:
    """Return what the field is after the permutation, and how far that is from where the permutation takes it.

    Both are numbered as in rho(g) x. For layers other than the selected one neither is known.
    """
    if field.adjacency:
        after = PairField(field.key, field.square, moved_weights(part), True, True)
        ends = part.order[part.structure.edges]
        there = (ends >= 0).all(0)
        # the structure moves as a permutation takes it, but for edges that were dropped
        lost = edge_weights(part.structure)[there] * (part.edge_order[there] < 0)[:, None]
        return after, PairField(field.key, field.square, lost, True, True, ends[:, there])
    if field.key != square.layer.name or part.kind not in ("pair", "edge"):
        return None, None
    on_edges = part.kind == "edge"
    fits = moved_edges(part).shape[1] if on_edges else moved_count(part)

    def made(values: NDArray[Any] | None) -> PairField | None:
        if values is None or values.shape[0 if on_edges else -1] != fits:
            return None
        return PairField(field.key, field.square, _by_head(values) if on_edges else values, on_edges, True)

    return made(part.moved), made(_without_masks(part.difference, part.moved))


def _without_masks(difference: NDArray[Any] | None, moved: NDArray[Any] | None) -> NDArray[Any] | None:
    """Return the difference with 0 where −∞ was taken from −∞, a mask from a mask: that gives no number."""
    if not isinstance(difference, np.ndarray) or not isinstance(moved, np.ndarray) or difference.shape != moved.shape:
        return difference
    both = np.isnan(difference) & (moved == -np.inf)
    return np.where(both, 0, difference).astype(difference.dtype, copy=False) if both.any() else difference


def edge_weights(structure: Structure) -> NDArray[Any]:
    """Return the adjacency's values on the edges, (E, 1): the weights, or ones."""
    ones = np.ones((structure.edges.shape[1], 1), np.float32)
    return ones if structure.weights is None else _by_head(structure.weights)[:, :1]


def _by_head(values: NDArray[Any]) -> NDArray[Any]:
    """Return values on edges as (E, H)."""
    return values.reshape(len(values), int(np.prod(values.shape[1:])))


def moved_count(part: GraphPart) -> int:
    """Return how many nodes rho(g) x has."""
    return int((part.order >= 0).sum())


def _kept_edges(part: GraphPart) -> NDArray[np.int64]:
    """Return the listed edges of x in the order in which rho(g) x lists them."""
    kept = np.flatnonzero(part.edge_order >= 0)
    return kept[np.argsort(part.edge_order[kept], kind="stable")]


def moved_edges(part: GraphPart) -> NDArray[np.int64]:
    """Return the edges of rho(g) x, (2, E'), as it lists them."""
    return part.order[part.structure.edges[:, _kept_edges(part)]]


def moved_weights(part: GraphPart) -> NDArray[Any]:
    return edge_weights(part.structure)[_kept_edges(part)]


def ordered(part: GraphPart, kind: str, moved: bool, order: NDArray[np.int64] | None = None) -> Ordered:
    """Return the order of display; that of rho(g) x follows its own numbers where x stands as given."""
    structure = part.structure
    nodes = node_order(kind, structure) if order is None else order
    if moved:
        kept = nodes[part.order[nodes] >= 0]
        nodes = kept[np.argsort(part.order[kept], kind="stable")] if kind == "given" else kept
    place = np.full(structure.nodes, -1, np.int64)
    place[nodes] = np.arange(len(nodes))
    classes = structure.classes
    breaks = boundaries(classes, nodes) if classes is not None and kind == "cluster" else np.zeros(0, np.int64)
    return Ordered(
        nodes, part.order[nodes] if moved else nodes, None if classes is None else classes[nodes], breaks, place
    )


class Matrices:
    """Makes matrices of fields, and keeps those whose numbers and order have not changed."""

    def __init__(self) -> None:
        self._patterns: OrderedDict[tuple[Any, ...], tuple[Any, EdgePattern]] = OrderedDict()
        self._made: OrderedDict[tuple[Any, ...], tuple[Any, PairMatrix]] = OrderedDict()

    def make(self, field: PairField, part: GraphPart, view: Ordered, role: str = "") -> PairMatrix:
        """Return the matrix in the order of display; `role` tells the before, after and difference of one key apart."""
        name = (field.key, field.square, field.moved, role)
        numbers = view.numbers
        known = self._made.get(name)
        if known is not None:
            (values, order, structure), matrix = known
            if structure is part.structure and np.array_equal(order, numbers) and _same(values, field.values):
                return matrix
        matrix = (
            SparsePairs(self._pattern(field, part, numbers), field.values)
            if field.on_edges
            else dense(field.values, numbers)
        )
        _put(self._made, name, ((field.values, numbers, part.structure), matrix))
        return matrix

    def _pattern(self, field: PairField, part: GraphPart, numbers: NDArray[np.int64]) -> EdgePattern:
        moves = part.order.tobytes() + part.edge_order.tobytes() if field.moved else b""
        name = (field.edges is not None, numbers.tobytes(), moves)
        known = self._patterns.get(name)
        if known is None or known[0] is not part.structure:
            edges = moved_edges(part) if field.moved else part.structure.edges
            edges = edges if field.edges is None else field.edges
            known = (part.structure, EdgePattern(len(numbers), edges, numbers))
        _put(self._patterns, name, known)
        return known[1]


def _put(kept: OrderedDict[tuple[Any, ...], Any], name: tuple[Any, ...], value: Any) -> None:
    kept[name] = value
    kept.move_to_end(name)
    while len(kept) > KEPT:
        kept.popitem(last=False)


def _same(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Say whether two arrays hold the same numbers; large ones are looked at as objects alone."""
    return a is b or (a.size == b.size < MOST_LOOKED_AT and np.array_equal(a, b))


def _rows_sum_to_one(field: PairField, edges: NDArray[np.int64]) -> bool:
    """Say whether what every node receives sums to 1, in the first head of a field that is not too large to look at."""
    values = field.values[:, 0] if field.on_edges else field.values[0]
    if not values.size or values.size > MOST_LOOKED_AT or not values.min() >= 0:
        return False
    sums = values.sum(-1)
    if field.on_edges:
        sums = np.bincount(edges[1], values)[np.unique(edges[1])]
    return bool(np.abs(sums - 1).max() < 1e-3)
