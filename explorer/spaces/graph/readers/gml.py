"""GML, as networkx, igraph and Gephi write it: key and value pairs, lists in square brackets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

from explorer.data.formats.checks import Broken, file_bytes, refusing
from explorer.data.readers import Reader
from explorer.declare.samples import Sample
from explorer.spaces.graph.readers.assembly import sample_of
from explorer.spaces.graph.readers.records import Records, found_in

_HEAD = re.compile(rb'\s*(?:#[^\n]*\n\s*)*(?:graph\s*\[|Creator\s*"|Version\s+\d|directed\s+[01]\s)', re.I)
_TOKEN = re.compile(
    r'(?P<skip>[ \t\r\f\v]+|#[^\n]*)|(?P<line>\n)|(?P<text>"[^"]*")|(?P<open>\[)|(?P<close>\])'
    r"|(?P<real>[+-]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?(?![\w.])|[+-]?(?:inf|nan)\b)"
    r"|(?P<whole>[+-]?\d+(?![\w.]))|(?P<key>[A-Za-z_][\w.]*)",
    re.I,
)
_DEEPEST = 32
_IN_GRAPH = 2  # lists that are open where a node of a graph ends
Pair = tuple[str, Any, int]  # key, value or list of pairs, line


def _sniff(head: bytes) -> bool:
    return _HEAD.match(head) is not None


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    line, at = 1, 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            found = text[at : at + 20].split("\n")[0]
            told = (
                repr(found)
                if found.isascii()
                else f"a sign that GML does not have, column {at - text.rfind(chr(10), 0, at)}"
            )
            raise Broken(f"line {line} of the GML cannot be read at {told}")
        kind = match.lastgroup or ""
        if kind not in ("skip", "line"):
            yield kind, match[0], line
        line += match[0].count("\n")
        at = match.end()


@dataclass(slots=True)
class _Member:
    """A node or an edge: who it is, and its named values."""

    who: tuple[Any, ...]
    values: dict[str, Any]


def _member(key: str, pairs: list[Pair], line: int) -> _Member:
    if key == "node":
        return _Member((_first(pairs, "id", "node", line),), _values(pairs, ("id",)))
    ends = _first(pairs, "source", "edge", line), _first(pairs, "target", "edge", line)
    # networkx numbers the edges of a multigraph with `key`
    return _Member(ends, _values(pairs, ("source", "target", "id", "key")))


def _parse(text: str) -> list[Pair]:
    """Return the pairs of the whole file, lists within lists; nodes and edges as soon as they are complete."""
    whole: list[Pair] = []
    stack = [whole]
    lines: list[int] = []
    key = ""
    for kind, token, line in _tokens(text):
        if not key:
            if kind == "key":
                key = token
            elif kind == "close" and lines:
                inner, begun = stack.pop(), lines.pop()
                if len(stack) == _IN_GRAPH and (name := stack[-1][-1][0]) in ("node", "edge"):
                    stack[-1][-1] = name, _member(name, inner, begun), begun
            else:
                raise Broken(f"line {line} of the GML has {token[:20]!r} where a key must stand")
            continue
        if kind == "open":
            stack.append([])
            stack[-2].append((key, stack[-1], line))
            lines.append(line)
            if len(stack) > _DEEPEST:
                raise Broken(f"line {line} of the GML is nested more than {_DEEPEST} deep", "save a plain graph")
        elif kind in ("close", "key"):
            raise Broken(f"line {line} of the GML has no value for {key!r}")
        else:
            stack[-1].append((key, _value(kind, token), line))
        key = ""
    if lines or key:
        raise Broken(f"the GML is truncated: the list that begins in line {lines[-1] if lines else 1} does not end")
    return whole


def _value(kind: str, token: str) -> Any:
    if kind == "text":
        return unescape(token[1:-1])
    return int(token) if kind == "whole" and len(token) < 20 else float(token)


def _values(pairs: list[Pair], without: tuple[str, ...]) -> dict[str, Any]:
    """Return named values; a key that comes several times is a list, `graphics` gives its x and y."""
    values: dict[str, Any] = {}
    several = set[str]()
    for key, value, _ in pairs:
        if key in without or key == "_networkx_list_start":
            continue
        if isinstance(value, list):
            if key == "graphics":
                values |= {k: v for k, v, _ in value if k in ("x", "y", "z") and not isinstance(v, list | str)}
            continue
        if key in several:
            values[key].append(value)
        elif key in values:
            several.add(key)
            values[key] = [values[key], value]
        else:
            values[key] = value
    return values


def _first(pairs: list[Pair], key: str, what: str, line: int) -> Any:
    for name, value, _ in pairs:
        if name == key:
            return value
    raise Broken(f"the {what} in line {line} has no {key!r}", "add it")


def _records(text: str) -> Records:
    graphs = [value for key, value, _ in _parse(text) if key == "graph" and isinstance(value, list)]
    if not graphs:
        raise Broken("there is no graph in it", "save a graph as GML")
    records = Records()
    node_lines, lines = [], []
    if len(graphs) > 1:
        records.notes.append(f"the first of {len(graphs)} graphs")
    for key, value, line in graphs[0]:
        if key == "directed":
            records.directed = value == 1
        elif key in ("node", "edge") and not isinstance(value, _Member):
            raise Broken(f"the {key} in line {line} of the GML is no list in brackets")
        elif key == "node":
            records.ids.append(value.who[0])
            records.nodes.append(value.values)
            node_lines.append(line)
        elif key == "edge":
            records.ends.append(value.who)
            records.edges.append(value.values)
            lines.append(line)
    records.place = lambda k: f"the edge in line {lines[k]}"
    records.node_place = lambda k: f"the node in line {node_lines[k]}"
    _forget_numbers_as_labels(records)
    return records


def _forget_numbers_as_labels(records: Records) -> None:
    """Drop labels that only repeat the identity: networkx must write a label for every node."""
    if all(str(row.get("label", i)) == str(i) for i, row in zip(records.ids, records.nodes)):
        records.nodes = [{k: v for k, v in row.items() if k != "label"} for row in records.nodes]


def _read(path: Path) -> Sample:
    file_bytes(path)
    with refusing(path, "GML"):
        try:
            text = path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            text = path.read_text(encoding="latin-1")
        if "\0" in text:
            raise Broken("it is no text", "save it as GML")
        return sample_of(path, found_in(_records(text)))


READER = Reader("gml", "Graph (GML)", (".gml",), "graph", _sniff, _read)
