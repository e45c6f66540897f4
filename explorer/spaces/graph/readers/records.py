"""Graphs as records: nodes and edges that carry named values, as in GraphML, GML and node-link JSON.

Numbers become columns, by names that such files commonly use: "weight" or "value" is the weight, x, y (and z) or pos
the place, "class", "club", "community", "group" or a whole-numbered "label" the class, "name" or a textual "label" the
name. All other numbers are attributes, in the order in which their names first occur; texts are left out, with a note.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.checks import Broken
from explorer.spaces.graph.readers.assembly import Found

Values = Mapping[str, Any]
CLASSES = ("class", "label", "club", "community", "group")
NAMES = ("name", "label", "title")
WEIGHTS = ("weight", "value", "edge_weight")
_MOST_CLASSES = 64
_WIDEST = 4096
_FEW_CELLS, _EMPTIEST = 2**22, 64  # numbers of a table that any file may fill up, and for each that it gives


@dataclass(slots=True)
class Records:
    """The content of a file's text: identities and values of nodes, ends and values of edges, and where they stand."""

    directed: bool = False
    ids: list[Hashable] = field(default_factory=list)
    nodes: list[Values] = field(default_factory=list)
    ends: list[tuple[Hashable, Hashable]] = field(default_factory=list)
    edges: list[Values] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    domain: str = "graph"
    place: Callable[[int], str] = lambda k: f"edge {k}"
    node_place: Callable[[int], str] = lambda k: f"node {k}"


def found_in(records: Records) -> Found:
    """Turn records into arrays.

    Raises:
        Broken: two nodes with one identity, an edge to a node that is not there.
    """
    at: dict[Hashable, int] = {}
    for i, identity in enumerate(records.ids):
        if identity in at:
            raise Broken(f"{records.node_place(i)} has the identity {_shown(identity)} of an earlier one", "rename one")
        at[identity] = i
    pairs = np.empty((len(records.ends), 2), np.int64)
    for k, ends in enumerate(records.ends):
        for side in (0, 1):
            if ends[side] not in at:
                raise Broken(
                    f"{records.place(k)} leads to {_shown(ends[side])}, and there is no such node",
                    "add the node or leave out the edge",
                )
            pairs[k, side] = at[ends[side]]
    found = Found(
        len(at), pairs, records.directed, notes=list(records.notes), place=records.place,
        node_place=records.node_place, domain=records.domain if not len(pairs) else "graph",
    )  # fmt: skip
    nodes, edges = _Columns(records.nodes, "node"), _Columns(records.edges, "edge")
    _take_nodes(found, nodes, records.ids)
    for name in WEIGHTS:
        if found.weight is None and (weight := nodes_or_none(edges, name)) is not None:
            found.weight = weight[:, 0]
    found.attributes = edges.rest()
    found.notes += nodes.notes + edges.notes
    return found


def nodes_or_none(columns: _Columns, name: str) -> NDArray[np.float64] | None:
    """Take a column of numbers (count, 1), or None where there is none of that name."""
    return columns.take(name, 1) if columns.kind(name) == "number" else None


def _take_nodes(found: Found, nodes: _Columns, ids: Sequence[Hashable]) -> None:
    for name in ("seeds", "batch"):
        if nodes.kind(name) == "number":
            values = nodes.take(name, 1, missing=-1)[:, 0]
            setattr(found, name, values.astype(np.int64))
    for name in CLASSES:
        if found.label is None:
            found.label = nodes.classes(name)
    for name in NAMES:
        if not found.names and nodes.kind(name) == "text":
            found.names = nodes.texts(name)
    if not found.names and [str(i) for i in ids] != [str(i) for i in range(len(ids))]:
        found.names = tuple(str(i) for i in ids)
    for names in (("pos",), ("position",), ("x", "y", "z"), ("x", "y")):
        if found.position is None and all(nodes.kind(n) == "number" and nodes.complete(n) for n in names):
            width = nodes.width(names[0])
            if len(names) > 1 and width == 1:
                found.position = np.concatenate([nodes.take(n, 1) for n in names], 1)
            elif len(names) == 1 and width in (2, 3):
                found.position = nodes.take(names[0], width)
    found.x = nodes.rest()


class _Columns:
    """Named values of nodes or edges as columns, taken one after the other.

    Each value is looked at once: in a wide file most rows lack most names.
    """

    def __init__(self, rows: Sequence[Values], whose: str) -> None:
        self.rows, self.whose = rows, whose
        self._given: dict[str, list[tuple[int, Any]]] = {}
        total = 0
        for i, row in enumerate(rows):
            for name, value in row.items():
                at = self._given.setdefault(name, [])
                if value is not None:
                    at.append((i, value))
                    total += _length(value)
        if len(self._given) > _WIDEST:
            raise Broken(f"its {whose}s have {len(self._given)} attributes and the most is {_WIDEST}", "keep fewer")
        self._most = max(_FEW_CELLS, _EMPTIEST * total)
        self.names = list(self._given)
        self.notes: list[str] = []
        self._kinds: dict[str, str] = {}

    def kind(self, name: str) -> str:
        """Say what the values called `name` are: "number" (of one width), "text", "other", or "" when taken."""
        if name not in self.names:
            return ""
        if name not in self._kinds:
            values = [value for _, value in self._given[name]]
            if not values:
                self._kinds[name] = "other"
            elif all(isinstance(v, str) for v in values):
                self._kinds[name] = "text"
            elif all(_is_number(v) for v in values) and len({_length(v) for v in values}) == 1:
                self._kinds[name] = "number"
            else:
                self._kinds[name] = "other"
        return self._kinds[name]

    def complete(self, name: str) -> bool:
        return len(self._given[name]) == len(self.rows)

    def width(self, name: str) -> int:
        return _length(self._given[name][0][1])

    def take(self, name: str, width: int, missing: float = 0.0) -> NDArray[np.float64]:
        """Return (rows, width) and strike `name` off; what is missing becomes `missing`, and is counted."""
        self.names.remove(name)
        column = np.full((len(self.rows), width), missing, np.float64)
        for i, value in self._given[name]:
            try:
                column[i] = value
            except OverflowError:
                column[i] = np.inf
        lacking = len(self.rows) - len(self._given[name])
        if lacking and missing == 0.0:
            self.notes.append(f"{name!r} is missing at {lacking} of {len(self.rows)} {self.whose}s: 0 stands there")
        return column

    def texts(self, name: str) -> tuple[str, ...]:
        self.names.remove(name)
        return tuple(str(row.get(name) or f"{self.whose} {i}") for i, row in enumerate(self.rows))

    def classes(self, name: str) -> NDArray[np.int64] | None:
        """Take `name` as classes: whole numbers from -1, or a few different texts; None where it is neither."""
        if self.kind(name) == "number" and self.width(name) == 1:
            values = [row.get(name, -1) for row in self.rows]
            whole = [-1 if v is None else int(v) if abs(v) < 2**31 and v == int(v) else -2 for v in values]
            if min(whole) < -1:
                return None
            self.names.remove(name)
            return np.array(whole, np.int64)
        if self.kind(name) == "text":
            texts = [row.get(name) for row in self.rows]
            kinds = list(dict.fromkeys(t for t in texts if t is not None))
            number = {text: k for k, text in enumerate(kinds)}
            # as many texts as nodes are names
            if name in NAMES or not 1 < len(kinds) <= min(_MOST_CLASSES, len(self.rows) - 1):
                return None
            self.names.remove(name)
            self.notes.append(f"classes by {name!r}: " + ", ".join(f"{k} {text}" for k, text in enumerate(kinds)))
            return np.array([-1 if t is None else number[t] for t in texts], np.int64)
        return None

    def rest(self) -> NDArray[np.float64] | None:
        """Return all numbers that are left, side by side, or None; what is no number is named in the notes."""
        numbers = [name for name in self.names if self.kind(name) == "number"]
        others = [name for name in self.names if name not in numbers]
        if others:
            more = f" and {len(others) - 4} more" if len(others) > 4 else ""
            self.notes.append(f"not numbers, left out of the {self.whose}s: {', '.join(others[:4])}{more}")
        if not numbers:
            return None
        widths = [self.width(name) for name in numbers]
        if sum(widths) > _WIDEST:
            raise Broken(f"its {self.whose}s have {sum(widths)} attributes and the most is {_WIDEST}", "keep fewer")
        if (cells := sum(widths) * len(self.rows)) > self._most:
            what = f"the {sum(widths)} attributes of its {len(self.rows)} {self.whose}s would be {cells} numbers"
            raise Broken(f"{what}, and nearly all of them are missing", "keep fewer attributes")
        columns = np.concatenate([self.take(name, width) for name, width in zip(numbers, widths)], 1)
        if numbers != [f"x{k}" for k in range(len(numbers))] and numbers not in (["x"], ["edge_attr"]):
            what = "x" if self.whose == "node" else "edge_attr"
            more = f" and {len(numbers) - 8} more" if len(numbers) > 8 else ""
            self.notes.append(f"{what}: {', '.join(numbers[:8])}{more}")
        return columns


def _is_number(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(v, int | float) for v in value)
    return isinstance(value, int | float)


def _length(value: Any) -> int:
    return len(value) if isinstance(value, list | tuple) else 1


def _shown(identity: Hashable) -> str:
    text = repr(identity)
    return text if len(text) <= 40 else text[:37] + "..."
