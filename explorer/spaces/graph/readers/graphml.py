"""GraphML, as networkx, igraph, Gephi and yEd write it. A DTD is refused: no entity is ever expanded."""

from __future__ import annotations

import re
from pathlib import Path
from typing import IO, Any
from xml.parsers import expat

from explorer.data.formats.checks import Broken, file_bytes, refusing
from explorer.data.readers import Reader
from explorer.declare.samples import Sample
from explorer.spaces.graph.readers.assembly import sample_of
from explorer.spaces.graph.readers.records import Records, found_in

_HEAD = re.compile(rb"\s*(?:<\?xml[^>]*\?>)?\s*(?:<!--.*?-->\s*)*<graphml", re.S)
_DEEPEST = 64
_LONGEST_TEXT = 1_000_000
_AT_ONCE, _LONGEST_TAG = 2**20, 2**24  # bytes; expat reads a tag that goes on from its beginning again with each piece
_WHOLE = ("int", "integer", "long", "short", "byte")
_REAL = ("float", "double")
_DRAWING = "names are those of yEd's labels; shapes and places of its drawing are left out"


def _sniff(head: bytes) -> bool:
    return _HEAD.match(head.removeprefix(b"\xef\xbb\xbf")) is not None


class _Parser:
    """Collects one graph; the first of several is taken. Nested graphs are refused."""

    def __init__(self) -> None:
        self.records = Records()
        self.lines: list[int] = []
        self.node_lines: list[int] = []
        self.records.place = lambda k: f"the edge in line {self.lines[k]}"
        self.records.node_place = lambda k: f"the node in line {self.node_lines[k]}"
        self._keys: dict[str, tuple[str, str, str]] = {}  # id -> what for, name, type
        self._drawn: set[str] = set()  # keys of drawings: shapes, colours and places of yEd
        self._defaults: dict[str, Any] = {}
        self._open: list[str] = []
        self._values: dict[str, Any] = {}
        self._key = ""
        self._text: list[str] = []
        self._graphs = 0
        self._odd_ends = 0
        self._expat = expat.ParserCreate(namespace_separator="}")
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.CharacterDataHandler = self._data
        self._expat.StartDoctypeDeclHandler = self._refuse_dtd
        self._expat.EntityDeclHandler = self._refuse_dtd

    def read(self, path: Path) -> Records:
        with path.open("rb") as file:
            try:
                self._feed(file)
            except expat.ExpatError as error:
                raise Broken(f"its XML is damaged in line {error.lineno}, column {error.offset + 1}") from None
        if not self._graphs:
            raise Broken("there is no <graph> in it", "save a graph as GraphML")
        if self._graphs > 1:
            self.records.notes.append(f"the first of {self._graphs} graphs")
        if self._odd_ends:
            self.records.notes.append(f"{self._odd_ends} edges say their own direction; the graph's is taken")
        return self.records

    def _feed(self, file: IO[bytes]) -> None:
        at, waiting = -1, 0
        while piece := file.read(_AT_ONCE):
            self._expat.Parse(piece)
            now = self._expat.CurrentByteIndex
            at, waiting = now, waiting + len(piece) if now == at else 0
            if waiting > _LONGEST_TAG:
                raise Broken(f"a tag or a comment in it has more than {_LONGEST_TAG} bytes", "save a plain graph")
        self._expat.Parse(b"", True)

    def _line(self) -> int:
        return int(self._expat.CurrentLineNumber)

    def _refuse_dtd(self, *_: object) -> None:
        raise Broken(
            f"line {self._line()} declares a document type or an entity, which could expand without end",
            "remove the declaration",
        )

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition("}")[2]
        self._open.append(tag)
        if len(self._open) > _DEEPEST:
            raise Broken(f"line {self._line()} is nested more than {_DEEPEST} deep", "save a plain graph")
        if len(self._open) == 1 and tag != "graphml":
            raise Broken(f"it is XML, and its first element is <{tag[:40]}>, not <graphml>", "save it as GraphML")
        if tag == "key":
            name = attributes.get("attr.name") or attributes.get("id", "")
            self._keys[attributes.get("id", "")] = (attributes.get("for", "all"), name, attributes.get("attr.type", ""))
            self._key = attributes.get("id", "")
            if "yfiles.type" in attributes:
                self._drawn.add(self._key)
        elif tag == "graph":
            if "graph" in self._open[:-1]:
                raise Broken(f"line {self._line()} begins a graph inside of a graph", "save the graphs apart")
            self._graphs += 1
            if self._graphs == 1:
                self.records.directed = attributes.get("edgedefault", "directed") == "directed"
        elif tag in ("node", "edge") and self._graphs == 1:
            self._values = {}
            if tag == "node":
                self.records.ids.append(self._must(attributes, "id", "node"))
                self.node_lines.append(self._line())
            else:
                ends = (self._must(attributes, "source", "edge"), self._must(attributes, "target", "edge"))
                self.records.ends.append(ends)
                self.lines.append(self._line())
                own = attributes.get("directed")
                self._odd_ends += own is not None and (own == "true") != self.records.directed
        elif tag == "hyperedge":
            raise Broken(f"line {self._line()} is an edge with more than two ends", "save it as ordinary edges")
        elif tag == "data":
            self._key = attributes.get("key", "")
        self._text = []

    def _must(self, attributes: dict[str, str], name: str, tag: str) -> str:
        if name not in attributes:
            raise Broken(f"the {tag} in line {self._line()} has no {name!r}", "add it")
        return attributes[name]

    def _data(self, text: str) -> None:
        if self._open and self._open[-1] in ("data", "default", "NodeLabel"):
            self._text.append(text)
            if len(self._text) > _LONGEST_TEXT:
                raise Broken(f"a value near line {self._line()} is too long", "leave it out")

    def _end(self, tag: str) -> None:
        tag = tag.rpartition("}")[2]
        self._open.pop()
        parent = self._open[-1] if self._open else ""
        if tag == "default" and parent == "key":
            self._defaults[self._key] = self._value(self._key)
        elif tag == "NodeLabel" and "node" in self._open and self._graphs == 1:
            self._values.setdefault("label", " ".join("".join(self._text).split()) or None)
        elif tag == "data" and self._key in self._drawn:
            if _DRAWING not in self.records.notes and self._graphs == 1:
                self.records.notes.append(_DRAWING)
        elif tag == "data" and parent in ("node", "edge") and self._graphs == 1:
            name = self._keys.get(self._key, ("", self._key, ""))[1]
            self._values[name] = self._value(self._key)
        elif tag in ("node", "edge") and self._graphs == 1:
            for key, value in self._defaults.items():
                wanted, name, _ = self._keys[key]
                if wanted in (tag, "all"):
                    self._values.setdefault(name, value)
            (self.records.nodes if tag == "node" else self.records.edges).append(self._values)

    def _value(self, key: str) -> Any:
        text, kind = "".join(self._text).strip(), self._keys.get(key, ("", "", ""))[2]
        try:
            if kind in _WHOLE:
                return int(text)
            if kind in _REAL:
                return float(text)
        except ValueError:
            raise Broken(f"line {self._line()} holds {text[:40]!r} and not a number ({kind})", "correct it") from None
        if kind == "boolean":
            return text.lower() in ("true", "1")
        return text or None


def _read(path: Path) -> Sample:
    file_bytes(path)
    with refusing(path, "GraphML"):
        return sample_of(path, found_in(_Parser().read(path)))


READER = Reader("graphml", "Graph (GraphML)", (".graphml",), "graph", _sniff, _read)
