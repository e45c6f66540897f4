"""Make a network from a callable with arguments that were typed: literals, which execute nothing."""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Callable
from typing import Any

from torch import nn

from explorer.declare.registry import did_you_mean
from explorer.network.changing.copying import duplicate
from explorer.network.opening.refusals import ModelError

MOST = 6  # arguments that a sentence names


def maker(made: object, attribute: str, where: str, arguments: str | None) -> Callable[..., nn.Module]:
    """Return what makes the network each time anew.

    Args:
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
    args, named = literals(arguments or "", where)
    _require_call(made, attribute, where, args, named)

    def build(**_: float) -> nn.Module:
        network = made(*copy.deepcopy(args), **copy.deepcopy(named))
        if not isinstance(network, nn.Module):
            kind = type(network).__name__
            raise ModelError(where, f"{attribute} in {where} returned {kind}, not a torch.nn.Module")
        return network

    return build


def literals(text: str, where: str) -> tuple[list[Any], dict[str, Any]]:
    """Return ([3], {"width": 64}) of "3, width=64".

    Raises:
        ModelError: it is none of Python's literals.
    """
    try:
        call = ast.parse(f"f({text})", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ValueError
        named = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg is not None}
        if len(named) < len(call.keywords):
            raise ValueError
        return [ast.literal_eval(value) for value in call.args], named
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise ModelError(
            where, f"the arguments ({text[:80]}) are no literals; write numbers, texts, lists, as in (3, width=64)"
        ) from None


def _require_call(made: Callable[..., Any], attribute: str, where: str, args: list[Any], named: dict[str, Any]) -> None:
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
    example = ", ".join([*map(repr, args), *(f"{k}={v!r}" for k, v in named.items()), *(f"{n}=…" for n in missing)])
    more = f" and {len(missing) - MOST} more" if len(missing) > MOST else ""
    raise ModelError(
        where, f"{attribute} in {where} needs {', '.join(missing[:MOST])}{more}: write {where}:{attribute}({example})"
    )
