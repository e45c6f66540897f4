"""Write values for another process as text that cannot run anything, and read only what is plain and of its kind.

The side that reads may not trust the other one: a person's network runs there, which can write whatever it likes. So
nothing is unpickled. What is read consists of numbers, texts, lists, mappings, arrays, and of the program's own data
classes and enumerations, which are filled without a call of their code. A field of a data class holds what its
annotation says. Depth, size and claims about arrays are bounded before memory is asked for.
"""

from __future__ import annotations

import base64
import enum
import json
import math
import os
import re
import sys
from collections.abc import Hashable, Iterable
from dataclasses import fields, is_dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any

import numpy as np

from explorer.declare.registry import plugged_names, scanned
from explorer.work.files.places import PREFIX
from explorer.work.processes.kinds import Kind, kind_of, of_field

ALIGNED = 64
DEEPEST = 60  # levels of values in values
SMALL = 512  # bytes; what is smaller stays in the text
LARGEST_KEY = 2**60  # whole numbers above can be made to collide in a mapping
_OURS = (f"{PREFIX}explorer.", f"{PREFIX}models.", "equiscope.")
_DTYPE = re.compile(r"[<>|=][biufcSUmM]\d{1,9}(\[\d{0,9}[a-zA-Z]{1,3}\])?|\|b1")
_NAME = re.compile(r"[A-Za-z_][\w.]{0,200}:[A-Za-z_]\w{0,99}")
_ATOMS = frozenset({str, int, float, bool, type(None)})
# made at the import: whoever replaces json.dumps later is told that it did, by an answer that can be read
as_json = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
_TUPLE, _LIST, _DICT, _SET, _FROZEN, _MAPPING, _BYTES, _ARRAY, _KNOWN, _SCALAR, _COMPLEX, _MEMBER, _PLAIN, _FIRST = (
    range(14)
)


class Refused(Exception):
    """Raised where a message holds something else than plain values, or values of another kind than they should be."""


class Unwritable(TypeError):
    """Raised where a value is none of those that can be sent."""


def aligned(size: int) -> int:
    """Return so many bytes, filled up so that what follows is aligned."""
    return -(-size // ALIGNED) * ALIGNED


def write_parts(number: int, parts: Iterable[tuple[int, memoryview]]) -> None:
    """Write to a file descriptor parts, each with where it begins."""
    for at, raw in parts:
        while raw:
            done = os.pwrite(number, raw, at)
            if done <= 0:  # nothing would ever be written: a network has replaced what writes
                raise OSError("nothing of an array was written")
            raw, at = raw[done:], at + done


class Writer:
    """Writes one value after the other.

    Attributes:
        parts: (where it begins, its bytes) of each array; together they are `size` bytes.
    """

    def __init__(self, sent: dict[int, tuple[int, Any]] | None = None) -> None:
        """Begin; `sent` has the arrays that the other side has got already, by id, and takes on those of this value."""
        self._classes = dict[type, int]()
        self._sent = sent
        self.parts = list[tuple[int, memoryview]]()
        self.size = 0

    def text(self, value: object) -> bytes:
        """Return the text of a value.

        Raises:
            Unwritable: it holds what is no plain value.
        """
        told = self._told(value)
        named = [f"{cls.__module__}:{cls.__name__}" for cls in self._classes]
        return as_json([named, told]).encode("ascii")

    def _told(self, value: Any) -> Any:
        kind = type(value)
        if kind in _ATOMS:
            return value
        if kind is tuple:
            return [_TUPLE, *[one if type(one) in _ATOMS else self._told(one) for one in value]]
        if (names := _fields_of(kind)) is not None:
            number = self._classes.setdefault(kind, len(self._classes))
            told: list[Any] = [_FIRST + number]
            for name in names:
                one = getattr(value, name)
                told.append(one if type(one) in _ATOMS else self._told(one))
            return told
        if kind is np.ndarray:
            return self._array(value)
        if kind is list:
            return [_LIST, *map(self._told, value)]
        if kind is dict or kind is MappingProxyType:
            pairs = [self._told(one) for pair in value.items() for one in pair]
            return [_DICT if kind is dict else _MAPPING, *pairs]
        if isinstance(value, enum.Enum):
            return [_MEMBER, self._classes.setdefault(kind, len(self._classes)), value.name]
        return self._rare(value, kind)

    def _rare(self, value: Any, kind: type) -> list[Any]:
        if kind is set or kind is frozenset:
            return [_SET if kind is set else _FROZEN, *map(self._told, value)]
        if kind is bytes:
            if len(value) < SMALL:
                return [_BYTES, base64.b64encode(value).decode("ascii")]
            return [_BYTES, len(value), self._apart(memoryview(value))]
        if isinstance(value, np.generic) and not value.dtype.hasobject and value.dtype.names is None:
            return [_SCALAR, value.dtype.str, base64.b64encode(value.tobytes()).decode("ascii")]
        if kind is complex:
            return [_COMPLEX, value.real, value.imag]
        if isinstance(value, tuple):  # sizes of torch, and tuples with names
            return [_TUPLE, *map(self._told, value)]
        if isinstance(value, str | int | float):  # versions of torch are texts
            return [_PLAIN, next(plain(value) for plain in (str, int, float) if isinstance(value, plain))]
        raise Unwritable(f"{kind.__module__}.{kind.__qualname__} cannot be sent to another process")

    def _array(self, value: np.ndarray[Any, Any]) -> list[Any]:
        if value.dtype.hasobject or value.dtype.names is not None:
            raise Unwritable(f"arrays of {value.dtype} cannot be sent to another process")
        known = self._sent.get(id(value)) if self._sent is not None else None
        if known is not None:
            return [_KNOWN, known[0]]
        if self._sent is not None:
            self._sent[id(value)] = len(self._sent), value
        whole = np.ascontiguousarray(value)
        raw = whole.reshape(-1).view(np.uint8).data if whole.size else memoryview(b"")
        if raw.nbytes < SMALL:
            return [_ARRAY, value.dtype.str, list(value.shape), base64.b64encode(raw).decode("ascii")]
        return [_ARRAY, value.dtype.str, list(value.shape), self._apart(raw)]

    def _apart(self, raw: memoryview) -> int:
        at = self.size
        self.parts.append((at, raw))
        self.size += aligned(raw.nbytes)
        return at


class Reader:
    """Reads what a Writer has written."""

    def __init__(self, memory: Any = b"", kept: list[Any] | None = None) -> None:
        """Begin.

        Args:
            memory: of the arrays; it must not become shorter.
            kept: the arrays that were sent before, which takes on those of this value.
        """
        self._memory, self._kept = memory, [] if kept is None else kept
        self._classes: list[tuple[type, tuple[_Field, ...]]] = []

    def value(self, text: bytes, hint: Any = object) -> Any:
        """Return the value of a text; arrays are read-only.

        Args:
            hint: what it must be, as an annotation says it.

        Raises:
            Refused: it is no such text, or not of that kind.
        """
        try:
            named, told = json.loads(text)
            self._classes = [_class(name) for name in named]
            made = self._made(told, 0)
        except Refused:
            raise
        except (ValueError, TypeError, LookupError, RecursionError, AttributeError, OverflowError, ImportError) as why:
            raise Refused(type(why).__name__) from None
        if not kind_of(hint)(made):
            raise Refused(f"a {type(made).__name__} where something else was expected")
        return made

    def _made(self, told: Any, depth: int) -> Any:
        kind = type(told)
        if kind in _ATOMS:
            return told
        if kind is not list or depth > DEEPEST:
            raise Refused("something else than values")
        tag, depth = told[0], depth + 1
        if type(tag) is not int:
            raise Refused("a value without a kind")
        if tag >= _FIRST:
            return self._object(told, depth)
        if tag <= _LIST and tag >= 0:
            items = [one if type(one) in _ATOMS else self._made(one, depth) for one in told[1:]]
            return tuple(items) if tag == _TUPLE else items
        match told:
            case [0x2 | 0x5, *_]:
                if len(told) % 2 == 0:
                    raise Refused("a mapping without a value")
                found = {self._key(told[k], depth): self._made(told[k + 1], depth) for k in range(1, len(told), 2)}
                return found if tag == _DICT else MappingProxyType(found)
            case [0x3, *items]:
                return {self._key(one, depth) for one in items}
            case [0x4, *items]:
                return frozenset(self._key(one, depth) for one in items)
            case [0x6, str(small)]:
                return base64.b64decode(small, validate=True)
            case [0x6, int(length), int(at)]:
                return bytes(self._part(at, length))
            case [0x7, str(dtype), list(shape), str() | int() as raw]:
                return self._array(dtype, shape, raw)
            case [0x8, int(number)] if number >= 0:
                return self._kept[number]
            case [0x9, str(dtype), str(raw)]:
                return np.frombuffer(base64.b64decode(raw, validate=True), _dtype(dtype), 1)[0]
            case [0xA, int() | float() as real, int() | float() as imaginary]:
                return complex(real, imaginary)
            case [0xB, int(number), str(name)] if number >= 0:
                cls, _ = self._classes[number]
                if issubclass(cls, enum.Enum):
                    return cls.__members__[name]
            case [0xC, str() | int() | float() as plain]:
                return plain
        raise Refused("a value of no kind that there is")

    def _key(self, told: Any, depth: int) -> Hashable:
        made = self._made(told, depth)
        if type(made) is int and abs(made) > LARGEST_KEY:
            raise Refused("a key beyond all numbers")
        found: Hashable = made
        return found

    def _object(self, told: list[Any], depth: int) -> Any:
        cls, known = self._classes[told[0] - _FIRST]
        if len(told) != len(known) + 1 or issubclass(cls, enum.Enum):
            raise Refused(f"a {cls.__name__} with other fields")
        made = object.__new__(cls)
        put = object.__setattr__
        for one, (name, quick, kind) in zip(told[1:], known, strict=True):
            given = type(one)
            if given not in _ATOMS:
                one = self._made(one, depth)
            elif given in quick:
                put(made, name, one)
                continue
            if not kind(one):
                raise Refused(f"the {name} of a {cls.__name__} is of another kind")
            put(made, name, one)
        return made

    def _part(self, at: int, length: int) -> memoryview:
        if at < 0 or length < 0 or at + length > len(self._memory):
            raise Refused("more numbers than were sent")
        return memoryview(self._memory)[at : at + length]

    def _array(self, told: str, shape: list[Any], raw: str | int) -> np.ndarray[Any, Any]:
        if len(shape) > 32 or any(type(n) is not int or n < 0 for n in shape):
            raise Refused("an array of no shape")
        dtype = _dtype(told)
        length = math.prod(shape) * dtype.itemsize
        if isinstance(raw, str):
            data: Any = base64.b64decode(raw, validate=True)
            if len(data) != length:
                raise Refused("an array of another size")
        else:
            data = self._part(raw, length)
        made = np.frombuffer(data, dtype).reshape(shape) if length else np.zeros(shape, dtype)
        made.flags.writeable = False
        self._kept.append(made)
        return made


_Field = tuple[str, frozenset[type], Kind]


_names = dict[type, tuple[str, ...] | None]()


def _fields_of(cls: type) -> tuple[str, ...] | None:
    """Return the names of the fields of a data class, None of another class."""
    if cls not in _names:
        _names[cls] = tuple(field.name for field in fields(cls)) if is_dataclass(cls) else None
    return _names[cls]


def _dtype(told: str) -> np.dtype[Any]:
    if not _DTYPE.fullmatch(told):
        raise Refused("numbers of no kind")
    dtype = np.dtype(told)
    if dtype.hasobject or not dtype.itemsize:
        raise Refused("numbers of no kind")
    return dtype


def _class(name: object) -> tuple[type, tuple[_Field, ...]]:
    """Return a class of the program or of a plug-in, and the name and kind of each field."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise Refused("a class without a name")
    return _known_class(name)


@scanned
def _known_class(name: str) -> tuple[type, tuple[_Field, ...]]:
    module, _, own = name.partition(":")
    if not module.startswith(_OURS) and module not in plugged_names():
        raise Refused(name)
    found: Any = getattr(sys.modules.get(module) or import_module(module), own, None)
    plain = isinstance(found, type) and (is_dataclass(found) or issubclass(found, enum.Enum))
    if not plain or found.__module__ != module:
        raise Refused(name)
    if issubclass(found, enum.Enum):
        return found, ()
    return found, tuple((field.name, *of_field(found, field.name)) for field in fields(found))
