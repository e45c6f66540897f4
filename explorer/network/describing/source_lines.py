"""Find the lines of source that make a layer, and those that compute it."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import nn

from explorer.declare.telling.excerpt import Excerpt

TEXT = "__source_text__"  # in the globals of a person's module: its text when it was run
MOST_LINES = 60  # of a forward
_TORCH = str(Path(torch.__file__).parent)


def excerpts(model: nn.Module, name: str) -> tuple[Excerpt, ...]:
    """Return the lines that make the module `name`, and its own forward or, of a class of torch, where it is called.

    What is made in a way that the source does not show, as by a loop over names, has no such lines.
    """
    module = model.get_submodule(name)
    found = list(_own(module))
    owner, path = _owner(model, name)
    if owner is not None and path:
        made = next(_makers(owner, path), None)
        if made is not None:
            found.insert(0, made)
        if not _own(module):
            found += _calls(owner, path[0])
    return tuple(found)


def _own(module: nn.Module) -> tuple[Excerpt, ...]:
    """Return the forward of a module whose class is no part of torch."""
    function = _function(type(module), "forward")
    if function is None or (node := _node(function)) is None:
        return ()
    return (_excerpt(f"{type(module).__name__}.forward", function, node.lineno, node.end_lineno or node.lineno),)


def _owner(model: nn.Module, name: str) -> tuple[nn.Module | None, tuple[str, ...]]:
    """Return the nearest module above that is written by somebody, and the names from it down."""
    above = name.split(".")
    for cut in range(len(above) - 1, -1, -1):
        owner = model.get_submodule(".".join(above[:cut]))
        if _function(type(owner), "__init__") is not None:
            return owner, tuple(above[cut:]) if name else ()
    return None, ()


def _function(kind: type, name: str) -> Callable[..., Any] | None:
    """Return a method as the class that defines it has it, None where that class is torch's."""
    for one in kind.__mro__:
        if name in vars(one):
            method = inspect.unwrap(vars(one)[name]) if callable(vars(one)[name]) else None
            code = getattr(method, "__code__", None)
            return None if code is None or code.co_filename.startswith((_TORCH, "<")) else method
    return None


def _text(function: Callable[..., Any]) -> str:
    kept = function.__globals__.get(TEXT)
    file = function.__code__.co_filename
    return kept if isinstance(kept, str) else "".join(linecache.getlines(file, function.__globals__))


def _node(function: Callable[..., Any]) -> ast.FunctionDef | None:
    """Return the definition of a function in the text that it was made of, at the lines where it stands there."""
    first = function.__code__.co_firstlineno
    # its own lines alone: the tree of a whole file takes a hundred times as much, and all of it is walked for each
    lines = _text(function).splitlines(keepends=True)[first - 1 :]
    try:
        text = "".join(inspect.getblock(lines))
        above = "if True:\n" if text[:1].isspace() else ""  # of a method: its indentation stays, and so its texts do
        tree = ast.parse(above + text)
    except (SyntaxError, ValueError, tokenize.TokenError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == function.__name__:
            start = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            if start == 1 + bool(above):
                ast.increment_lineno(node, first - start)
                return node
    return None


def _makers(owner: nn.Module, path: tuple[str, ...]) -> Iterator[Excerpt]:
    """Yield the lines that may have made a submodule, the likeliest first."""
    for kind in type(owner).__mro__:
        for name, method in vars(kind).items():
            function = _function(kind, name) if inspect.isfunction(method) else None
            if function is None or (node := _node(function)) is None:
                continue
            # a container is often made empty and filled afterwards
            ways = (_appended, _assigned, _named) if len(path) > 1 else (_assigned, _named)
            for way in ways:
                for statement in ast.walk(node):
                    if isinstance(statement, ast.stmt) and way(statement, path[0]):
                        yield _made(kind, function, statement, path)


def _made(kind: type, function: Callable[..., Any], statement: ast.stmt, path: tuple[str, ...]) -> Excerpt:
    """Return the lines of a statement; of a container those of the member alone are marked."""
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    inner: ast.AST = getattr(statement, "value", None) or statement
    for name in path[1:]:
        member = _member(inner, name)
        if member is None:
            break
        inner = member
    marked = range(first, last + 1)
    if inner is not getattr(statement, "value", None) and isinstance(inner, ast.expr):
        marked = range(inner.lineno, (inner.end_lineno or inner.lineno) + 1)
    return _excerpt(f"made in {kind.__name__}.{function.__name__}", function, first, last, tuple(marked))


def _member(call: ast.AST, name: str) -> ast.expr | None:
    """Return the expression of a member of a container that is written out."""
    if not isinstance(call, ast.Call) or not name.isdigit():
        return None
    members = list(call.args)
    if len(members) == 1 and isinstance(members[0], ast.List | ast.Tuple):
        members = list(members[0].elts)
    if any(isinstance(one, ast.Starred) for one in members) or int(name) >= len(members):
        return None
    return members[int(name)]


def _is_own(node: ast.AST, attribute: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == attribute and isinstance(node.value, ast.Name)


def _assigned(statement: ast.stmt, attribute: str) -> bool:
    targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
    parts = [one for t in targets if t is not None for one in (t.elts if isinstance(t, ast.Tuple) else [t])]
    return isinstance(statement, ast.Assign | ast.AnnAssign) and any(_is_own(one, attribute) for one in parts)


def _appended(statement: ast.stmt, attribute: str) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    return call.func.attr in ("append", "extend", "insert", "add_module") and _is_own(call.func.value, attribute)


def _named(statement: ast.stmt, attribute: str) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and any(
        isinstance(one, ast.Constant) and one.value == attribute for one in call.args
    )


def _calls(owner: nn.Module, attribute: str) -> list[Excerpt]:
    """Return the forward of the module above, with the lines marked that name the layer."""
    function = _function(type(owner), "forward")
    if function is None or (node := _node(function)) is None:
        return []
    named = (one for one in ast.walk(node) if isinstance(one, ast.Attribute) and _is_own(one, attribute))
    marked = {one.lineno for one in named}
    title = f"called in {type(owner).__name__}.forward" if marked else f"{type(owner).__name__}.forward"
    return [_excerpt(title, function, node.lineno, node.end_lineno or node.lineno, tuple(sorted(marked)))]


def _excerpt(title: str, function: Callable[..., Any], first: int, last: int, marked: tuple[int, ...] = ()) -> Excerpt:
    lines = _text(function).splitlines()[first - 1 : last]
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], "…"]
    file = function.__code__.co_filename
    return Excerpt(title, file, first, textwrap.dedent("\n".join(lines)), marked)
