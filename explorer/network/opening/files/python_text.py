"""Read a Python file as text: what in it may make a network, what it imports, what it may do. It is not executed."""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.machinery import all_suffixes
from pathlib import Path

from explorer.network.opening.files.contents import CallableEntry, Damaged
from explorer.network.opening.files.settings_objects import proposals

LARGEST = 4 * 2**20  # bytes
MOST_FILES = 200  # of a person's own that one file imports
# what reaches beyond the program, and what that means
_REACHES = {
    "subprocess": "starts other programs", "os": "uses the operating system", "shutil": "copies or deletes files",
    "socket": "uses the network", "urllib": "uses the network", "requests": "uses the network",
    "http": "uses the network", "httpx": "uses the network", "ctypes": "calls compiled code",
    "pickle": "reads or writes pickles", "multiprocessing": "starts other processes", "importlib": "imports by name",
    "huggingface_hub": "may download files", "transformers": "may download files", "timm": "may download files",
}  # fmt: skip
_CALLS = {
    "exec": "executes text as code", "eval": "executes text as code", "compile": "executes text as code",
    "__import__": "imports by name", "open": "opens files", "system": "starts other programs",
    "popen": "starts other programs", "remove": "deletes files", "unlink": "deletes files", "rmtree": "deletes files",
    "load_state_dict_from_url": "downloads files", "urlopen": "uses the network",
}  # fmt: skip
_MODULES = frozenset({"Module", "Sequential", "ModuleList", "ModuleDict", "LightningModule", "MessagePassing"})


@dataclass(frozen=True, slots=True)
class PythonText:
    """A Python file as it was read.

    Attributes:
        text: with its lines as an editor counts them.
        callables: that may make a network, the likely and usable ones first.
        constants: what it says of itself: INPUT_SHAPE and its kin, LABELS, EXAMPLES, LOSS, as (name, text) pairs.
        reaches: sentences about what it may do, from the imports and calls that can be seen.
        error: one sentence when it is no valid Python.
    """

    text: str
    callables: tuple[CallableEntry, ...] = ()
    constants: tuple[tuple[str, str], ...] = ()
    reaches: tuple[str, ...] = ()
    error: str = ""


def read_python(path: Path) -> PythonText:
    """Return what a Python file says.

    Raises:
        Damaged: it is too large, or no text.
    """
    data = _data(path)
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding).removeprefix("\ufeff")
    except (SyntaxError, UnicodeDecodeError, LookupError):
        raise Damaged("it is no text that Python reads") from None
    if "\0" in text:
        raise Damaged("it holds zero bytes, so it is no text")
    try:
        tree = _parsed(text)
    except SyntaxError as error:
        where = f" (line {error.lineno})" if error.lineno else ""
        return PythonText(text, error=f"{path.name} is no valid Python: {error.msg}{where}")
    except (ValueError, RecursionError, MemoryError):
        return PythonText(text, error=f"{path.name} is nested too deeply to be read")
    return PythonText(text, _callables(tree), _constants(tree), _reaches(tree))


def settings_in(text: str, name: str, needs: Iterable[str]) -> dict[str, str]:
    """Return {argument: what to write} of those arguments of a callable that take an object of settings."""
    tree = _parsed(text)
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    return proposals(tree, name, needs, [n for n, node in classes.items() if _is_module(node, classes)])


def code_files(path: Path, asked: Iterable[str] = ()) -> tuple[tuple[str, str], ...]:
    """Return (path, sha256) of a file and of all that it imports, by their text, from its own folder.

    Args:
        asked: modules that a file imports which is no Python file.
    """
    folder = path.resolve().parent
    found: dict[Path, str] = {}
    waiting = [path.resolve(), *(file for module in asked for file in _file_of(module, folder))]
    while waiting and len(found) < MOST_FILES:
        here = waiting.pop(0)
        if here in found:
            continue
        try:
            with here.open("rb") as file:
                found[here] = hashlib.file_digest(file, "sha256").hexdigest()
            tree = _parsed(_data(here))
        except (OSError, Damaged, SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        waiting += [file for module in _imported(tree, here, folder) for file in _file_of(module, folder)]
    return tuple((str(file), digest) for file, digest in found.items())


def _data(path: Path) -> bytes:
    with path.open("rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise Damaged(f"it has more than {LARGEST:,} bytes, which no source has")
    return data


def _parsed(text: str | bytes) -> ast.Module:
    with warnings.catch_warnings():  # a \d in somebody's text is no affair of ours
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _file_of(module: str, folder: Path) -> Iterator[Path]:
    """Yield the files that an import of a module runs, of those in the folder; compiled ones too."""
    parts = module.split(".")
    for k in range(1, len(parts) + 1):
        base = folder.joinpath(*parts[:k])
        for suffix in all_suffixes():
            for file in (base / f"__init__{suffix}", base.with_name(base.name + suffix)):
                if file.is_file():
                    yield file.resolve()


def _imported(tree: ast.Module, path: Path, folder: Path) -> Iterator[str]:
    """Yield the dotted names that a file imports, those relative to it as seen from the folder."""
    inside = path.parent.relative_to(folder).parts if path.parent.is_relative_to(folder) else ()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = list(inside[: len(inside) - node.level + 1]) if node.level else []
            base += node.module.split(".") if node.module else []
            yield from (".".join([*base, alias.name]) for alias in node.names)


def _callables(tree: ast.Module) -> tuple[CallableEntry, ...]:
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    networks = [name for name, node in classes.items() if _is_module(node, classes)]
    found = []

    def add(name: str, line: int, kind: str, needs: tuple[str, ...], likely: bool = True) -> None:
        settings = tuple(proposals(tree, name, needs, networks).items())
        found.append(CallableEntry(name, line, kind, needs, likely, settings))

    for node in tree.body:
        match node:
            case ast.ClassDef(name=name) if not name.startswith("_"):
                if name in networks:
                    add(name, node.lineno, "class", _needed(node, classes))
            case ast.FunctionDef(name=name) if not name.startswith("_") and name not in _SAID:
                add(name, node.lineno, "function", _arguments(node.args, 0), _makes_one(node, classes))
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as made) if not name.startswith("_"):
                if _makes(made, classes):
                    found.append(CallableEntry(name, node.lineno, "network"))
            case _:
                pass
    # the last class of a file is most often the whole network, of which the earlier ones are parts
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}

    def rank(entry: CallableEntry) -> tuple[bool, bool, bool]:
        return not entry.likely, not entry.usable, entry.kind == "class" and entry.name in used

    return tuple(sorted(found, key=rank))


def _is_module(node: ast.ClassDef, classes: dict[str, ast.ClassDef], depth: int = 0) -> bool:
    for base in node.bases:
        name = base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""
        if name in classes and name != node.name and depth < 20:
            if _is_module(classes[name], classes, depth + 1):
                return True
        elif name in _MODULES or name.endswith(("Module", "Model", "PreTrainedModel")):
            return True
        elif isinstance(base, ast.Attribute) and isinstance(base.value, ast.Name) and base.value.id == "nn":
            return True
    return False


def _needed(node: ast.ClassDef, classes: dict[str, ast.ClassDef], depth: int = 0) -> tuple[str, ...]:
    """Return the arguments that a class needs: those of its own __init__, else of the first base that has one."""
    decorators = [d.func if isinstance(d, ast.Call) else d for d in node.decorator_list]
    names = [
        d.attr if isinstance(d, ast.Attribute) else d.id for d in decorators if isinstance(d, ast.Attribute | ast.Name)
    ]
    if "dataclass" in names:
        plain = [n for n in node.body if isinstance(n, ast.AnnAssign) and n.value is None]
        return tuple(n.target.id for n in plain if isinstance(n.target, ast.Name))
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and item.name == "__init__":
            return _arguments(item.args, 1)
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id in classes and base.id != node.name and depth < 20:
            return _needed(classes[base.id], classes, depth + 1)
    return ()


def _arguments(args: ast.arguments, skip: int) -> tuple[str, ...]:
    plain = [a.arg for a in (*args.posonlyargs, *args.args)]
    given = len(plain) - len(args.defaults)
    named = [a.arg for a, default in zip(args.kwonlyargs, args.kw_defaults) if default is None]
    return (*plain[skip:given], *named)


def _makes_one(node: ast.FunctionDef, classes: dict[str, ast.ClassDef]) -> bool:
    """Return whether a function's text says that it returns a module."""
    told = ast.unparse(node.returns) if node.returns is not None else ""
    if told.rpartition(".")[2].strip("'\"") in {*_MODULES, *classes}:
        return True
    values = [n.value for n in ast.walk(node) if isinstance(n, ast.Return) and n.value is not None]
    made = {
        n.targets[0].id: n.value
        for n in ast.walk(node)
        if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)
    }
    return any(_makes(made.get(v.id, v) if isinstance(v, ast.Name) else v, classes) for v in values)


def _makes(value: ast.expr, classes: dict[str, ast.ClassDef]) -> bool:
    """Return whether an expression calls a module class, or a method of a module made by such a call."""
    while isinstance(value, ast.Call):
        match value.func:
            case ast.Name(id=name):
                return (name in classes and _is_module(classes[name], classes)) or name in _MODULES
            case ast.Attribute(value=ast.Name(id="nn")):
                return True
            case ast.Attribute(value=ast.Call() as inner):  # Net().eval()
                value = inner
            case ast.Attribute(value=ast.Attribute(attr="nn")):
                return True
            case _:
                return False
    return False


_SAID = ("LABELS", "EXAMPLES", "LOSS", "TRAINING", "CARD")


def _constants(tree: ast.Module) -> tuple[tuple[str, str], ...]:
    found = []
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        for target in targets:
            if isinstance(target, ast.Name) and (target.id.startswith("INPUT_") or target.id in _SAID):
                value = getattr(node, "value", None)
                text = ast.unparse(value) if value is not None else ""
                found.append((target.id, text if len(text) <= 80 else text[:79] + "…"))
    return tuple(found)


def _reaches(tree: ast.Module) -> tuple[str, ...]:
    """Return one sentence for each import or call that can be seen to reach beyond the program, with its line."""
    found: dict[str, int] = {}

    def see(what: str, meaning: str, node: ast.AST) -> None:
        found.setdefault(f"It {meaning} ({what}", getattr(node, "lineno", 0))

    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    if meaning := _REACHES.get(alias.name.partition(".")[0]):
                        see(f"import {alias.name}", meaning, node)
            case ast.ImportFrom(module=str(module), level=0):
                if meaning := _REACHES.get(module.partition(".")[0]):
                    see(f"import {module}", meaning, node)
            case ast.Call(func=ast.Name(id=name)) if name in _CALLS:
                see(f"{name}()", _CALLS[name], node)
            case ast.Call(func=ast.Attribute(attr=name)) if name in _CALLS and name not in ("open", "compile", "eval"):
                see(f"{name}()", _CALLS[name], node)
    return tuple(f"{text}, line {line})." for text, line in sorted(found.items(), key=lambda item: item[1]))
