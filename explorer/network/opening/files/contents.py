"""Declare what is known of a model file before anything of it is executed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

# Of what a file can become: looked at alone; its weights read into a network that is trusted; code to be executed.
Tier = Literal["inspect", "weights", "code"]
# kinds of archives that are programs
EXPORTED = "exported program (.pt2)"
SCRIPT = "TorchScript"
FOLDER = "Hugging Face folder"
# of modules that reach the system, what does not
_HARMLESS = frozenset({
    "functools.partial", "types.SimpleNamespace", "pathlib.PosixPath", "pathlib.PurePosixPath", "pathlib.Path",
    "builtins.set", "builtins.frozenset", "builtins.list", "builtins.dict", "builtins.tuple", "builtins.int",
    "builtins.float", "builtins.complex", "builtins.bool", "builtins.str", "builtins.bytes", "builtins.bytearray",
    "builtins.slice", "builtins.range", "builtins.object", "builtins.type",
})  # fmt: skip
_OF_SCRIPTS = "torch.jit._pickle."


class FileError(ValueError):
    """A model file that cannot be read; one sentence, with `where`: the file."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(message)
        self.where = where


BLANK = "…"  # in proposed arguments, for a person to fill in


class Damaged(Exception):
    """A fault in the content of a file, as a clause; it never leaves this package."""


@dataclass(frozen=True, slots=True)
class TensorEntry:
    """A tensor of a file: its name, shape and type of numbers, as torch writes it ("float32") in every format."""

    name: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def numel(self) -> int:
        count = 1
        for size in self.shape:
            count *= size
        return count


@dataclass(frozen=True, slots=True)
class CallableEntry:
    """Something in a Python file that may make a network, found without running it.

    Attributes:
        name: of the class, function or value.
        line: where it is defined, from 1.
        kind: "class", "function" or "network", a value that is made when the file is run.
        needs: the arguments that have no default; with any, it cannot be called as it is.
        likely: whether it is a class of modules, or a function whose text says that it returns one.
        settings: (argument, text) of those that take an object of settings: ("config", "GPTConfig()").
    """

    name: str
    line: int
    kind: str
    needs: tuple[str, ...] = ()
    likely: bool = True
    settings: tuple[tuple[str, str], ...] = ()

    @property
    def usable(self) -> bool:
        return not self.needs

    @property
    def proposed(self) -> str:
        """Return arguments to begin with, "config=GPTConfig(), depth=…"; "" where none is an object of settings."""
        told = dict(self.settings)
        return ", ".join(f"{name}={told.get(name, BLANK)}" for name in self.needs) if told else ""


@dataclass(frozen=True, slots=True)
class PickledName:
    """A name that a pickle asks Python for: whether it is called, and what `torch.load(weights_only=True)` makes of it.

    `verdict` is "allowed", "refused" (unknown to torch) or "hostile" (it reaches the system, the files or Python).
    """

    name: str
    called: bool
    verdict: str


@dataclass(frozen=True, slots=True)
class Contents:
    """A model file as far as it can be known without executing it.

    Attributes:
        path: of the file or folder.
        kind: in words, such as "safetensors" or "Python file".
        tier: how far it can be opened.
        sha256: of its bytes, in hexadecimal digits; of a folder, those of its weights.
        size: in bytes.
        tensors: in the order of the file.
        callables: that may make a network.
        names: that its pickles ask for.
        facts: (what, value) pairs beside.
        dangers: sentences about what it may do or what is odd; a file without any may still be code.
        text: of a Python file.
        error: one sentence when the text is no valid Python.
        code: (path, sha256) of each file that would be executed: it, and what it imports from its folder.
        listing: the members of its archive and the opcodes of its pickles, as lines; the first of them.
        listed: what that lists, if something else.
        instead: a sentence on what to open in its place, where it cannot be.
    """

    path: str
    kind: str
    tier: Tier
    sha256: str = ""
    size: int = 0
    tensors: tuple[TensorEntry, ...] = ()
    callables: tuple[CallableEntry, ...] = ()
    names: tuple[PickledName, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    dangers: tuple[str, ...] = ()
    text: str = ""
    error: str = ""
    code: tuple[tuple[str, str], ...] = field(default=())
    listing: tuple[str, ...] = ()
    listed: str = "Archive and opcodes"
    instead: str = ""

    @property
    def whole(self) -> bool:
        """Return whether it is a network as it stands: a program, a pickled module or a folder, no Python file."""
        return not self.text and not self.attacks and (self.tier == "code" or self.kind == FOLDER)

    @property
    def attacks(self) -> tuple[str, ...]:
        """Return the names with which its pickles reach the system; none that whole modules ask for."""
        return tuple(n.name for n in self.names if attacks(n))

    @property
    def numel(self) -> int:
        """Return how many numbers the tensors hold together."""
        return sum(tensor.numel for tensor in self.tensors)

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "path": self.path, "kind": self.kind, "tier": self.tier, "sha256": self.sha256, "bytes": self.size,
            "tensors": [{"name": t.name, "shape": list(t.shape), "dtype": t.dtype} for t in self.tensors],
            "callables": [
                {"name": c.name, "line": c.line, "kind": c.kind, "needs": list(c.needs), "likely": c.likely}
                for c in self.callables
            ],
            "names": [{"name": n.name, "called": n.called, "verdict": n.verdict} for n in self.names],
            "facts": dict(self.facts), "dangers": list(self.dangers), "error": self.error,
            "code": [{"path": path, "sha256": digest} for path, digest in self.code],
            "listing": list(self.listing), "instead": self.instead,
        }  # fmt: skip


def attacks(one: PickledName) -> bool:
    """Say whether a pickle reaches the system by a name, and by none that whole modules and scripts ask for."""
    return one.verdict == "hostile" and one.name not in _HARMLESS and not one.name.startswith(_OF_SCRIPTS)


TIERS = {
    "inspect": "it can be looked at, and not opened as a network",
    "weights": "its numbers can be read into a network; nothing in it is executed",
    "code": "opening it executes code, with all that you may do on this computer",
}
MOST_LINES = 40  # tensors that are printed


def told(contents: Contents) -> str:
    """Return what is known of a file, as lines for a terminal."""
    lines = [contents.path, f"  {contents.kind}, {contents.size:,} bytes, sha256 {contents.sha256}"]
    lines.append(f"  {contents.tier}: {TIERS[contents.tier]}")
    lines += [f"  {contents.instead}"] if contents.instead else []
    lines += [f"  {what}: {value}" for what, value in contents.facts]
    if contents.error:
        lines.append(f"  error: {contents.error}")
    lines += [f"  danger: {danger}" for danger in contents.dangers]
    for entry in contents.callables:
        needs = f", needs {', '.join(entry.needs)}" if entry.needs else ""
        lines.append(f"  {entry.kind} {entry.name} (line {entry.line}{needs})")
    for name in contents.names:
        lines.append(f"  pickle {'calls' if name.called else 'names'} {name.name}: {name.verdict}")
    if contents.listing:
        lines.append(f"  {contents.listed.lower()}: --json has them")
    if contents.tensors:
        lines.append(f"  {len(contents.tensors)} tensors, {contents.numel:,} numbers")
        width = min(60, max(len(t.name) for t in contents.tensors[:MOST_LINES]))
        for t in contents.tensors[:MOST_LINES]:
            lines.append(f"    {t.name:<{width}}  {t.dtype}  {'x'.join(map(str, t.shape)) or 'scalar'}")
        if len(contents.tensors) > MOST_LINES:
            lines.append(f"    … and {len(contents.tensors) - MOST_LINES} more (--json has all)")
    # what a file calls its tensors is not for the terminal to obey
    return "\n".join("".join(c if c.isprintable() else "�" for c in line) for line in lines)
