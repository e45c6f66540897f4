"""Make a network from a callable with arguments that were typed: literals, which execute nothing.

An argument may also be an object of settings, `GPT(GPTConfig(n_layer=2))`, of a class that the file has.
"""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Callable, Mapping
from types import ModuleType, SimpleNamespace
from typing import Any

from torch import nn

from explorer.declare.registry import did_you_mean
from explorer.declare.telling.values import told_kind
from explorer.network.changing.copying import duplicate
from explorer.network.describing.source_lines import TEXT
from explorer.network.opening.files.contents import BLANK
from explorer.network.opening.files.python_text import settings_in
from explorer.network.opening.files.settings_objects import NAMESPACE
from explorer.network.opening.refusals import ModelError
from explorer.network.tracing.layers import named_error

MOST = 6  # arguments that a sentence names


def maker(
    made: object, attribute: str, where: str, arguments: str | None, module: ModuleType | None = None
) -> Callable[..., nn.Module]:
    """Return what makes the network each time anew.

    Args:
        module: the file, of whose classes arguments may be.
        made: a network, or something that makes one when it is called.
        attribute: what it is called in the file `where`.
        arguments: as they were typed, "3, width=64"; None where nothing was.

    Raises:
        ModelError: it is neither, or is called with too much or too little; in one sentence that says what to write.
    """
    if isinstance(made, nn.Module):
        if arguments:
            raise ModelError(where, f"{attribute} in {where} is a network already, and takes no arguments here")
        return lambda **_: duplicate(made)
    if not callable(made):
        kind = type(made).__name__
        raise ModelError(
            where, f"{attribute} in {where} is of type {kind}, neither a network nor something that makes one"
        )
    held = {} if module is None else vars(module)
    classes = {name: one for name, one in held.items() if inspect.isclass(one)}
    args, named = literals(arguments or "", where, {NAMESPACE: SimpleNamespace, **classes})
    _require_call(made, attribute, where, args, named, held.get(TEXT, ""))

    def build(**_: float) -> nn.Module:
        network = made(*copy.deepcopy(args), **copy.deepcopy(named))
        if not isinstance(network, nn.Module):
            raise ModelError(where, f"{attribute} in {where} returned {told_kind(network)}, not a torch.nn.Module")
        return network

    return build


def literals(
    text: str, where: str, classes: Mapping[str, Callable[..., Any]] | None = None
) -> tuple[list[Any], dict[str, Any]]:
    """Return ([3], {"width": 64}) of "3, width=64".

    Args:
        classes: of which an argument may be made, from literals.

    Raises:
        ModelError: it is none of Python's literals.
    """
    try:
        return _given(ast.parse(f"f({text})", mode="eval").body, classes or {}, where)
    except ModelError:  # of an object that could not be made
        raise
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        blank = f" in place of {BLANK}" if BLANK in text else ""
        raise ModelError(
            where,
            f"the arguments ({text[:80]}) are no literals; write numbers, texts, lists{blank}, as in (3, width=64)",
        ) from None


def _given(call: ast.expr, classes: Mapping[str, Callable[..., Any]], where: str) -> tuple[list[Any], dict[str, Any]]:
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise ValueError
    named = {word.arg: _value(word.value, classes, where) for word in call.keywords if word.arg is not None}
    if len(named) < len(call.keywords):
        raise ValueError
    return [_value(value, classes, where) for value in call.args], named


def _value(value: ast.expr, classes: Mapping[str, Callable[..., Any]], where: str) -> Any:
    """Return the value of a literal, or an object of one of the classes."""
    if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in classes):
        return ast.literal_eval(value)
    args, named = _given(value, classes, where)
    try:
        return classes[value.func.id](*args, **named)
    except Exception as error:  # code of somebody's file
        raise ModelError(where, f"{ast.unparse(value)[:80]} raised {named_error(error)}") from error


def _require_call(
    made: Callable[..., Any], attribute: str, where: str, args: list[Any], named: dict[str, Any], text: str = ""
) -> None:
    try:
        signature = inspect.signature(made)
    except (TypeError, ValueError):  # a callable in C says nothing of itself
        return
    try:
        signature.bind(*args, **named)
        return
    except TypeError as error:
        reason = str(error)
    takes = signature.parameters
    if not any(p.kind is p.VAR_KEYWORD for p in takes.values()) and (odd := [n for n in named if n not in takes]):
        reason = f"it takes no {odd[0]!r}{did_you_mean(odd[0], takes)}"
    try:
        bound = signature.bind_partial(*args, **named).arguments
    except TypeError:
        raise ModelError(where, f"{attribute} in {where} takes {signature}: {reason}") from None
    varied = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [p.name for p in signature.parameters.values() if p.default is p.empty and p.kind not in varied]
    missing = [name for name in needed if name not in bound]
    told = settings_in(text, attribute, missing) if text else {}
    blanks = (f"{name}={told.get(name, BLANK)}" for name in missing)
    example = ", ".join([*map(repr, args), *(f"{k}={v!r}" for k, v in named.items()), *blanks])
    more = f" and {len(missing) - MOST} more" if len(missing) > MOST else ""
    raise ModelError(
        where, f"{attribute} in {where} needs {', '.join(missing[:MOST])}{more}: write {where}:{attribute}({example})"
    )
