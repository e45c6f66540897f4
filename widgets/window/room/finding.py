"""Find the views, each of which is imported when it is first made.

A window needs the title and the place of every view before it opens, and the code of a few. So the constant `VIEW` is
read as text where it is a plain call of `ViewSpec`; the names in it are looked up when the view is made. A file that
writes it in another way is imported at once.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
from collections.abc import Callable
from dataclasses import fields
from functools import partial, reduce
from pathlib import Path
from types import CodeType
from typing import Any

import widgets
from explorer.declare import registry
from explorer.declare.registry import modules_of
from widgets.base.view import ViewSpec

CORE = registry.__name__.removesuffix(".declare.registry")  # "explorer", or below the package of a wheel
_START = re.compile(r"^VIEW\b.*= ViewSpec\(", re.MULTILINE)
_LATE = ("make", "prepare", "fits")  # functions: nobody needs them before they are called
_NAMES = tuple(f.name for f in fields(ViewSpec))


def view_specs() -> list[ViewSpec]:
    """Return what all views say of themselves.

    Raises:
        ValueError: two views have the same name.
    """
    found: dict[str, ViewSpec] = {}
    for module in modules_of(widgets, "views"):
        spec = _read(module) or getattr(importlib.import_module(module), "VIEW", None)
        if spec is None:
            continue
        if spec.name in found:
            raise ValueError(f"{spec.name!r} is the name of two views, one of them in {module}")
        found[spec.name] = spec
    return list(found.values())


def _read(module: str) -> ViewSpec | None:
    """Return the constant of a module that was not imported yet; None where its text does not say it."""
    found = importlib.util.find_spec(module)
    if found is None or not (found.origin or "").endswith(".py"):
        return None
    text = Path(found.origin or "").read_text(encoding="utf-8")
    call = _call_in(text)
    if call is None or len(call.args) > len(_NAMES):
        return None
    given = dict(zip(_NAMES, call.args)) | {word.arg or "**": word.value for word in call.keywords}
    try:
        values: dict[str, Any] = {n: _late(module, v) if n in _LATE else _value(text, v) for n, v in given.items()}
        return ViewSpec(**values)
    except (
        ValueError,
        TypeError,
        ImportError,
        AttributeError,
        NameError,
    ):  # made of other names, or of arguments that there are not
        return None


def _call_in(text: str) -> ast.Call | None:
    """Return the call of `ViewSpec` whose value is VIEW, if it stands at the end of the module by itself."""
    start = _START.search(text)
    if start is None:
        return None
    try:
        first = ast.parse(text[start.start() :]).body[0]
    except SyntaxError:
        return None
    value = first.value if isinstance(first, ast.Assign | ast.AnnAssign) else None
    return value if isinstance(value, ast.Call) else None


def _value(text: str, expression: ast.expr) -> Any:
    """Return the value of an argument: a literal, or an expression of names imported from the core.

    Raises:
        ValueError: it is made of something else.
    """
    try:
        return ast.literal_eval(expression)
    except ValueError:
        needed = {n.id for n in ast.walk(expression) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    start = _START.search(text)
    head = ast.parse(text[: start.start() if start is not None else 0])
    known: dict[str, Any] = {}
    for node in head.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{CORE}."):
            for name in (alias.name for alias in node.names if alias.asname is None and alias.name in needed):
                known[name] = getattr(importlib.import_module(node.module or ""), name)
    if not known:
        raise ValueError(ast.unparse(expression))
    return eval(compile(ast.Expression(expression), "VIEW", "eval"), known)


def _late(module: str, name: ast.expr) -> Callable[..., Any]:
    """Return a function that looks up a name of a module, and calls what it stands for; or a lambda, which is its own.

    A lambda that needs nothing of its module does without importing it.

    Raises:
        ValueError: it is neither.
    """
    if isinstance(name, ast.Lambda):
        code = compile(ast.Expression(name), module, "eval")
        alone = not any(isinstance(n, ast.Name) and n.id not in _arguments(name) for n in ast.walk(name.body))
        function: Callable[..., Any] = eval(code, {}) if alone else partial(_evaluate_and_call, module, code)
        return function
    text = ast.unparse(name)
    if not all(word.isidentifier() for word in text.split(".")):
        raise ValueError(text)
    return partial(_look_up_and_call, module, text)


def _arguments(function: ast.Lambda) -> set[str]:
    return {argument.arg for argument in function.args.args}


def _evaluate_and_call(module: str, code: CodeType, *given: Any) -> Any:
    return eval(code, vars(importlib.import_module(module)))(*given)


def _look_up_and_call(module: str, name: str, *given: Any) -> Any:
    function: Any = reduce(getattr, name.split("."), importlib.import_module(module))
    return function(*given)
