"""Keep what is worked out within a number of bytes, for the whole process together: the oldest of all goes first.

A bound on the number of entries bounds nothing where one entry takes a kilobyte and another one a hundred megabytes.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from functools import wraps
from types import FunctionType, MemberDescriptorType, ModuleType
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
T = TypeVar("T")
P = ParamSpec("P")

MATERIALS = 64 * 2**20  # bytes of things that results are made of, beside those in use: surfaces with their factors
RESULTS = 128 * 2**20  # bytes of results of budgeted functions; a resampling of 512 x 512 places takes 32 MiB
_LEAST = 512  # bytes that any entry counts for: its key, and its place in a table
_DEEP = 4  # containers within each other that are looked into


def held_bytes(things: Iterable[object], deep: int = _DEEP) -> int:
    """Return the bytes of all tensors, arrays and texts in some things; what is there twice counts once.

    What libraries hold besides, a class of ours says by a property `foreign_bytes`.
    """
    torch = sys.modules.get("torch")  # who has tensors has imported it
    walk = _Walk(() if torch is None else torch.Tensor)
    for thing in things:
        walk.count(thing, deep)
    return sum(walk.found.values())


class _Walk:
    """Looks into containers and objects; questions are asked of known types only, for others may answer at length."""

    def __init__(self, tensor: Any) -> None:
        self.found: dict[int, int] = {}
        self._tensor = tensor
        self._seen: set[int] = set()

    def count(self, thing: Any, deep: int) -> None:
        if isinstance(thing, self._tensor):
            # one of a class of its own may have no memory, and one of a lazy layer has none yet
            with contextlib.suppress(RuntimeError, NotImplementedError, TypeError, ValueError):
                for part in _dense(thing):
                    storage = part.untyped_storage()
                    self.found[storage.data_ptr() or id(part)] = storage.nbytes()
        elif isinstance(thing, np.ndarray):
            while isinstance(thing.base, np.ndarray):
                thing = thing.base
            self.found[id(thing)] = thing.nbytes
        elif isinstance(thing, str | bytes):
            self.found[id(thing)] = sys.getsizeof(thing)
        elif type(thing).__name__ == "QImage":
            self.found[id(thing)] = thing.sizeInBytes()
        elif deep and not isinstance(thing, type | ModuleType | FunctionType) and id(thing) not in self._seen:
            self._seen.add(id(thing))
            if foreign := _foreign(thing):
                self.found[id(thing)] = foreign
            for inner in _inside(thing):
                self.count(inner, deep - 1)


def _foreign(thing: object) -> int:
    # asked of the class, for a thing of somebody else's may answer to every name
    own = next((vars(kind)["foreign_bytes"] for kind in type(thing).__mro__ if "foreign_bytes" in vars(kind)), None)
    return int(own.__get__(thing)) if type(own) is property else 0


def _inside(thing: Any) -> list[object]:
    if isinstance(thing, Mapping):
        return list(thing.values())
    if isinstance(thing, tuple | list | set | frozenset):
        return list(thing)
    own: dict[str, object] = getattr(thing, "__dict__", {})
    slots = [v for kind in type(thing).__mro__ for v in vars(kind).values() if isinstance(v, MemberDescriptorType)]
    return [*own.values(), *(_value(slot, thing) for slot in slots)]


def _value(slot: MemberDescriptorType, thing: object) -> object:
    try:
        return slot.__get__(thing)
    except AttributeError:  # nothing was put there yet
        return None


def _dense(tensor: Any) -> tuple[Any, ...]:
    """Return the tensors that hold the numbers of one; none of one that has no memory."""
    layout = str(tensor.layout)
    if layout == "torch.sparse_csr":
        return tensor.crow_indices(), tensor.col_indices(), tensor.values()
    if layout == "torch.sparse_coo":
        return tensor._indices(), tensor._values()
    return (tensor,) if layout == "torch.strided" and not tensor.is_meta else ()


class Budget:
    """Results of functions, kept as long as all together take no more than `most` bytes. Any thread may ask."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def nbytes(self) -> int:
        """Return the bytes of all that is kept."""
        return self._bytes

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what was made for a key, or make it; two threads may make it at once."""
        with self._lock:
            if (entry := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                found: T = entry[0]
                return found
        made = make()
        size = _LEAST + held_bytes((made,))
        with self._lock:
            if key not in self._kept and size <= self.most:
                self._kept[key] = made, size
                self._bytes += size
            while self._bytes > self.most:
                self._bytes -= self._kept.popitem(last=False)[1][1]
        return made

    def forget(self) -> None:
        """Let everything go."""
        with self._lock:
            self._kept.clear()
            self._bytes = 0


results = Budget(RESULTS)


def budgeted(function: Callable[P, T]) -> Callable[P, T]:
    """Keep what a function of hashable arguments returns, within the bytes that all such functions share."""

    @wraps(function)
    def asked(*args: P.args, **named: P.kwargs) -> T:
        return results.get((asked, args, tuple(named.items())), lambda: function(*args, **named))

    return asked


def _held(value: object) -> int:
    return held_bytes((value,))


class Shared:
    """A number of bytes that several tables share: what was used longest ago goes first, whosesoever it is."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.lock = threading.RLock()
        self.tables: weakref.WeakSet[Table[Any, Any]] = weakref.WeakSet()
        self._uses = 0

    def use(self) -> int:
        """Return a number that is larger than all before."""
        self._uses += 1
        return self._uses

    @property
    def nbytes(self) -> int:
        """Return the bytes of what is in the tables and not in use."""
        with self.lock:
            return sum(table.bytes_of(key) for _, table, key in self._spare())

    def forget(self) -> None:
        """Let everything go, also what is in use: whoever uses it still has it."""
        with self.lock:
            for table in self.tables:
                table.clear()

    def _spare(self) -> list[tuple[int, Table[Any, Any], Any]]:
        found = [(used, table, key) for table in self.tables for used, key in table.spare()]
        return sorted(found, key=lambda one: one[0])

    def trim(self) -> None:
        """Let go what is too much."""
        with self.lock:
            total, gone = 0, False
            for _, table, key in reversed(self._spare()):
                # once one is too much, so is what is older: a small one must not outlive what was used after it
                total += 0 if gone else table.bytes_of(key)
                gone = gone or total > self.most
                if gone:
                    del table[key]


@dataclass(slots=True)
class _Entry(Generic[V]):
    value: V
    used: int  # when it was used last
    size: int = -1  # as it was found since then, -1 where it was not asked


class Table(MutableMapping[K, V], Generic[K, V]):
    """Entries of one owner in the order in which they were used; the newest are in use, and stay whatever they take.

    Args:
        shared: the bytes that its other entries share with those of other tables.
        most: entries at most.
        size: the bytes of a value, which may grow while it is in use.
    """

    def __init__(self, shared: Shared, most: int, size: Callable[[V], int] = _held) -> None:
        self._shared, self._most, self._size = shared, most, size
        self._kept: OrderedDict[K, _Entry[V]] = OrderedDict()
        self._in_use = 1
        with shared.lock:
            shared.tables.add(self)

    __hash__ = object.__hash__
    __eq__ = object.__eq__

    def __getitem__(self, key: K) -> V:
        return self._kept[key].value

    def __setitem__(self, key: K, value: V) -> None:
        self.store(key, value)

    def __delitem__(self, key: K) -> None:
        with self._shared.lock:
            del self._kept[key]

    def __iter__(self) -> Iterator[K]:
        with self._shared.lock:
            return iter(tuple(self._kept))

    def __len__(self) -> int:
        return len(self._kept)

    def used(self, key: K) -> V | None:
        """Return the value of a key, from now on the newest; None where there is none, as another thread may decide."""
        with self._shared.lock:
            if (entry := self._kept.get(key)) is None:
                return None
            entry.used, entry.size = self._shared.use(), -1
            self._kept.move_to_end(key)
            return entry.value

    def store(self, key: K, value: V, in_use: int = 1) -> None:
        """Keep a value as the newest one, and so many of the newest whatever they take."""
        with self._shared.lock:
            self._kept[key] = _Entry(value, self._shared.use())
            self._kept.move_to_end(key)
            self._in_use = in_use
            while len(self._kept) > max(self._most, in_use):
                self._kept.popitem(last=False)
            self._shared.trim()

    def take(self, wanted: Callable[[K], bool]) -> dict[K, V]:
        """Return the entries of some keys, which are here no more."""
        with self._shared.lock:
            return {key: self._kept.pop(key).value for key in [k for k in self._kept if wanted(k)]}

    def clear(self) -> None:
        with self._shared.lock:
            self._kept.clear()

    def spare(self) -> list[tuple[int, K]]:
        """Return (when it was used, key) of what is not in use."""
        entries = list(self._kept.items())
        return [(entry.used, key) for key, entry in entries[: max(0, len(entries) - self._in_use)]]

    def bytes_of(self, key: K) -> int:
        """Return the bytes of an entry, asked once after each use."""
        entry = self._kept[key]
        if entry.size < 0:
            entry.size = self._shared.most + 1  # where nothing can be said of its size, it is not kept for later
            try:
                entry.size = self._size(entry.value)
            except KeyboardInterrupt:
                raise
            except BaseException:  # a network of somebody else's, asked for its tensors, may raise what it likes
                pass
        return entry.size


materials = Shared(MATERIALS)


def forget_all() -> None:
    """Let go all results and what they are made of, as a window closes, of whose networks and samples most of it is."""
    results.forget()
    materials.forget()
