"""Work out the look of nodes and edges: values of a frame as colours, sizes and widths. No painting here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor

from explorer.spaces.graph.drawing.values import GraphPart
from explorer.square.frame import Square
from widgets.base.look import theme
from widgets.base.look.theme import CLASSES
from widgets.base.text.words import figure
from widgets.spaces.graph.drawing.geometry import Strands

Array = NDArray[Any]
ODD = (208, 32, 208)  # a value that is not a number, as in the maps
FADED = 0.14  # what is left of the colour of what is not near the selected node
SIDES = ("before", "after", "difference")
OF_SELECTED = ("influence", "distance")  # colours that say of every node how it stands to the selected one


@dataclass(frozen=True, slots=True)
class Choice:
    """Choices of a person about the picture of a graph, beside the state of the program.

    `colour` is "layer", "input", "class", "degree", "influence", "distance", "community", "graph" or "set:NAME";
    `edges` is "plain", "weights", or a layer's name; `head` None is the norm over heads; `size` is "equal", "value",
    "degree" or "influence"; `labels` is "number", "name" or "none"; `hulls` is "none", "class" or "community".
    """

    colour: str = "layer"
    channel: int | None = None
    edges: str = "plain"
    head: int | None = None
    size: str = "equal"
    labels: str = "number"
    hulls: str = "none"
    sides: tuple[str, ...] = SIDES


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """Numbers of nodes (N,) or edges (E,) of one side, in the order of x; `classes` where they are names of groups."""

    nodes: Array | None = None
    edges: Array | None = None
    classes: bool = False
    signed: bool = False
    log: bool = False  # coloured on a logarithmic scale
    marks: bool = False  # one where a node is in a set, else zero


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One picture of the graph. Nodes in the order of x; `fill` (N, 3) is RGB.

    `heat` is the magnitude of each line's value from 0 to 1 (its width), None for plain lines, `below` where it is
    negative, None where it never is; `boost` enlarges it where lines are emphasised; `number` is what each node is
    called here, -1 where it is not there; `texts` are the numbers at lines when there is room for them.
    """

    side: str
    title: str
    note: str
    role: str
    values: Values
    fill: Array
    grow: Array
    heat: Array | None
    below: Array | None
    number: Array
    dim: Array | None = None  # lines that are not near the selected node
    near: Array | None = None  # nodes that are, (N,)
    halo: Array | None = None
    marks: Array | None = None  # nodes with a ring
    boost: float = 1.0
    texts: Mapping[int, str] = field(default_factory=dict)
    empty: str = ""
    gone: Array | None = None  # lines that are not there on this side, None where all are


@dataclass(frozen=True, slots=True)
class Legend:
    """Key to the colours: a bar from `low` to `high`, or swatches; and what the lines mean."""

    title: str = ""
    kind: str = ""  # "signed", "error", "classes" or ""
    limit: float = 1.0
    swatches: tuple[tuple[str, str], ...] = ()
    edges: str = ""
    edge_limit: float = 0.0
    count: str = ""
    hints: tuple[str, ...] = ()
    rings: str = ""


def side_values(
    part: GraphPart, choice: Choice, node: int | None, layer: str = "", ends: Array | None = None
) -> dict[str, Values]:
    """Return the numbers shown on each side that there is, in the order of x.

    Args:
        layer: the selected one.
        ends: (2, L) of what is drawn as lines, where that is not the listed edges.
    """
    s, n = part.structure, part.structure.nodes
    name, _, which = choice.colour.partition(":")
    fixed: dict[str, Callable[[], Any]] = {
        "class": lambda: s.classes, "graph": lambda: s.graph_of, "distance": lambda: part.distance,
        "influence": lambda: part.influence, "set": lambda: part.sets.get(which),
        "degree": lambda: np.bincount(s.edges[1], minlength=n) if n else None,
    }  # fmt: skip
    if name in fixed:
        values = fixed[name]()
        if values is None or len(values) != n:
            return {side: Values() for side in SIDES[:2]}
        values = flattened(np.asarray(values))[:, 0]
        marks = name == "set" and is_marks(values)
        grouped = not marks and (name in ("class", "graph") or (name == "set" and not (values % 1).any()))
        one = Values(values.astype(float), classes=grouped, log=name == "degree", marks=marks)
        return dict.fromkeys(SIDES[:2], one)
    if name == "input" or part.kind == "invariant" or (part.kind == "node" and len(part.values) != n):
        signed = _signed(part.x, choice.channel)
        return {
            "before": Values(_channel(part.x, choice.channel), signed=signed),
            "after": Values(_taken(_channel(part.gx, choice.channel), part.order), signed=signed),
        }
    sides = {"before": part.values, "after": part.moved, "difference": part.difference}
    if part.kind == "node" and layer in part.sets:  # members of a set, or names of groups: no number with a sign
        return _memberships(part, sides)
    found = {}
    for side, values in sides.items():
        if values is not None:
            found[side] = _at(part, values, choice.channel, node, side != "before", ends)
    return found


def _memberships(part: GraphPart, sides: Mapping[str, Array | None]) -> dict[str, Values]:
    marks = is_marks(flattened(part.values)[:, 0]) and bool(part.values.any())
    found = {}
    for side, values in sides.items():
        if values is None:
            continue
        own = _taken(flattened(values)[:, 0], part.order if side != "before" else np.arange(part.structure.nodes))
        if side == "difference":
            found[side] = Values((own != 0).astype(float), marks=True)
        else:
            found[side] = Values(own, classes=not marks, marks=marks)
    return found


def _at(
    part: GraphPart, values: Array, channel: int | None, node: int | None, moved: bool, ends: Array | None
) -> Values:
    n, e = part.structure.nodes, part.structure.edges.shape[1]
    order = part.order if moved else np.arange(n)
    if part.kind == "pair":
        start, end = order[part.structure.edges if ends is None else ends]
        matrix = values[min(channel, len(values) - 1)] if channel is not None else np.sqrt((values**2).mean(axis=0))
        edges = np.where((start >= 0) & (end >= 0), matrix[end, start], np.nan)
        row = None if node is None or node >= n or order[node] < 0 else _taken(matrix[order[node]], order)
        return Values(row, edges, signed=bool((values < 0).any()))
    flat = _channel(values, channel)
    if part.kind == "edge":
        edge_order = part.edge_order if moved else np.arange(e)
        return Values(None, _taken(flat, edge_order), signed=_signed(values, channel))
    return Values(_taken(flat, order), signed=_signed(values, channel))


def flattened(values: Array) -> Array:
    """Return (n, ...) as (n, channels), for n = 0 too."""
    return np.asarray(values).reshape(len(values), math.prod(values.shape[1:]))


def _channel(values: Array, channel: int | None) -> Array:
    """Return one channel of (n, ...), or the root mean square over them."""
    flat = flattened(values)
    if not flat.shape[1]:
        return np.zeros(len(values))
    if channel is None and flat.shape[1] > 1:
        flat = flat if flat.dtype.kind == "f" else flat.astype(float)
        return np.sqrt(np.einsum("ij,ij->i", flat, flat, dtype=float) / flat.shape[1])
    return flat[:, min(channel or 0, flat.shape[1] - 1)].astype(float)


def _signed(values: Array, channel: int | None) -> bool:
    """Say whether a scale has to go both ways: numbers that are counted or cut off at zero have no sign."""
    return (channel is not None or values[:1].size <= 1) and bool((values < 0).any())


def _taken(values: Array, order: Array) -> Array:
    out = np.full(len(order), np.nan)
    ok = (order >= 0) & (order < len(values))
    out[ok] = values[order[ok]]
    return out


def coefficients(part: GraphPart, choice: Choice) -> Array | None:
    """Return what the widths of the listed edges of x's graph mean, (E,), None for plain lines."""
    e = part.structure.edges.shape[1]
    values = part.structure.weights if choice.edges == "weights" else part.coefficients.get(choice.edges)
    if values is None or len(values) != e:
        return None
    return _channel(values, choice.head)


def is_marks(values: Array) -> bool:
    """Return whether these say of each node that it is in a set, or is not."""
    return bool(np.isin(values, (0, 1)).all())


# colours ----------------------------------------------------------------------------------------------------------
def rgb(text: str) -> Array:
    ink = QColor(text)
    return np.array([ink.red(), ink.green(), ink.blue()], np.uint8)


def faded(colours: Array, part: Array | float, ground: str) -> Array:
    """Return colours mixed with the ground, `part` of them being left."""
    share = np.asarray(part, float)
    share = share[:, None] if share.ndim else share
    return np.asarray(np.round(colours * share + rgb(ground) * (1 - share)), np.uint8)


def dimmed(colours: Array, near: Array, ground: str) -> Array:
    """Return (n, 3) colours, those that are not near mixed with the ground."""
    tables = faded(np.arange(256)[:, None].repeat(3, 1).astype(float), FADED, ground)
    out = np.stack([tables[:, k][colours[:, k]] for k in range(3)], 1)
    out[near] = colours[near]
    return out


def coloured(values: Values, limit: float) -> Array:
    """Return (n, 3) RGB of node values on a scale that is symmetric where they are signed."""
    assert values.nodes is not None
    v = np.asarray(values.nodes, float)
    bad = ~np.isfinite(v)
    v = np.where(bad, 0, v)
    if values.marks:
        out = np.array([rgb(theme.current().line), rgb(theme.current().second)])[v.astype(int)]
    elif values.classes:
        table = np.array([rgb(c) for c in CLASSES])
        out = table[v.astype(int) % len(table)]
        out[v < 0] = rgb(theme.current().line)
    elif values.log:
        share = np.log1p(np.abs(v)) / np.log1p(limit)
        out = theme.error_map()[np.round(share.clip(0, 1) * 511).astype(int), :3]
    elif values.signed:
        out = theme.signed_map()[np.round((v / limit).clip(-1, 1) * 255.5 + 255.5).astype(int), :3]
    else:
        out = theme.error_map()[np.round((v / limit).clip(0, 1) * 511).astype(int), :3]
    out[bad] = ODD
    return np.asarray(out)


def limit_of(*arrays: Array | None) -> float:
    """Return the largest finite magnitude, 1 where there is none."""
    most = 0.0
    for array in arrays:
        if array is not None and array.size:
            most = max(most, float(np.abs(np.where(np.isfinite(array), array, 0)).max()))
    return most or 1.0


Heat = tuple[Array, Array | None]


def heated(values: Array, limit: float) -> Heat:
    """Return the share of the limit of the values of lines, and which are below zero; None where none is."""
    v = np.where(np.isfinite(values), values, 0).astype(np.float32) / np.float32(limit)
    below = v < 0
    return np.abs(v).clip(0, 1), below if below.any() else None


def heat_colour(share: float, below: bool | None) -> Array:
    """Return the RGB of a line of that share: blue below zero and red above, or the accent where there is no sign."""
    t = theme.current()
    end = rgb(t.accent) if below is None else theme.signed_map()[70 if below else -70, :3]
    return faded(end.astype(float), 0.15 + 0.85 * share, t.line)


def _dropped(part: GraphPart, lines: Strands) -> Array | None:
    """Return which lines are edges that rho(g) x has not; lines between any two nodes are no edges."""
    if lines.under is not None or not len(part.edge_order):
        return None
    gone = part.edge_order[lines.listed] < 0
    return np.asarray(gone) if gone.any() else None


# the panels of one square -----------------------------------------------------------------------------------------
def panels_of(
    square: Square, part: GraphPart, choice: Choice, lines: Strands, node: int | None, role: str, limit: float,
    sides: Mapping[str, Values], widths: Array | None, heat: Heat | None, ring: Array | None,
    boost: float = 1.0,
) -> list[Panel]:  # fmt: skip
    """Return the pictures of one square that are asked for.

    `widths` (E,) are those of the listed edges of x, and `heat` the same for lines: the places of x and of rho(g) x
    show the same edges, and so the same widths.
    """
    t, n = theme.current(), part.structure.nodes
    near, dim = neighbourhood(part, lines, node)
    if part.kind == "pair" and choice.colour == "layer":
        near = None  # each pair has a value, joined by an edge or not: nothing of the selected row is faded
    if choice.colour in OF_SELECTED:
        near = None  # what is asked is how far it reaches
    titles = {"before": ("F(x)", "x"), "after": ("F(ρ(g)x)", "ρ(g)x"), "difference": ("difference",) * 2}
    shows_x = choice.colour != "layer" or part.kind == "invariant"
    made, gone = [], _dropped(part, lines)
    for side in choice.sides:
        values = sides.get(side)
        if values is None and side == "difference" and (part.kind == "invariant" or choice.colour != "layer"):
            continue
        number = np.arange(n) if side == "before" else part.order
        there = number >= 0
        if values is not None and values.nodes is not None:
            fill = coloured(values, limit)
        else:
            fill = np.broadcast_to(rgb(t.raised), (n, 3)).copy()
        own, shown, more = (widths, heat, boost) if side != "difference" else (None, None, 1.0)
        if own is None and values is not None and values.edges is not None:
            own, shown = values.edges, heated(values.edges[lines.listed], limit)
        if near is not None:
            fill = dimmed(fill, near, t.plot)
        fill[~there] = rgb(t.plot)
        texts: dict[int, str] = {}
        if node is not None and own is not None and (side == "before" or own is not widths):
            incoming = np.flatnonzero(lines.end == node)[:60]
            texts = {int(k): figure(float(own[lines.listed[k]])) for k in incoming}
        made.append(
            Panel(
                side, titles[side][shows_x], _note(part, values, side, square), role, values or Values(), fill,
                _grown(part, choice, values, limit), shown[0] if shown else None, shown[1] if shown else None, number,
                _far(dim, lines, node, shown is not None), near, _halo(part, side),
                ring if side != "difference" else None, more, texts,
                "" if values is not None else square.no_action or "This element has no action here",
                None if side == "before" else gone,
            )
        )  # fmt: skip
    return made


def _note(part: GraphPart, values: Values | None, side: str, square: Square) -> str:
    gone = int((part.order < 0).sum())
    if side == "after":
        return f"{gone} node{'s' if gone > 1 else ''} dropped" if gone else ""
    if side == "before" or values is None:
        return ""
    found = next((a for a in (values.nodes, values.edges) if a is not None), None)
    if found is None:
        return ""
    known = found[np.isfinite(found)]
    return f"largest {figure(float(np.abs(known).max()))}" if known.size else ""


def _far(dim: Array | None, lines: Strands, node: int | None, valued: bool) -> Array | None:
    """Return the lines that are faded: where lines have values, all but the incoming ones, the node's row."""
    return np.asarray(lines.end != node) if dim is not None and valued else dim


def _halo(part: GraphPart, side: str) -> Array | None:
    if part.influence is None or side != "before" or len(part.influence) != part.structure.nodes:
        return None
    share = np.where(np.isfinite(part.influence), part.influence, 0.0)
    return np.asarray(np.sqrt(share.clip(0) / max(float(share.max(initial=0)), 1e-30)))


def _grown(part: GraphPart, choice: Choice, values: Values | None, limit: float) -> Array:
    """Return how much larger than usual each node is drawn."""
    n = part.structure.nodes
    by: Array | None = None
    match choice.size:
        case "degree":
            by = np.sqrt(np.bincount(part.structure.edges[1], minlength=n).astype(float))
        case "influence":
            by = part.influence
        case "value":
            by = None if values is None or values.nodes is None or values.classes else np.abs(values.nodes) / limit
    if by is None or len(by) != n or not n:
        return np.ones(n)
    by = np.where(np.isfinite(by), by, 0.0)
    return np.asarray(0.6 + 1.2 * by / max(float(by.max()), 1e-30))


def neighbourhood(part: GraphPart, lines: Strands, node: int | None) -> tuple[Array | None, Array | None]:
    """Return which nodes are the selected one or joined to it, and which lines do not end at it; None without one."""
    if node is None or not 0 <= node < part.structure.nodes:
        return None, None
    touching = (lines.start == node) | (lines.end == node)
    near = np.zeros(part.structure.nodes, bool)
    near[node] = True
    near[lines.start[touching]] = near[lines.end[touching]] = True
    return near, ~touching
