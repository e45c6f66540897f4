"""Read the opcodes of a pickle: which names it asks Python for, what it calls, which tensors it describes.

Nothing is imported and nothing is called. A stack of inert values stands in place of the unpickler's, so that a name
that is put together on the stack is seen as well as one that is written out; one that cannot be known is told.
"""

from __future__ import annotations

import _compat_pickle
import io
import pickletools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any

from explorer.network.opening.files.contents import Damaged, PickledName, TensorEntry

MOST_LISTED = 2000  # opcodes that are kept as text
LONG = 120  # letters of an argument in it
LONGEST = 256 * 2**20  # bytes of opcodes; numbers of tensors lie beside them
MOST_STEPS = 3_000_000
MOST_TENSORS = 200_000
MOST_STACKED = 200_000  # values that wait for what they belong to: pickle hands lists on by the thousand
# modules with which a pickle reaches the system, files, other processes or Python itself
HOSTILE = frozenset({
    "os", "posix", "nt", "posixpath", "ntpath", "subprocess", "sys", "shutil", "socket", "pty", "platform", "runpy",
    "importlib", "imp", "pkgutil", "ctypes", "_ctypes", "code", "codeop", "commands", "webbrowser", "asyncio", "signal",
    "multiprocessing", "threading", "_thread", "pickle", "_pickle", "cloudpickle", "dill", "joblib", "marshal", "types",
    "builtins", "__builtin__", "operator", "_operator", "functools", "_functools", "io", "_io", "tempfile", "pathlib",
    "glob", "fcntl", "mmap", "http", "urllib", "urllib2", "requests", "httpx", "aiohttp", "ftplib", "smtplib",
    "telnetlib", "ssl", "pip", "pdb", "bdb", "doctest", "cProfile", "profile", "timeit", "trace", "unittest", "venv",
    "ensurepip", "setuptools", "distutils", "sqlite3", "zipimport", "inspect", "linecache", "logging", "idlelib",
})  # fmt: skip
HOSTILE_IN_TORCH = (
    "torch.hub", "torch.utils.cpp_extension", "torch.utils._config_module", "torch.serialization.load", "torch.load",
    "torch.jit", "torch.package", "torch.ops.load_library", "torch.classes.load_library", "torch.distributed",
    "torch.multiprocessing", "torch._dynamo", "torch._inductor", "torch.utils.bottleneck", "numpy.testing",
    "torch.utils.collect_env",
)  # fmt: skip
_REBUILDS = ("_rebuild_tensor_v2", "_rebuild_tensor", "_rebuild_tensor_v3")
_WRAPS = ("_rebuild_parameter", "_rebuild_parameter_with_state")
_CONTAINERS = ("OrderedDict", "defaultdict", "Counter")


@dataclass(frozen=True, slots=True)
class Named:
    """A name that would be imported: "module.attribute"."""

    name: str


@dataclass(eq=False, slots=True)
class Made:
    """An object that would be made: what would be called, with what, and what would be put into it."""

    maker: Any
    args: Any
    items: dict[Any, Any] = field(default_factory=dict)
    state: Any = None


@dataclass(eq=False, slots=True)
class Held:
    """A list or a dict of a pickle; `items` by key, or by number."""

    items: dict[Any, Any] = field(default_factory=dict)


class _Opaque:
    """A value of which nothing need be known."""


_MARK = _Opaque()
_OPAQUE = _Opaque()


@dataclass(slots=True)
class Reading:
    """The content of a pickle: names that it imports, in order, names that it calls, oddities, and the final value.

    `listing` holds its first opcodes as text, of `steps` in all: where each begins, its name and its argument.
    """

    names: dict[str, bool] = field(default_factory=dict)  # whether it is called
    listing: list[str] = field(default_factory=list)
    steps: int = 0
    dangers: list[str] = field(default_factory=list)
    value: Any = None

    def warn(self, danger: str) -> None:
        if danger not in self.dangers:
            self.dangers.append(danger)


class Bounded(io.RawIOBase):
    """A file that gives no more than a number of bytes, whatever length is asked for."""

    def __init__(self, file: IO[bytes], most: int = LONGEST) -> None:
        self._file, self._left = file, most

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(data)
        return data

    def readline(self, size: int | None = -1) -> bytes:
        limit = self._left if size is None or size < 0 else min(size, self._left)
        data = self._file.readline(limit)
        self._left -= len(data)
        return data

    def tell(self) -> int:
        return self._file.tell()


def _fault(error: Exception, steps: int) -> str:
    """Say in our words where a pickle is at fault; Python's own hold its bytes."""
    text, where = str(error), f"after {steps:,} steps"
    if isinstance(error, UnicodeError):
        return f"{where} comes a text that is none"
    if "unknown" in text:
        return f"{where} comes what is no step"
    if any(told in text for told in ("not enough data", "no newline", "exhausted")):
        return f"it ends {where}"
    if "invalid literal" in text or "could not convert" in text:
        return f"{where} comes a number that is none"
    return f"{where} comes a step for which nothing is there" if steps else "it begins with no step"


def read_pickle(file: IO[bytes] | Bounded) -> Reading:
    """Read one pickle up to its STOP.

    Raises:
        Damaged: it is no pickle, or is cut off.
    """
    reading = Reading()
    machine = _Machine(reading)
    try:
        for opcode, arg, at in pickletools.genops(file):  # type: ignore[arg-type]
            if reading.steps < MOST_LISTED:
                reading.listing.append(f"{at or 0:>7}  {opcode.name:<16} {'' if arg is None else repr(arg)[:LONG]}")
            machine.step(opcode, arg)
            reading.steps += 1
            if reading.steps > MOST_STEPS:
                raise Damaged(f"its pickle has more than {MOST_STEPS:,} steps")
            if len(machine.stack) > MOST_STACKED:
                raise Damaged(f"its pickle has more than {MOST_STACKED:,} values within each other")
    except Damaged:
        raise
    except (ValueError, IndexError, KeyError, TypeError, OverflowError, MemoryError, UnicodeError) as error:
        raise Damaged(f"its pickle is damaged or cut off ({_fault(error, reading.steps)})") from None
    reading.value = machine.stack[-1] if machine.stack else None
    return reading


class _Machine:
    """The stack and the memo of an unpickler that makes nothing."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        self.protocol = 0

    def _pop(self) -> Any:
        return self.stack.pop() if self.stack else _OPAQUE

    def _to_mark(self) -> list[Any]:
        """Return what lies above the last mark, and take it off with the mark."""
        found: list[Any] = []
        while self.stack:
            value = self.stack.pop()
            if value is _MARK:
                break
            found.append(value)
        return found[::-1]

    def _name(self, module: Any, attribute: Any) -> Any:
        if not isinstance(module, str) or not isinstance(attribute, str):
            self.reading.warn("Its pickle puts the name of what it imports together while it runs, which hides it.")
            return _OPAQUE
        if self.protocol < 3:  # these write names of Python 2, which an unpickler translates
            renamed = _compat_pickle.NAME_MAPPING.get((module, attribute))
            module, attribute = renamed or (_compat_pickle.IMPORT_MAPPING.get(module, module), attribute)
        name = f"{module}.{attribute}"
        self.reading.names.setdefault(name, False)
        return Named(name)

    def _call(self, maker: Any, args: Any) -> Made:
        if isinstance(maker, Named):
            self.reading.names[maker.name] = True
        else:
            self.reading.warn("Its pickle calls an object that it has made, which torch never needs.")
        return Made(maker, args)

    def _put(self, target: Any, pairs: list[tuple[Any, Any]]) -> None:
        if isinstance(target, Held | Made):
            for key, value in pairs:
                target.items[key if isinstance(key, str | int) else len(target.items)] = value

    def step(self, opcode: Any, arg: Any) -> None:
        name: str = opcode.name
        stack = self.stack
        match name:
            case "MARK":
                stack.append(_MARK)
            case "POP":
                self._pop()
            case "DUP":
                stack.append(stack[-1] if stack else _OPAQUE)
            case "POP_MARK":
                self._to_mark()
            case "PUT" | "BINPUT" | "LONG_BINPUT":
                self.memo[int(arg)] = stack[-1] if stack else _OPAQUE
            case "MEMOIZE":
                self.memo[len(self.memo)] = stack[-1] if stack else _OPAQUE
            case "GET" | "BINGET" | "LONG_BINGET":
                stack.append(self.memo.get(int(arg), _OPAQUE))
            case "GLOBAL":
                module, _, attribute = str(arg).partition(" ")
                stack.append(self._name(module, attribute))
            case "STACK_GLOBAL":
                attribute, module = self._pop(), self._pop()
                stack.append(self._name(module, attribute))
            case "INST":
                module, _, attribute = str(arg).partition(" ")
                args = tuple(self._to_mark())
                stack.append(self._call(self._name(module, attribute), args))
            case "OBJ":
                maker, *given = self._to_mark() or [_OPAQUE]
                stack.append(self._call(maker, tuple(given)))
            case "REDUCE" | "NEWOBJ":
                args = self._pop()
                stack.append(self._call(self._pop(), args))
            case "NEWOBJ_EX":
                self._pop()
                args = self._pop()
                stack.append(self._call(self._pop(), args))
            case "EXT1" | "EXT2" | "EXT4":
                self.reading.warn("Its pickle asks for objects by a number of a registry, which hides their names.")
                stack.append(_OPAQUE)
            case "BUILD":
                state = self._pop()
                if stack and isinstance(stack[-1], Made):
                    stack[-1].state = state
            case "EMPTY_LIST" | "EMPTY_DICT" | "EMPTY_SET":
                stack.append(Held())
            case "LIST" | "FROZENSET":
                stack.append(Held(dict(enumerate(self._to_mark()))))
            case "DICT":
                flat = self._to_mark()
                stack.append(Held())
                self._put(stack[-1], list(zip(flat[::2], flat[1::2])))
            case "APPEND":
                value = self._pop()
                self._put(stack[-1] if stack else None, [(_OPAQUE, value)])
            case "APPENDS" | "ADDITEMS":
                values = self._to_mark()
                self._put(stack[-1] if stack else None, [(_OPAQUE, value) for value in values])
            case "SETITEM":
                value = self._pop()
                key = self._pop()
                self._put(stack[-1] if stack else None, [(key, value)])
            case "SETITEMS":
                flat = self._to_mark()
                self._put(stack[-1] if stack else None, list(zip(flat[::2], flat[1::2])))
            case "TUPLE":
                stack.append(tuple(self._to_mark()))
            case "EMPTY_TUPLE":
                stack.append(())
            case "TUPLE1" | "TUPLE2" | "TUPLE3":
                found = [self._pop() for _ in range(int(name[-1]))]
                stack.append(tuple(found[::-1]))
            case "NEWTRUE" | "NEWFALSE":
                stack.append(name == "NEWTRUE")
            case "BINPERSID":
                stack.append(Made("persistent", self._pop()))
            case "PERSID":
                stack.append(Made("persistent", arg))
            case "PROTO":
                self.protocol = int(arg)
            case "STOP" | "FRAME":
                pass
            case _ if not opcode.stack_before and len(opcode.stack_after) == 1:
                stack.append(arg if isinstance(arg, str | int | float) else _OPAQUE)
            case _:
                for _ in opcode.stack_before:
                    self._pop()
                stack.extend(_OPAQUE for _ in opcode.stack_after)


def judged(names: dict[str, bool]) -> tuple[PickledName, ...]:
    """Return each name with what torch makes of it, the hostile ones first."""
    allowed = _allowed()
    found = [PickledName(name, called, _verdict(name, allowed)) for name, called in names.items()]
    order = ("hostile", "refused", "allowed")
    return tuple(sorted(found, key=lambda n: order.index(n.verdict)))


def _allowed() -> frozenset[str]:
    """Return the names that `torch.load(weights_only=True)` of the torch at hand lets pass."""
    from torch._weights_only_unpickler import _get_allowed_globals

    return frozenset(_get_allowed_globals())


def _verdict(name: str, allowed: frozenset[str]) -> str:
    if name in allowed:
        return "allowed"
    module = name.partition(".")[0]
    inside = any(name == bad or name.startswith(f"{bad}.") for bad in HOSTILE_IN_TORCH)
    # dots in an attribute reach through one module into another
    return "hostile" if module in HOSTILE or inside else "refused"


def tensors_in(value: Any) -> tuple[TensorEntry, ...]:
    """Return the tensors of a checkpoint by their names: of a dict, of the dicts in it, or of a module's own."""
    found: dict[str, TensorEntry] = {}
    for path, made in _walk(value):
        entry = _tensor(path, made)
        if entry is not None:
            found.setdefault(path, entry)
        if len(found) >= MOST_TENSORS:
            break
    return tuple(found.values())


def _walk(value: Any) -> Iterator[tuple[str, Made]]:
    """Yield (path, object) for all that a value holds, each object once."""
    seen: set[int] = set()
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        path, here = waiting.pop()
        if id(here) in seen or not isinstance(here, Held | Made | tuple):
            continue
        seen.add(id(here))
        if isinstance(here, tuple):
            inner = list(enumerate(here))
        else:
            inner = list(here.items.items())
            if isinstance(here, Made):
                yield path, here
                if _tensor(path, here) is not None:
                    continue
                if isinstance(here.state, Held | Made | tuple):
                    waiting.append((path, here.state))
        waiting += [(_joined(path, key), item) for key, item in reversed(inner)]


def _joined(path: str, key: object) -> str:
    # a module keeps these inside of itself, and a checkpoint its weights: neither is part of a tensor's name
    if key in ("_parameters", "_buffers", "_modules", "state_dict") or (key == 0 and not path):
        return path
    return f"{path}.{key}" if path else str(key)


def _tensor(name: str, made: Made, depth: int = 0) -> TensorEntry | None:
    maker = made.maker.name if isinstance(made.maker, Named) else ""
    args = made.args
    last = maker.rpartition(".")[2]
    if not isinstance(args, tuple) or not args or depth > 3:
        return None
    if last in _WRAPS and isinstance(args[0], Made):
        return _tensor(name, args[0], depth + 1)
    if last not in _REBUILDS or len(args) < 3 or not isinstance(args[2], tuple):
        return None
    sizes = args[2]
    if not all(type(n) is int and 0 <= n < 2**63 for n in sizes):
        return None
    return TensorEntry(name, sizes, _dtype(args))


def _dtype(args: tuple[Any, ...]) -> str:
    """Return the type of a tensor's numbers, of its storage ("FloatStorage") or named beside it."""
    for arg in args[3:]:
        if isinstance(arg, Named) and arg.name.startswith("torch."):
            return arg.name.removeprefix("torch.")
    stored = args[0].args if isinstance(args[0], Made) else ()
    names = [a.name for a in stored if isinstance(a, Named)] if isinstance(stored, tuple) else []
    kind = names[0].rpartition(".")[2].removesuffix("Storage").lower() if names else ""
    return _STORED.get(kind, kind)


_STORED = {
    "float": "float32", "double": "float64", "half": "float16", "long": "int64", "int": "int32", "short": "int16",
    "char": "int8", "byte": "uint8", "untyped": "uint8", "complexfloat": "complex64", "complexdouble": "complex128",
}  # fmt: skip
