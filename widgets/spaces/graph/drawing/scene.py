"""From the parts of a frame to panels as they are painted, and their legend; of large graphs beside the window."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.graph.drawing.values import GraphPart, Structure
from explorer.square.frame import Square
from widgets.base.look import theme
from widgets.base.look.theme import CLASSES
from widgets.spaces.graph.drawing.dense import Dense, dense_pairs, widths_along
from widgets.spaces.graph.drawing.geometry import Strands, strands
from widgets.spaces.graph.drawing.look import (
    SIDES,
    Choice,
    Heat,
    Legend,
    Panel,
    Values,
    coefficients,
    heated,
    is_marks,
    limit_of,
    panels_of,
    side_values,
)

Array = NDArray[Any]
COLOURS = {"layer": "the layer", "input": "the input x", "class": "class", "community": "community",
           "degree": "degree", "influence": "influence", "distance": "distance", "graph": "graph"}  # fmt: skip
FOLDED = 200_000  # edges up to which it is looked whether both ways are alike
MOST_GRAPHS = 60  # of a batch that have their names
HINTS = (
    "Click a node: what it hears, and from whom",
    "Drag a node: move it · double click: let it go",
    "Alt and drag onto another: swap their numbers",
    "Shift and drag: count nodes in a lasso",
    "Wheel: zoom · drag the ground: pan · F: fit",
)


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """Material of a scene: the squares with their parts, what is chosen, and what is said of it."""

    parts: list[tuple[Square, GraphPart]]
    choice: Choice
    node: int | None
    groups: Array | None  # the communities, once they are known
    channel: str = ""  # words of what is chosen, empty where there is no choice
    head: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """Content of the canvas; `rank` are the nodes that get a label first, `graphs` the members of a batch's."""

    wanted: Wanted
    rows: list[list[Panel]]
    lines: Strands
    rank: Array
    graphs: list[Array]
    hulls: list[tuple[Array, str]]
    legend: Legend
    valued: bool  # whether lines have widths
    ends: Array  # (2, L) from and to of what lines stand for: the listed edges, or the strongest pairs


class Stage:
    """Makes scenes, one at a time. What belongs to the edges alone is made once for all frames."""

    def __init__(self) -> None:
        self._lines: dict[bool, tuple[Structure, tuple[Strands, Array]]] = {}
        self._heats: dict[str, tuple[object, object, Strands, tuple[Array | None, Heat | None, float]]] = {}
        self._apart: tuple[object, int, bool, object] | None = None
        self._lock = threading.Lock()

    def make(self, w: Wanted) -> Scene:
        with self._lock:
            return self._make(w)

    def _make(self, w: Wanted) -> Scene:
        part = w.parts[0][1]
        s, node, choice = part.structure, w.node, w.choice
        own = part.kind in ("edge", "pair")
        dense = dense_pairs(part, choice, node)
        lines, rank = self._strands(s, dense is None and (own or self._two_ways(part, choice, node)))
        ends = s.edges if dense is None else dense.ends
        if dense is not None:
            lines = replace(strands(ends, False, both=True), under=s.edges[:, lines.listed])
        values = [_values(p, w, square.layer.name, ends) for square, p in w.parts]
        choices = [fitting(choice, p, one.layer.name) for one, p in w.parts]
        heats = [
            self._heat(one, p, own_choice, lines, None if dense is None else ends)
            for (one, p), own_choice in zip(w.parts, choices, strict=True)
        ]
        limit = limit_of(*(a for v in values for one in v.values() for a in (one.nodes, one.edges)))
        widest = max((most for widths, _, most in heats if widths is not None), default=1.0)
        if node is not None:  # a row of attention is drawn on its own scale: what it hears most is thickest
            row = ends[1] == node
            widest = limit_of(*(None if widths is None else widths[row] for widths, _, _ in heats))
        rows = []
        for i, (one, p) in enumerate(w.parts):
            role = ("first", "second", "accent")[i] if len(w.parts) > 1 else "text"
            widths, heat, most = heats[i]
            ring = ring_of(one, p, choice)[1]
            rows.append(
                panels_of(one, p, choices[i], lines, node, role, limit, values[i], widths, heat, ring, most / widest)
            )
        graphs = (
            [] if s.graph_of is None else [np.flatnonzero(s.graph_of == k) for k in np.unique(s.graph_of)[:MOST_GRAPHS]]
        )
        legend = legend_of(w, values[0], limit, widest, dense)
        valued = own or heats[0][0] is not None
        return Scene(w, rows, lines, rank, graphs, hulls_of(part, choice, w.groups), legend, valued, ends)

    def _two_ways(self, part: GraphPart, choice: Choice, node: int | None) -> bool:
        """Return whether the two ways of an edge are drawn apart: when they differ, or one of them is asked for."""
        s = part.structure
        source = s.weights if choice.edges == "weights" else part.coefficients.get(choice.edges)
        if source is None or s.directed:
            return False
        if node is not None or s.edges.shape[1] > FOLDED:
            return True
        key = (choice.edges, choice.head)
        if self._apart is None or self._apart[:2] != (key, id(source)):
            widths = coefficients(part, choice)
            there, back = (np.lexsort(pair) for pair in (s.edges, s.edges[::-1]))
            differ = widths is not None and not np.allclose(widths[there], widths[back], rtol=1e-5, equal_nan=True)
            self._apart = key, id(source), differ, source
        return self._apart[2]

    def _strands(self, s: Structure, both: bool) -> tuple[Strands, Array]:
        if both not in self._lines or self._lines[both][0] is not s:
            kept = {k: v for k, v in self._lines.items() if v[0] is s}
            lines = strands(s.edges, s.directed, both, s.bonds)
            degree = np.bincount(lines.start, minlength=s.nodes) + np.bincount(lines.end, minlength=s.nodes)
            rank = np.argsort(-degree, kind="stable")[:4000]
            self._lines = {**kept, both: (s, (lines, rank))}
        return self._lines[both][1]

    def _heat(
        self, square: Square, part: GraphPart, choice: Choice, lines: Strands, pairs: Array | None
    ) -> tuple[Array | None, Heat | None, float]:
        """Return the widths of the listed edges, of the lines, and their limit; the same objects for the same edges.

        `pairs` (2, L) are those that lines stand for in place of the listed edges.
        """
        source = part.structure.weights if choice.edges == "weights" else part.coefficients.get(choice.edges)
        kept, key = self._heats.get(square.model), (choice.edges, choice.head)
        if kept is None or kept[0] != key or kept[1] is not source or kept[2] is not lines:
            if pairs is None and source is not None:
                widths = coefficients(part, choice)
            else:
                widths = widths_along(part, choice, part.structure.edges if pairs is None else pairs)
            limit = limit_of(widths)
            heat = None if widths is None else heated(widths[lines.listed], limit)
            self._heats[square.model] = kept = (key, source, lines, (widths, heat, limit))
        return kept[3]


def _values(part: GraphPart, w: Wanted, layer: str, ends: Array) -> Mapping[str, Values]:
    if w.choice.colour != "community":
        return side_values(part, w.choice, w.node, layer, ends)
    groups = None if w.groups is None else w.groups.astype(float)
    return {side: Values(groups, classes=True) for side in SIDES[:2]}


def ring_of(square: Square, part: GraphPart, choice: Choice) -> tuple[str, Array | None]:
    """Return the set whose nodes have rings: the one chosen as colour, else the last up to the selected layer."""
    found = {n: v for n, v in part.sets.items() if len(v) == part.structure.nodes and is_marks(v) and v.any()}
    if not found:
        return "", None
    names = [layer.name for layer in square.layers]
    until = names.index(square.layer.name) if square.layer.name in names else len(names)
    before = [n for n in found if n in names and names.index(n) <= until]
    name = choice.colour.removeprefix("set:")
    name = name if name in found else before[-1] if before else next(iter(found))
    return name, np.asarray(found[name], bool)


def hulls_of(part: GraphPart, choice: Choice, groups: Array | None) -> list[tuple[Array, str]]:
    """Return members and colour of each class or community that has a hull."""
    of = part.structure.classes if choice.hulls == "class" else groups
    if choice.hulls == "none" or of is None:
        return []
    found = [(np.flatnonzero(of == k), CLASSES[int(k) % len(CLASSES)]) for k in np.unique(of[of >= 0])[:24]]
    return [(members, colour) for members, colour in found if len(members) > 2]


def legend_of(
    w: Wanted, values: Mapping[str, Values], limit: float, widest: float, dense: Dense | None = None
) -> Legend:
    """Return what the colours, lines and rings mean."""
    (square, part), choice, s = w.parts[0], w.choice, w.parts[0][1].structure
    one, t = next(iter(values.values()), None), theme.current()
    swatches: tuple[tuple[str, str], ...] = ()
    kind, title = "", COLOURS.get(choice.colour, choice.colour.removeprefix("set:"))
    if choice.colour == "layer":
        title = "input x" if part.kind == "invariant" else square.layer.name
    if choice.colour in ("layer", "input") and w.channel:
        title += f", {w.channel}"
    if one is not None and one.marks:
        title, swatches = f"in {title}", (("no", t.line), ("yes", t.second))
    title += ", logarithmic" if choice.colour == "degree" else ""
    numbers = one.nodes if one is not None and one.classes else None
    if numbers is not None:
        every = np.unique(numbers[np.isfinite(numbers) & (numbers >= 0)]).astype(int)
        swatches = tuple((str(k), CLASSES[k % len(CLASSES)]) for k in every[:10])
    elif not swatches and one is not None and one.nodes is not None:
        kind = "signed" if one.signed else "error"
    elif one is not None and one.edges is not None and (one.edges < 0).any():
        kind = "signed"
    number = s.edges.shape[1] if s.directed else int((s.edges[0] <= s.edges[1]).sum())
    count = f"{spaced(s.nodes)} nodes · {spaced(number)} edges" if number else f"{spaced(s.nodes)} points"
    edges = ""
    if choice.edges != "plain":
        edges = choice.edges + (f", {w.head}" if w.head else "")
        edges += f", into {w.node}" if w.node is not None else ""
        # the panel of rho(g) x has the widths of x too, for its edges are the same: what they are there is not known
        edges += ", at x" if choice.edges != "weights" else ""
    elif choice.colour == "layer" and part.kind in ("edge", "pair"):
        edges, widest = "edges" if dense is None else "pairs", limit
        edges += f" into {w.node}" if dense is not None and w.node is not None else ""
    if dense is not None and dense.ends.shape[1] < dense.pairs:
        edges += f", the strongest {spaced(dense.ends.shape[1])} of {spaced(dense.pairs)}"
    ring, members = ring_of(square, part, choice)
    rings = f"in {ring} at x: {int(members.sum())}" if members is not None and choice.colour != f"set:{ring}" else ""
    hints = HINTS if number else tuple(hint for hint in HINTS if "hears" not in hint)
    shown = bool(number) or dense is not None
    return Legend(title, kind, limit, swatches, edges if shown else "", widest, count, hints, rings)


def fitting(choice: Choice, part: GraphPart, layer: str) -> Choice:
    """Return what is chosen; of a second model that has no such coefficients, its own most telling ones."""
    if choice.edges in ("plain", "weights", *part.coefficients, *part.pairs):
        return choice
    return replace(choice, edges=telling(part, layer), head=None)


def telling(part: GraphPart, layer: str) -> str:
    """Return the coefficients that tell most of a layer: its own, then attention or a mask, then the first."""
    names = list(part.coefficients)
    near = [n for n in names if n == layer] or [n for n in names if n.startswith(layer)]
    loud = [n for n in names if any(word in n for word in ("attention", "alpha", "mask"))]
    return next(iter([*near, *loud, *names]), "plain")


def spaced(number: int) -> str:
    """Return a number with its thousands apart."""
    return f"{number:_}".replace("_", "\N{NO-BREAK SPACE}")


def waiting_words(s: Structure) -> tuple[str, str]:
    """Return what is said while there are no places."""
    return f"Laying out {spaced(s.nodes)} nodes\N{HORIZONTAL ELLIPSIS}", "The first places are rough and get better"
