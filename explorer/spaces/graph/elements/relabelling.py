"""The elements of graphs and sets: renumbering nodes, reordering edges, leaving some out, scaling what is measured.

A chain of steps is a word of generators; nothing is known yet of the graph it will act on. `on(inputs)` makes the one
map that the word means there: which node and which edge stands at each place afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from explorer.declare.elements import Element, NoAction
from explorer.declare.space import kinds
from explorer.declare.types.fields import FieldType, Pairs, Scalar
from explorer.spaces.graph.fields import Edges, Graphs, NodeIndex, Nodes, Pairwise
from explorer.spaces.mesh.fields import Faces, Patch

if TYPE_CHECKING:
    from torch import Tensor

    from explorer.declare.inputs import Inputs

Index = NDArray[np.int64]
DOMAINS = ("graph", "set")  # where edges and nodes may be missing
# where any numbering of the places is as good as another
NUMBERED = tuple(k.name for k in sorted(kinds().values(), key=lambda k: k.place) if k.numbered)


@dataclass(frozen=True, slots=True)
class Word:
    """One generator: "permute" (seed), "swap" or "move" (i, j), "drop-edges" or "drop-nodes" (share, seed), "scale"."""

    kind: str
    values: tuple[float, ...]
    inverse: bool = False

    @property
    def invertible(self) -> bool:
        return not self.kind.startswith("drop") or self.values[0] == 0.0

    @property
    def identity(self) -> bool:
        match self.kind:
            case "permute" | "drop-edges" | "drop-nodes":
                return self.values[0] == 0.0
            case "scale":
                return self.values[0] == 1.0
            case _:
                return self.values[0] == self.values[1]

    def inverted(self) -> Word:
        match self.kind:
            case "swap":
                return self
            case "move":
                return Word("move", (self.values[1], self.values[0]))
            case "scale":
                return Word("scale", (1.0 / self.values[0],))
            case _:
                return Word(self.kind, self.values, not self.inverse)


@dataclass(frozen=True, slots=True)
class Relabelling(Element):
    """A word of generators, the first acting first."""

    words: tuple[Word, ...] = ()
    resamples = False

    @property
    def group(self) -> str:
        return "permutation"

    @property
    def domains(self) -> tuple[str, ...]:  # type: ignore[override]
        return NUMBERED

    def inverse(self) -> Relabelling:
        """Return the inverse word.

        Raises:
            NoAction: something was left out, which nothing brings back.
        """
        for word in self.words:
            if not word.invertible:
                raise NoAction(f"{word.kind} leaves something out, so it has no inverse")
        return Relabelling(tuple(w.inverted() for w in reversed(self.words)))

    def merge(self, first: Element) -> Relabelling | None:
        if not isinstance(first, Relabelling):
            return None
        words = list(first.words)
        for word in self.words:
            if words and words[-1] == word.inverted() and word.invertible:
                words.pop()
            else:
                words.append(word)
        return Relabelling(tuple(w for w in words if not w.identity))

    @property
    def identity(self) -> bool:
        return all(w.identity for w in self.words)

    @property
    def bijective(self) -> bool:
        return all(w.invertible for w in self.words)

    def exact(self, field: FieldType, shape: tuple[int, ...]) -> bool:
        return self.bijective

    def on(self, inputs: Inputs) -> Element:
        return self.made(inputs.places, listed_edges(inputs))

    def made(self, nodes: int, edges: Index | None) -> GraphMap:
        """Return the map on a graph of so many nodes with the listed `edges`, (2, E), or None for a set."""
        found = GraphMap(np.arange(nodes), np.arange(0 if edges is None else edges.shape[1]))
        for word in self.words:
            now = None if edges is None else found.relabelled(edges)
            found = found.then(_made(word, len(found.nodes), now))
        return found

    def act(self, values: Tensor, field: FieldType) -> Tensor:
        if isinstance(field.rep, NodeIndex):
            raise NoAction("edges are renumbered together with their nodes: bind the element to the graph first, on()")
        if not self.bijective:
            raise NoAction("what is left out depends on the graph: bind the element to it first, on()")
        match field.domain:
            case Nodes(axis=axis):
                return self.made(values.shape[axis], None).act(values, field)
            case Pairs():
                return self.made(values.shape[-1], None).act(values, field)
            case Edges(axis=axis):
                listed = np.zeros((2, values.shape[axis]), np.int64)
                return self.made(1, listed).act(values, field)
            case _:
                return values

    def known(self, values: Tensor, field: FieldType) -> Tensor | None:
        return None


@dataclass(frozen=True, slots=True, eq=False)
class GraphMap(Element):
    """A word made concrete: place k of rho(g) x holds node nodes[k] and edge edges[k] of x; x's values times gain.

    Fewer places than before mean that some were left out; `nodes_before` and `edges_before` count what there was.
    """

    nodes: Index
    edges: Index
    gain: float = 1.0
    nodes_before: int = -1
    edges_before: int = -1
    _device: dict[str, tuple[Tensor, Tensor, Tensor]] = field(default_factory=dict, repr=False)
    resamples = False

    @property
    def group(self) -> str:
        return "permutation"

    def place_of(self, place: int, count: int) -> int:
        return int(self.order[place]) if place < len(self.order) else -1

    @property
    def domains(self) -> tuple[str, ...]:  # type: ignore[override]
        return NUMBERED

    @property
    def before(self) -> tuple[int, int]:
        n, e = self.nodes_before, self.edges_before
        return (len(self.nodes) if n < 0 else n, len(self.edges) if e < 0 else e)

    @property
    def bijective(self) -> bool:
        return (len(self.nodes), len(self.edges)) == self.before

    @property
    def order(self) -> Index:
        """Return where each node of x has gone, (nodes before,), -1 for those left out."""
        return _where(self.nodes, self.before[0])

    @property
    def edge_order(self) -> Index:
        return _where(self.edges, self.before[1])

    @property
    def identity(self) -> bool:
        return self.bijective and abs(self.gain - 1.0) < 1e-12 and _sorted(self.nodes) and _sorted(self.edges)

    def inverse(self) -> GraphMap:
        if not self.bijective:
            raise NoAction("some nodes or edges were left out, which nothing brings back")
        return GraphMap(self.order, self.edge_order, 1.0 / self.gain)

    def then(self, second: GraphMap) -> GraphMap:
        """Return second o self as one map."""
        return GraphMap(self.nodes[second.nodes], self.edges[second.edges], self.gain * second.gain, *self.before)

    def merge(self, first: Element) -> GraphMap | None:
        return first.then(self) if isinstance(first, GraphMap) else None

    def exact(self, field: FieldType, shape: tuple[int, ...]) -> bool:
        return self.bijective

    def relabelled(self, edges: Index) -> Index:
        """Return the listed edges (2, E) after the map."""
        return self.order[edges[:, self.edges]] if edges.size else edges

    def act(self, values: Tensor, field: FieldType) -> Tensor:
        nodes, edges, order = self._on(values)
        if isinstance(field.domain, Faces):
            # where a node of a face was left out the face goes with it
            return order[values][(order[values] >= 0).all(1)] if isinstance(field.rep, NodeIndex) else values
        if isinstance(field.rep, NodeIndex) and isinstance(field.domain, Edges):
            listed = values.index_select(values.ndim - 1, edges)  # of one end alone there is one axis
            if field.rep.end is None:
                return _renumbered(order, listed)
            listed[field.rep.end] = _renumbered(order, listed[field.rep.end])  # a copy: picking makes one
            return listed
        if isinstance(field.rep, NodeIndex) and isinstance(field.domain, Graphs):
            ends = values.clone()  # of a list that stays in its order, beside one that does not
            here = slice(None) if field.rep.end is None else field.rep.end
            ends[here] = _renumbered(order, ends[here])
            return ends
        if isinstance(field.rep, NodeIndex) and isinstance(field.domain, Nodes):
            return _renumbered(order, values.index_select(field.domain.axis, nodes))
        if isinstance(field.rep, Patch) and field.rep.holds == "corner":
            return order[values.index_select(0, nodes)]
        match field.domain:
            case Pairwise(axis=axis):
                values = values.index_select(axis, nodes).index_select(axis + 1, nodes)
            case Nodes(axis=axis):
                values = _taken(values, axis, nodes, self.before[0])
            case Edges(axis=axis):
                values = _taken(values, axis, edges, self.before[1])
            case Pairs():
                values = values.index_select(-2, nodes).index_select(-1, nodes)
        if isinstance(field.rep, Scalar) and field.rep.intensity and isinstance(field.domain, Nodes):
            values = values if self.gain == 1.0 else values * self.gain
        return values

    def _on(self, like: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        key = str(like.device)
        if key not in self._device:
            import torch

            self._device[key] = tuple(  # type: ignore[assignment]
                torch.as_tensor(a, device=like.device) for a in (self.nodes, self.edges, self.order)
            )
        return self._device[key]

    def known(self, values: Tensor, field: FieldType) -> Tensor | None:
        return None


def listed_edges(inputs: Inputs) -> Index | None:
    """Return the listed edges (2, E) by numbers of the nodes that are moved, None where there are none.

    Of edges between two sets both ends are the one that lies in the set that is moved.
    """
    for value, kind in zip(inputs.values, inputs.fields, strict=True):
        if isinstance(kind.domain, Edges) and isinstance(kind.rep, NodeIndex):
            found: Index = value.cpu().numpy()
            return found if kind.rep.end is None else found[[kind.rep.end] * 2]
    return None


def _renumbered(order: Tensor, values: Tensor) -> Tensor:
    """Return numbers of nodes after the map.

    Raises:
        NoAction: they are none, as a mask, or numbers of tokens.
    """
    import torch

    if values.dtype == torch.bool or (values.numel() and int(values.max()) >= len(order)):
        raise NoAction("it holds numbers of no node")
    return order[values]


def _taken(values: Tensor, axis: int, places: Tensor, count: int) -> Tensor:
    """Return the values at some of so many places; raise NoAction where a network has left some of them out."""
    if values.shape[axis] < count:
        raise NoAction(f"there are {values.shape[axis]} values, and {count} places")
    return values.index_select(axis, places)


def _where(places: Index, before: int) -> Index:
    order = np.full(before, -1, np.int64)
    order[places] = np.arange(len(places))
    return order


def _sorted(places: Index) -> bool:
    return bool((places == np.arange(len(places))).all())


def _made(word: Word, n: int, edges: Index | None) -> GraphMap:
    """Return the map that one generator is on a graph of n nodes with the listed edges."""
    e = 0 if edges is None else edges.shape[1]
    nodes, listed = np.arange(n), np.arange(e)
    match word.kind:
        case "permute":
            # two streams, so that the nodes of a set and of a graph are shuffled alike
            nodes = np.random.default_rng([int(word.values[0]), 0]).permutation(n) if word.values[0] else nodes
            listed = np.random.default_rng([int(word.values[0]), 1]).permutation(e) if word.values[0] else listed
        case "swap":
            i, j = (_within(v, n) for v in word.values)
            if n:
                nodes[[i, j]] = nodes[[j, i]]
        case "move":
            i, j = (_within(v, n) for v in word.values)
            if n:
                nodes = np.insert(np.delete(nodes, i), j, i)
        case "drop-nodes":
            keep = np.flatnonzero(_draws(word, n, 2) >= word.values[0])
            nodes = keep if len(keep) else nodes[:1]
            if edges is not None:
                here = np.zeros(n, bool)
                here[nodes] = True
                listed = np.flatnonzero(here[edges].all(0))
        case "drop-edges":
            if edges is not None and e:
                listed = np.flatnonzero(_draws_of_edges(word, edges, n) >= word.values[0])
        case "scale":
            return GraphMap(nodes, listed, word.values[0])
    found = GraphMap(nodes, listed, 1.0, n, e)
    return found.inverse() if word.inverse else found


def _within(value: float, n: int) -> int:
    return min(max(int(value), 0), max(n - 1, 0))


def _draws(word: Word, count: int, stream: int) -> NDArray[np.float64]:
    # of one seed the same numbers whatever the share: more is left out of what was left out before
    return np.random.default_rng([int(word.values[1]), stream]).random(count)


def _draws_of_edges(word: Word, edges: Index, n: int) -> NDArray[np.float64]:
    """Return one number for every listed edge, the same for both directions of an undirected one."""
    low, high = np.minimum(edges[0], edges[1]), np.maximum(edges[0], edges[1])
    _, pair = np.unique(low * n + high, return_inverse=True)
    return _draws(word, int(pair.max()) + 1, 3)[pair]


def words(kinds: Sequence[Word]) -> Relabelling:
    """Return the element of some generators; those that do nothing are left out."""
    return Relabelling(tuple(w for w in kinds if not w.identity))
