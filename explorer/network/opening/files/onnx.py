"""Read an ONNX graph: operators, initial values, inputs and outputs, by the few fields of its protobuf.

The messages and numbers of fields are those of onnx.proto3 of the ONNX project; unknown fields are passed over, as
the format demands. Nothing outside of the file is opened.
"""

from __future__ import annotations

import mmap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from explorer.network.opening.files.contents import Damaged, TensorEntry

LARGEST = 2**31  # bytes of a protobuf message
MOST = 2_000_000  # nodes and values
MOST_LISTED = 2000  # nodes that are kept as text
MOST_ENDS = 8  # values that a node takes or gives in it
_TYPES = (
    "undefined", "float32", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool", "float16",
    "float64", "uint32", "uint64", "complex64", "complex128", "bfloat16",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Node:
    """One operator: what it takes and gives by name."""

    operator: str
    name: str
    takes: tuple[str, ...]
    gives: tuple[str, ...]


@dataclass(slots=True)
class Onnx:
    """A graph of operators as the file states it."""

    nodes: Counter[str] = field(default_factory=Counter)
    listed: list[Node] = field(default_factory=list)  # the first of them
    shapes: dict[str, str] = field(default_factory=dict)  # of the values that the file tells them of
    tensors: list[TensorEntry] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)  # files that hold numbers of it
    foreign: set[str] = field(default_factory=set)  # domains of operators that are no part of ONNX
    opsets: list[str] = field(default_factory=list)
    producer: str = ""

    def lines(self) -> tuple[str, ...]:
        """Return the nodes in the order of the file, one a line, with the shapes that the file tells."""
        wide = max((len(node.operator) for node in self.listed), default=0)
        lines = [
            f"{k:>5}  {node.operator:<{wide}}  {self._ends(node.takes)} → {self._ends(node.gives)}"
            + (f"    {node.name}" if node.name else "")
            for k, node in enumerate(self.listed, 1)
        ]
        if (more := self.nodes.total() - len(self.listed)) > 0:
            lines.append(f"{'':>5}  … and {more:,} more nodes")
        return tuple(lines)

    def _ends(self, names: tuple[str, ...]) -> str:
        told = [f"{name} {self.shapes.get(name, '')}".strip() for name in names[:MOST_ENDS] if name]
        return ", ".join([*told, *(["…"] if len(names) > MOST_ENDS else [])]) or "–"


def read_onnx(path: Path) -> Onnx:
    """Return what an ONNX file says.

    Raises:
        Damaged: it is no ONNX file, or is cut off.
    """
    size = path.stat().st_size
    if size > LARGEST:
        raise Damaged(f"it has {size:,} bytes, more than the {LARGEST:,} of a protobuf")
    if size == 0:
        raise Damaged("it is empty")
    with path.open("rb") as file:
        # closed with the last view of it
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return _model(memoryview(mapped))


def _model(data: memoryview) -> Onnx:
    found = Onnx()
    versions, graphs = [], 0
    for number, value in _fields(data):
        match number, value:
            case 1, int():
                versions.append(value)
            case ((2 | 3), memoryview()):
                found.producer = f"{found.producer} {_text(value)}".strip()
            case 7, memoryview():
                graphs += 1
                _graph(value, found)
            case 8, memoryview():
                inner = dict(_fields(value))
                domain = inner.get(1)
                name = _text(domain) if isinstance(domain, memoryview) else ""
                found.opsets.append(f"{name or 'ai.onnx'} {inner.get(2, '?')}")
            case _:
                pass
    if not graphs or not versions:
        raise Damaged("it is no ONNX model: it has no graph")
    return found


def _graph(data: memoryview, found: Onnx) -> None:
    given: set[str] = set()
    inputs: list[tuple[str, str]] = []
    for number, value in _fields(data):
        if not isinstance(value, memoryview):
            continue
        match number:
            case 1:
                _node(value, found)
            case 5:
                entry = _tensor(value, found)
                given.add(entry.name)
                found.tensors.append(entry)
                found.shapes[entry.name] = "x".join(map(str, entry.shape))
            case 11 | 12 | 13:
                name, kind = _value(value)
                found.shapes[name] = kind.rpartition(" ")[2]
                if number == 11:
                    inputs.append((name, kind))
                elif number == 12:
                    found.outputs.append(f"{name} {kind}")
        if found.nodes.total() + len(found.tensors) + len(found.shapes) > MOST:
            raise Damaged(f"it has more than {MOST:,} nodes and values")
    # old files list initial values among the inputs
    found.inputs = [f"{name} {kind}".strip() for name, kind in inputs if name not in given]


def _node(data: memoryview, found: Onnx) -> None:
    texts: dict[int, list[str]] = {}
    for number, value in _fields(data):
        if number in (1, 2, 3, 4, 7) and isinstance(value, memoryview):
            texts.setdefault(number, []).append(_text(value))
    operator, domain = texts.get(4, ["?"])[-1], texts.get(7, [""])[-1]
    found.nodes[operator] += 1
    if len(found.listed) < MOST_LISTED:
        name = texts.get(3, [""])[-1]
        found.listed.append(Node(operator, name, tuple(texts.get(1, ())), tuple(texts.get(2, ()))))
    if domain not in ("", "ai.onnx", "ai.onnx.ml"):
        found.foreign.add(domain)


def _tensor(data: memoryview, found: Onnx) -> TensorEntry:
    sizes: list[int] = []
    kind, name = 0, ""
    for number, value in _fields(data):
        match number, value:
            case 1, int():
                sizes.append(value)
            case 1, memoryview():
                sizes += _packed(value)
            case 2, int():
                kind = value
            case 8, memoryview():
                name = _text(value)
            case 13, memoryview():
                pair = {n: _text(v) for n, v in _fields(value) if isinstance(v, memoryview)}
                if pair.get(1) == "location":
                    found.elsewhere.append(pair.get(2, ""))
            case _:
                pass
    if len(sizes) > 64 or any(n >= 2**63 for n in sizes):
        raise Damaged(f"the tensor {name[:80]!r} has no shape that can be")
    return TensorEntry(name, tuple(sizes), _TYPES[kind] if kind < len(_TYPES) else f"type {kind}")


def _value(data: memoryview) -> tuple[str, str]:
    """Return the (name, "float32 1x3xheight") of an input or output."""
    name, kind = "", ""
    for number, value in _fields(data):
        if number == 1 and isinstance(value, memoryview):
            name = _text(value)
        elif number == 2 and isinstance(value, memoryview):
            kind = _tensor_type(value)
    return name, kind


def _tensor_type(data: memoryview) -> str:
    element, sizes = "", []
    for number, value in _fields(data):
        if number != 1 or not isinstance(value, memoryview):
            continue
        for inner, held in _fields(value):
            if inner == 1 and isinstance(held, int):
                element = _TYPES[held] if held < len(_TYPES) else f"type {held}"
            elif inner == 2 and isinstance(held, memoryview):
                sizes = [_size(d) for n, d in _fields(held) if n == 1 and isinstance(d, memoryview)]
    return f"{element} {'x'.join(sizes)}".strip()


def _size(data: memoryview) -> str:
    for number, value in _fields(data):
        if number == 1 and isinstance(value, int):
            return str(value)
        if number == 2 and isinstance(value, memoryview):
            return _text(value)
    return "?"


# protobuf itself ---------------------------------------------------------------------------------------------------
def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yield (number, value) for each field of a message: a whole number, or the bytes of something longer."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        if number == 0:
            raise Damaged("it is no protobuf")
        match wire:
            case 0:
                value, at = _varint(data, at)
                yield number, value
            case 1 | 5:
                at += 8 if wire == 1 else 4
            case 2:
                length, at = _varint(data, at)
                if length > len(data) - at:
                    raise Damaged("it is cut off, or no protobuf")
                yield number, data[at : at + length]
                at += length
            case _:
                raise Damaged("it is no protobuf")
        if at > len(data):
            raise Damaged("it is cut off, or no protobuf")


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise Damaged("it is cut off, or no protobuf")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def _packed(data: memoryview) -> list[int]:
    found, at = [], 0
    while at < len(data):
        value, at = _varint(data, at)
        found.append(value)
        if len(found) > 64:
            raise Damaged("a tensor has more than 64 axes")
    return found


def _text(data: memoryview) -> str:
    return bytes(data[:500]).decode("utf-8", "replace")
