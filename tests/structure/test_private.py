"""Tests use the program as a caller does: they read, call and replace no private name of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.structure.test_architecture import tree

PROGRAM = ("equiscope", "explorer", "models", "widgets")
POSSIBLE = re.compile(r"(?<!\w)(?<!\bself\.)_[A-Za-z]")


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name != "_"


def private_names(source: str) -> set[str]:
    """Return the private names that a file defines: functions, classes, values of a module, attributes of objects."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            # on another object it is that one's name: a module of torch has hooks of its own
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()):
                found.add(name)
    return {name for name in found if private(name)}


def pokes(path: str, source: str, names: set[str]) -> Iterator[str]:
    """Yield where a file uses one of the private names; an object may use its own."""
    if not POSSIBLE.search(source):
        return  # the tree of a file takes long to make
    for node in ast.walk(ast.parse(source, path)):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                continue
            case ast.Attribute(attr=name) if name in names:
                yield f"{path}:{node.lineno} uses {name}"
            case ast.Call(func=ast.Attribute(attr="setattr") | ast.Name(id="setattr" | "getattr"), args=args):
                texts = [str(a.value) for a in args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
                yield from (f"{path}:{node.lineno} uses {t}" for t in texts if t.rsplit(".", 1)[-1] in names)
            case ast.ImportFrom(module=str(module), names=taken) if module.split(".")[0] in PROGRAM:
                yield from (f"{path}:{node.lineno} imports {one.name}" for one in taken if private(one.name))


def test_no_test_uses_a_private_name_of_the_program() -> None:
    names = set().union(*(private_names(source) for source in tree(*PROGRAM).values()))
    broken = [line for path, source in tree("tests").items() for line in pokes(path, source, names)]
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("assert view._frame is None", "_frame"),
        ("import explorer.work as w\nw._kept.clear()", "_kept"),
        ("def test(monkeypatch):\n    monkeypatch.setattr(thing, '_kept', {})", "_kept"),
        (
            "def test(monkeypatch):\n    monkeypatch.setattr('explorer.work.thing._kept', {})",
            "explorer.work.thing._kept",
        ),
        ("from explorer.work.thing import _kept", "_kept"),
    ],
)
def test_a_private_name_in_use_is_found(source: str, complaint: str) -> None:
    (line,) = pokes("tests/test_a.py", source, {"_frame", "_kept"})
    assert line.endswith(complaint)


def test_what_is_ones_own_or_another_librarys_is_not_private_to_the_program() -> None:
    defined = private_names("_kept = 1\nclass A:\n    def __init__(self):\n        self._frame: int = 0\n")
    assert defined == {"_kept", "_frame"}
    source = "class Fake:\n    def read(self):\n        return self._frame\nmodule._forward_hooks\nstate._replace(a=1)"
    assert not list(pokes("tests/test_a.py", source, defined))
